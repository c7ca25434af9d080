import type { Body } from '@posthorn/sdk';
import * as v from 'valibot';
import { idOf, quoted, type Tool, tool } from './tool.ts';

const again = v.optional(
  v.pipe(v.boolean(), v.description('Set it when the same was done within the last hour and is to be done once more.')),
  false,
);
const plan = 'plan' as const;
const mostSamples = 3;
const isPlan = 'Changes nothing: answers a plan that "commit" carries out within ten minutes.';

/** Tools that make a plan, and the one that carries it out. */
export const planTools: readonly Tool[] = [
  tool({
    name: 'plan_send_email',
    title: 'Plan an email',
    description: `Sends an email to each recipient. ${isPlan} If the same content went to the same recipients within an hour, it answers that and makes no plan without "again".`,
    mode: plan,
    input: v.strictObject({
      to: v.pipe(v.array(v.pipe(v.string(), v.email())), v.minLength(1), v.maxLength(1_000)),
      from: v.optional(v.pipe(v.string(), v.email(), v.description('Of a verified domain; not with a template.'))),
      subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(998))),
      body: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200_000), v.description('HTML.'))),
      templateId: v.optional(idOf('template')),
      data: v.optional(v.record(v.string(), v.unknown())),
      again,
    }),
    async run(context, { to, from, subject, body, templateId, data, again }) {
      const template =
        templateId === undefined ? null : await context.call('getTemplate', { path: { id: templateId } });
      const send = {
        to,
        ...(from === undefined ? {} : { from }),
        ...(subject === undefined ? {} : { subject }),
        ...(body === undefined ? {} : { body }),
        ...(templateId === undefined ? {} : { template: templateId }),
        ...(data === undefined ? {} : { data }),
      } as Body<'sendEmail'>;
      const title = quoted(subject ?? template?.subject ?? '');
      const sender = quoted(from ?? template?.from ?? 'the sender of the project');
      const number = to.length === 1 ? `1 email to ${quoted(to[0] ?? '')}` : `${to.length} emails`;
      return context.plan({
        action: 'send_email',
        operation: 'sendEmail',
        input: { body: send },
        sentence: `Send ${number} from ${sender} with the subject ${title}.`,
        affects: to.length,
        samples: to.slice(0, mostSamples),
        content: JSON.stringify([to.map((address) => address.toLowerCase()).sort(), subject, body, templateId]),
        again,
      });
    },
  }),
  tool({
    name: 'plan_launch_campaign',
    title: 'Plan the launch of a campaign',
    description: `Sends a draft campaign to its audience, now or at a time. ${isPlan}`,
    mode: plan,
    input: v.strictObject({
      campaignId: idOf('campaign'),
      scheduledFor: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description('Instant; now when absent.'))),
    }),
    async run(context, { campaignId, scheduledFor }) {
      const path = { id: campaignId };
      const { data: campaign } = await context.call('getCampaign', { path });
      const affects = await context.audienceOf(campaignId);
      const when = scheduledFor === undefined ? 'now' : `at ${scheduledFor}`;
      return context.plan({
        action: 'launch_campaign',
        operation: 'sendCampaign',
        input: { path, body: scheduledFor === undefined ? {} : { scheduledFor } },
        sentence: `Send the campaign ${quoted(campaign.name)} with the subject ${quoted(campaign.subject)} to ${contacts(affects)} ${when}.`,
        affects,
        samples: [],
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_pause_campaign',
    title: 'Plan to pause a campaign',
    description: `Stops a campaign that is being sent, until it is resumed. ${isPlan}`,
    mode: plan,
    input: v.strictObject({ campaignId: idOf('campaign') }),
    async run(context, { campaignId }) {
      const path = { id: campaignId };
      const { data: campaign } = await context.call('getCampaign', { path });
      const { data: stats } = await context.call('getCampaignStats', { path });
      return context.plan({
        action: 'pause_campaign',
        operation: 'pauseCampaign',
        input: { path },
        sentence: `Pause the campaign ${quoted(campaign.name)} before it is sent to ${contacts(stats.pendingCount)}.`,
        // Nobody gets anything by a pause.
        affects: 0,
        samples: [],
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_enrol',
    title: 'Plan to enroll a contact',
    description: `Lets a contact into an enabled workflow. ${isPlan}`,
    mode: plan,
    input: v.strictObject({ workflowId: idOf('workflow'), contactId: idOf('contact'), again }),
    async run(context, { workflowId, contactId, again }) {
      const [workflow, contact] = await Promise.all([
        context.call('getWorkflow', { path: { id: workflowId } }),
        context.call('getContact', { path: { id: contactId } }),
      ]);
      return context.plan({
        action: 'enrol',
        operation: 'startWorkflowExecution',
        input: { path: { id: workflowId }, body: { contactId } },
        sentence: `Enroll ${quoted(contact.email)} in the workflow ${quoted(workflow.name)}.`,
        affects: 1,
        samples: [contact.email],
        content: JSON.stringify(['enrol', workflowId, contactId]),
        again,
      });
    },
  }),
  tool({
    name: 'commit',
    title: 'Carry out a plan',
    description:
      'Does what a plan says, once. Calling it again with the same plan answers the first result with alreadyDone: true, so repeat it when an answer was lost.',
    mode: 'act',
    input: v.strictObject({ planId: idOf('plan') }),
    run: (context, { planId }) => context.commit(planId),
  }),
];

function contacts(number: number): string {
  return number === 1 ? '1 contact' : `${number} contacts`;
}
