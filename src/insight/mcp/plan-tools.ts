import type { Body } from '@fernpost/sdk';
import * as v from 'valibot';
import { idOf, type McpContext, quoted, type Tool, tool } from './tool.ts';

const again = v.optional(
  v.pipe(v.boolean(), v.description('Set it to repeat what was already done within the last hour.')),
  false,
);
const plan = 'plan' as const;
const subjectText = v.pipe(v.string(), v.minLength(1), v.maxLength(998));
const html = v.pipe(v.string(), v.minLength(1), v.maxLength(200_000), v.description('HTML.'));
const mostSamples = 3;
const isPlan =
  'Changes nothing: returns a plan that "commit" carries out within ten minutes, or within a day when a member has to approve it at its approvalUrl. If what it says changes meanwhile, make a new plan.';

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
      subject: v.optional(subjectText),
      body: v.optional(html),
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
        content: JSON.stringify([
          to.map((address) => address.toLowerCase()).sort(),
          from,
          subject,
          body,
          templateId,
          data,
        ]),
        again,
      });
    },
  }),
  tool({
    name: 'plan_resend_email',
    title: 'Plan to resend a failed email',
    description: `Sends a failed email again, unchanged. ${isPlan} "list_stuck" has those that failed.`,
    mode: plan,
    input: v.strictObject({
      emailId: idOf('email'),
      evenIfItArrived: v.optional(
        v.pipe(v.boolean(), v.description('Also if it is unknown whether it arrived: it may arrive twice.')),
        false,
      ),
    }),
    async run(context, { emailId, evenIfItArrived }) {
      const path = { id: emailId };
      const { to, subject, error } = await context.call('getEmail', { path });
      const why = error === null ? '' : ` It failed: ${quoted(error)}.`;
      return context.plan({
        action: 'resend_email',
        operation: 'resendEmail',
        input: { path, body: { evenIfItArrived } },
        sentence: `Resend the email ${quoted(subject)} to ${quoted(to)}.${why}`,
        affects: 1,
        samples: [to],
        // The service resends an email once.
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_undo',
    title: 'Plan to undo an import or a bulk change',
    description: `Deletes contacts that the job created and restores what it changed, except what was changed since. ${isPlan}`,
    mode: plan,
    input: v.strictObject({
      kind: v.pipe(v.picklist(['import', 'bulk']), v.description('An import, or a bulk change of contacts.')),
      jobId: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/), v.description('ID of the job.')),
    }),
    async run(context, { kind, jobId }) {
      const operation = kind === 'import' ? 'undoImport' : 'undoBulkJob';
      const path = { jobId };
      const { deletes, restores, conflicts, keeps } = await untilCounted(() =>
        context.call(operation, { path, body: { dryRun: true } }),
      );
      const kept = [...conflicts, ...keeps].reduce((sum, { count }) => sum + count, 0);
      return context.plan({
        action: 'undo',
        operation,
        input: { path, body: {} },
        sentence: `Undo the ${kind === 'import' ? 'import' : 'bulk change'} ${jobId}: delete ${contacts(deletes)}, restore ${contacts(restores)}, and leave ${kept} later changes as they are.`,
        affects: deletes + restores,
        samples: [],
        content: null,
        again: false,
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
    name: 'plan_revise_campaign',
    title: 'Plan to revise a paused campaign',
    description: `Replaces the content of a paused campaign for recipients who have not received it yet. It stays paused. ${isPlan}`,
    mode: plan,
    input: v.strictObject({ campaignId: idOf('campaign'), subject: v.optional(subjectText), body: v.optional(html) }),
    async run(context, { campaignId, subject, body }) {
      const path = { id: campaignId };
      const { data: campaign } = await context.call('getCampaign', { path });
      const { data: stats } = await context.call('getCampaignStats', { path });
      const parts = [...(subject === undefined ? [] : ['subject']), ...(body === undefined ? [] : ['body'])];
      return context.plan({
        action: 'revise_campaign',
        operation: 'reviseCampaign',
        input: {
          path,
          body: { ...(subject === undefined ? {} : { subject }), ...(body === undefined ? {} : { body }) },
        },
        sentence: `Replace the ${parts.join(' and ') || 'content'} of the campaign ${quoted(campaign.name)} for ${contacts(stats.pendingCount)} who have not received it yet${subject === undefined ? '' : `, with the subject ${quoted(subject)}`}.`,
        affects: stats.pendingCount,
        samples: [],
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_correct_campaign',
    title: 'Plan a correction of a campaign',
    description: `Creates a draft for exactly the contacts who received, opened or clicked certain versions of a campaign; "plan_launch_campaign" sends it. ${isPlan}`,
    mode: plan,
    input: v.strictObject({
      campaignId: idOf('campaign'),
      versions: v.pipe(
        v.array(v.pipe(v.number(), v.integer(), v.minValue(1))),
        v.minLength(1),
        v.maxLength(100),
        v.description('Versions of its content; 1 is what it began with.'),
      ),
      who: v.picklist(['got', 'opened', 'clicked']),
      subject: subjectText,
      body: html,
    }),
    async run(context, { campaignId, versions, who, subject, body }) {
      const path = { id: campaignId };
      const { data: campaign } = await context.call('getCampaign', { path });
      const { data: audience } = await context.call('countCampaignCorrection', { path, body: { versions, who } });
      return context.plan({
        action: 'correct_campaign',
        operation: 'createCampaignCorrection',
        input: { path, body: { versions, who, subject, body } },
        sentence: `Create a correction of the campaign ${quoted(campaign.name)} with the subject ${quoted(subject)} as a draft for ${contacts(audience.recipients)}.`,
        // Nobody gets anything by a draft.
        affects: 0,
        samples: [],
        content: JSON.stringify(['correct', campaignId, versions, who, subject, body]),
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_enrol',
    title: 'Plan to enroll a contact',
    description: `Enrolls a contact in an enabled workflow. ${isPlan}`,
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
    name: 'plan_enroll_contacts',
    title: 'Plan to enroll contacts of the past',
    description: `Enrolls the members of a segment, contacts that match a condition, or contacts that an event happened to, in an enabled workflow; give one of the three. Each enters at most once. ${isPlan}`,
    mode: plan,
    input: v.strictObject({
      workflowId: idOf('workflow'),
      segmentId: v.optional(idOf('segment')),
      condition: v.optional(
        v.pipe(v.record(v.string(), v.unknown()), v.description('Condition, as segments have it.')),
      ),
      event: v.optional(
        v.strictObject({
          name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
          since: v.pipe(v.string(), v.isoTimestamp(), v.description('Events at this instant or later.')),
          where: v.optional(
            v.pipe(
              v.array(v.record(v.string(), v.unknown())),
              v.maxLength(5),
              v.description('Tests of the data of the event: `[{ path, operator, value }]`; all must pass.'),
            ),
          ),
        }),
      ),
      mostPerMinute: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))),
      again,
    }),
    async run(context, { workflowId, again, ...input }) {
      const path = { id: workflowId };
      const body = input as Body<'enrollContacts'>;
      const workflow = await context.call('getWorkflow', { path });
      const counted = await context.call('enrollContacts', { path, body: { ...body, dryRun: true } });
      if (!('enters' in counted)) throw new Error('Contacts were enrolled by a dry run');
      const others = Object.entries(counted.reasons).map(([reason, count]) => `${count} would not: ${reason}.`);
      const pace = input.mostPerMinute === undefined ? '' : `, at most ${input.mostPerMinute} within a minute`;
      return context.plan({
        action: 'enroll_contacts',
        operation: 'enrollContacts',
        input: { path, body },
        sentence: [
          `Enroll ${contacts(counted.enters)} in the workflow ${quoted(workflow.name)}${pace}.`,
          ...others,
        ].join(' '),
        affects: counted.enters,
        samples: [],
        content: JSON.stringify(['enroll', workflowId, input]),
        again,
      });
    },
  }),
  tool({
    name: 'plan_pause_workflow',
    title: 'Plan to pause a workflow',
    description: `Holds the contacts of a workflow at their steps, and queues those who would enter, until it is resumed. ${isPlan}`,
    mode: plan,
    input: v.strictObject({ workflowId: idOf('workflow') }),
    async run(context, { workflowId }) {
      const { path, workflow, people } = await workflowWithPeople(context, workflowId);
      return context.plan({
        action: 'pause_workflow',
        operation: 'pauseWorkflow',
        input: { path },
        sentence: `Pause the workflow ${quoted(workflow.name)} with ${contacts(people.active)} inside.`,
        // Nobody gets anything by a pause.
        affects: 0,
        samples: [],
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_resume_workflow',
    title: 'Plan to resume a workflow',
    description: `Lets the contacts of a paused workflow continue, and those who were queued enter. ${isPlan}`,
    mode: plan,
    input: v.strictObject({
      workflowId: idOf('workflow'),
      spreadMinutes: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(0),
          v.description('Evenly over this many minutes; at once when absent.'),
        ),
      ),
    }),
    async run(context, { workflowId, spreadMinutes }) {
      const { path, workflow, people } = await workflowWithPeople(context, workflowId);
      const affects = people.active + people.arriving;
      const pace = spreadMinutes ? ` over ${spreadMinutes} minutes` : '';
      return context.plan({
        action: 'resume_workflow',
        operation: 'resumeWorkflow',
        input: { path, body: spreadMinutes === undefined ? {} : { spreadMinutes } },
        sentence: `Resume the workflow ${quoted(workflow.name)} for ${contacts(people.active)} inside and ${people.arriving} who are about to enter${pace}.`,
        affects,
        samples: [],
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'plan_retry_runs',
    title: 'Plan to retry failed runs',
    description: `Retries failed runs of a workflow at the step that failed, in the current version. ${isPlan} A plan covers the latest 100; fix the cause first.`,
    mode: plan,
    input: v.strictObject({ workflowId: idOf('workflow') }),
    async run(context, { workflowId }) {
      const path = { id: workflowId };
      const [workflow, failed] = await Promise.all([
        context.call('getWorkflow', { path }),
        context.call('listWorkflowExecutions', { path, query: { status: 'FAILED', pageSize: 100 } }),
      ]);
      const runs = failed.data;
      const reasons = [...new Set(runs.map(({ exitReason }) => exitReason ?? 'no reason was recorded'))];
      const why = reasons.slice(0, mostSamples).map(quoted).join(', ');
      return context.plan({
        action: 'retry_runs',
        operation: 'retryWorkflowExecutions',
        input: { path, body: { executionIds: runs.map(({ id }) => id) } },
        sentence: `Retry the workflow ${quoted(workflow.name)} for ${contacts(runs.length)} at the step that failed. ${runs.length === 0 ? 'None has failed.' : `Failed because of: ${why}.`}`,
        affects: runs.length,
        samples: runs.slice(0, mostSamples).map(({ contact }) => contact.email),
        // A run that goes on has not failed any more.
        content: null,
        again: false,
      });
    },
  }),
  tool({
    name: 'commit',
    title: 'Carry out a plan',
    description:
      'Carries out a plan, once. Calling it again with the same plan returns the first result with alreadyDone: true, so repeat it when an answer was lost.',
    mode: 'act',
    input: v.strictObject({ planId: idOf('plan') }),
    run: (context, { planId }) => context.commit(planId),
  }),
];

function contacts(number: number): string {
  return number === 1 ? '1 contact' : `${number} contacts`;
}

/** A workflow by its ID, with the counts of contacts inside. */
async function workflowWithPeople(context: McpContext, workflowId: string) {
  const path = { id: workflowId };
  const [workflow, people] = await Promise.all([
    context.call('getWorkflow', { path }),
    context.call('countWorkflowContacts', { path, query: {} }),
  ]);
  return { path, workflow, people };
}

/** Requests for one answer. Each takes ten seconds at most, and clients wait for a minute. */
const mostRequests = 5;

/** Counting what the undo of millions of contacts would do takes several requests, each of which goes on from the one before. */
async function untilCounted<T>(ask: () => Promise<T>): Promise<T> {
  for (let request = 1; ; request++)
    try {
      return await ask();
    } catch (error) {
      const isUnfinished = error instanceof Error && 'code' in error && error.code === 'PREVIEW_UNFINISHED';
      if (!isUnfinished || request === mostRequests) throw error;
    }
}
