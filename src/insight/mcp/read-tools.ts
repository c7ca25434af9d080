import type { Body, Reply } from '@fernpost/sdk';
import * as v from 'valibot';
import { collisionKinds, mailDifferences, simulatedEnds } from '../../automations/simulation/schema.ts';
import { CampaignStatus, campaignStatuses } from '../../lib/enums.ts';
import { idOf, type Tool, tool } from './tool.ts';

const limit = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50), v.description('At most 50.')),
  10,
);
const text = (description: string) => v.optional(v.pipe(v.string(), v.maxLength(500), v.description(description)));
const read = 'read' as const;
const dayMs = 86_400_000;
// The compiler refuses a list that is not exactly that of the API.
const mailStatuses = listed<Reply<'listEmails'>['data'][number]['status']>({
  PENDING: true,
  SENDING: true,
  SENT: true,
  DELIVERED: true,
  RECEIVED: true,
  OPENED: true,
  CLICKED: true,
  BOUNCED: true,
  COMPLAINED: true,
  FAILED: true,
  SUPPRESSED: true,
  CANCELLED: true,
});

/** Tools that change nothing for contacts. */
export const readTools: readonly Tool[] = [
  tool({
    name: 'find_contact',
    title: 'Find contacts',
    description: 'Contacts whose address contains the text, with their data and whether they are subscribed.',
    mode: read,
    input: v.strictObject({ search: v.pipe(v.string(), v.minLength(1), v.maxLength(254)), limit }),
    async run({ call }, { search, limit }) {
      const { data, total } = await call('listContacts', { query: { search, limit } });
      return { contacts: data, total };
    },
  }),
  tool({
    name: 'contact_story',
    title: 'What happened to a contact',
    description: 'The contact, their latest events and their latest emails with status.',
    mode: read,
    input: v.strictObject({ contactId: idOf('contact'), limit }),
    async run({ call }, { contactId, limit }) {
      const [contact, events, emails] = await Promise.all([
        call('getContact', { path: { id: contactId } }),
        call('listContactEvents', { path: { contactId }, query: { limit } }),
        call('listEmails', { query: { contactId, limit } }),
      ]);
      return { contact, events, emails: emails.data };
    },
  }),
  tool({
    name: 'explain',
    title: 'Explain why',
    description:
      'Why a contact received a campaign, a workflow or an email, or did not: every decision with the values at that time. The first stop is the reason.',
    mode: read,
    input: v.strictObject({
      contact: v.pipe(v.string(), v.minLength(1), v.maxLength(320), v.description('Address or id of the contact.')),
      campaignId: v.optional(idOf('campaign')),
      workflowId: v.optional(idOf('workflow')),
      emailId: v.optional(idOf('email')),
    }),
    async run({ call }, { contact, campaignId, workflowId, emailId }) {
      const about =
        campaignId !== undefined
          ? { campaignId }
          : workflowId !== undefined
            ? { workflowId }
            : emailId !== undefined
              ? { emailId }
              : { topic: 'any' as const };
      return call('explain', { body: { contact, about } });
    },
  }),
  tool({
    name: 'search_emails',
    title: 'Search emails',
    description:
      'Emails by recipient, tag, subject, status or time, newest first. Without a recipient or a tag: those of the last day.',
    mode: read,
    input: v.strictObject({
      to: text('The whole address of the recipient.'),
      tag: text('A tag as name:value.'),
      subject: text('Words of the subject.'),
      status: v.optional(v.picklist(mailStatuses)),
      from: text('Instant, such as 2026-03-01T00:00:00Z.'),
      until: text('Instant.'),
      limit,
    }),
    async run({ call }, query) {
      const isNarrow = (query.to ?? query.tag ?? query.from) !== undefined;
      const from = isNarrow ? {} : { from: new Date(Date.now() - dayMs).toISOString() };
      const { data, hasMore } = await call('listEmails', { query: { ...from, ...given(query) } });
      return { emails: data, hasMore };
    },
  }),
  tool({
    name: 'list_campaigns',
    title: 'List campaigns',
    description: 'Campaigns with status and counts, newest first.',
    mode: read,
    input: v.strictObject({
      search: text('Part of the name.'),
      status: v.optional(v.picklist(campaignStatuses)),
      limit,
    }),
    async run({ call }, { limit, ...query }) {
      const { data, total } = await call('listCampaigns', { query: { pageSize: limit, ...given(query) } });
      return { campaigns: data.map(({ body: _, document: __, ...campaign }) => campaign), total };
    },
  }),
  tool({
    name: 'campaign_audit',
    title: 'Account for a campaign',
    description: 'What happened to every recipient of a campaign, and whether the numbers add up.',
    mode: read,
    input: v.strictObject({ campaignId: idOf('campaign') }),
    async run({ call }, { campaignId }) {
      const path = { id: campaignId };
      const [audit, stats] = await Promise.all([
        call('getCampaignAudit', { path }),
        call('getCampaignStats', { path }),
      ]);
      return { audit: audit.data, stats: stats.data };
    },
  }),
  tool({
    name: 'campaign_review',
    title: 'Read the review of a campaign',
    description:
      'What the latest dry run of a campaign found: how many would receive it, who is skipped and why, missing values and problems. "start_campaign_review" makes a new one.',
    mode: read,
    input: v.strictObject({ campaignId: idOf('campaign') }),
    async run({ call }, { campaignId }) {
      return reviewOf((await call('getCampaignDryRun', { path: { id: campaignId, n: 'latest' } })).data);
    },
  }),
  tool({
    name: 'start_campaign_review',
    title: 'Review a campaign',
    description:
      'Starts a dry run: checks every contact and renders every message, or a sample of them, and sends nothing. "campaign_review" has the report when its state is DONE.',
    mode: 'plan',
    input: v.strictObject({
      campaignId: idOf('campaign'),
      sample: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
    }),
    async run({ call }, { campaignId, sample }) {
      return reviewOf(
        (await call('startCampaignDryRun', { path: { id: campaignId }, body: { sample: sample ?? 'all' } })).data,
      );
    },
  }),
  tool({
    name: 'list_stuck',
    title: 'What needs attention',
    description: 'Emails that failed in the last day, and campaigns that are paused while they are sent.',
    mode: read,
    input: v.strictObject({ limit }),
    async run({ call }, { limit }) {
      const from = new Date(Date.now() - dayMs).toISOString();
      const [failed, sending] = await Promise.all([
        call('listEmails', { query: { status: 'FAILED', from, limit } }),
        call('listCampaigns', { query: { status: CampaignStatus.SENDING, pageSize: 50 } }),
      ]);
      const paused = sending.data.filter(({ pausedAt }) => pausedAt !== null);
      return {
        failedEmails: failed.data,
        pausedCampaigns: paused.map(({ id, name, pausedAt, sentCount, totalRecipients }) => ({
          id,
          name,
          pausedAt,
          sentCount,
          totalRecipients,
        })),
      };
    },
  }),
  tool({
    name: 'list_workflows',
    title: 'List workflows',
    description: 'Workflows with their trigger and whether they are enabled.',
    mode: read,
    input: v.strictObject({ search: text('Part of the name.'), limit }),
    async run({ call }, { limit, ...query }) {
      const { data, total } = await call('listWorkflows', { query: { pageSize: limit, ...given(query) } });
      return { workflows: data, total };
    },
  }),
  tool({
    name: 'workflow_people',
    title: 'Where contacts are in a workflow',
    description: 'How many contacts are at each step, and how often each path was taken.',
    mode: read,
    input: v.strictObject({ workflowId: idOf('workflow') }),
    async run({ call }, { workflowId }) {
      const path = { id: workflowId };
      const [workflow, people] = await Promise.all([
        call('getWorkflow', { path }),
        call('countWorkflowContacts', { path }),
      ]);
      const { name, enabled, steps, transitions } = workflow;
      return { name, enabled, steps: steps.map(({ id, type, name }) => ({ id, type, name })), transitions, people };
    },
  }),
  tool({
    name: 'workflow_goal',
    title: 'How many reached the goal of a workflow',
    description:
      'How many of those who entered reached the goal in time, with the rate, its 95 % interval and the median time; by version or branch on request.',
    mode: read,
    input: v.strictObject({ workflowId: idOf('workflow'), by: v.optional(v.picklist(['version', 'branch'])) }),
    async run({ call }, { workflowId, ...query }) {
      return { goal: await call('getWorkflowGoal', { path: { id: workflowId }, query: given(query) }) };
    },
  }),
  tool({
    name: 'simulate_workflow',
    title: 'Simulate a workflow',
    description:
      'Takes contacts of the past through a graph, with their data and events as of then: nothing is sent, called or changed. Give one of "from" with "until", "segmentId" and "contactIds". "workflow_simulation" has the result when its state is completed.',
    mode: 'plan',
    input: v.strictObject({
      workflowId: idOf('workflow'),
      graph: v.optional(
        v.pipe(
          v.looseObject({ steps: v.array(v.looseObject({})), transitions: v.array(v.looseObject({})) }),
          v.description('A graph that is not saved: { steps, transitions, exits, goal }. Otherwise the saved one.'),
        ),
      ),
      version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description('A version of the graph.'))),
      from: text('Contacts whose starting event happened since this instant, such as 2026-03-01T00:00:00Z.'),
      until: text('Instant, at most 366 days later.'),
      segmentId: v.optional(idOf('segment')),
      contactIds: v.optional(v.pipe(v.array(idOf('contact')), v.minLength(1), v.maxLength(1_000))),
      horizon: text('How long each contact is followed, such as 12h or 90d.'),
      most: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))),
      compareWith: v.optional(
        v.pipe(
          v.union([v.literal('actual'), v.pipe(v.number(), v.integer(), v.minValue(1))]),
          v.description('A version, or "actual": executions that have ended.'),
        ),
      ),
    }),
    async run({ call }, { workflowId, from, until, segmentId, contactIds, ...rest }) {
      const event = from === undefined && until === undefined ? undefined : given({ from, until });
      const body = { ...given(rest), over: given({ event, segmentId, contactIds }) } as Body<'simulateWorkflow'>;
      const { jobId } = await call('simulateWorkflow', { path: { id: workflowId }, body });
      return { simulationId: jobId };
    },
  }),
  tool({
    name: 'workflow_simulation',
    title: 'Read the simulation of a workflow',
    description:
      'State and result of a simulation: executions at each step and path, ends, failures, emails by day, and with a comparison the same counts there. With "mail", "end", "collision" or "stepId" also the first contacts that match.',
    mode: read,
    input: v.strictObject({
      workflowId: idOf('workflow'),
      simulationId: v.pipe(v.string(), v.regex(/^simulation-[\w-]{1,64}$/), v.description('ID of the simulation.')),
      mail: v.optional(v.pipe(v.picklist(mailDifferences), v.description('Contacts for whom an email differs so.'))),
      end: v.optional(v.picklist(simulatedEnds)),
      collision: v.optional(v.picklist(collisionKinds)),
      stepId: text('Contacts who reach this step.'),
      limit,
    }),
    async run({ call }, { workflowId, simulationId, limit: most, ...filters }) {
      const path = { id: workflowId, jobId: simulationId };
      const query = given(filters);
      const { result, ...simulation } = await call('getWorkflowSimulation', { path });
      const read = { ...simulation, result: result && withoutHours(result) };
      if (Object.keys(query).length === 0) return read;
      const { data } = await call('listSimulatedContacts', { path, query: { ...query, limit: most } });
      return { ...read, contacts: data };
    },
  }),
  tool({
    name: 'preview',
    title: 'Preview an email',
    description: 'An email as a contact would get it. Nothing is saved or sent.',
    mode: read,
    input: v.strictObject({
      subject: v.pipe(v.string(), v.minLength(1), v.maxLength(998)),
      body: v.pipe(v.string(), v.minLength(1), v.maxLength(200_000), v.description('HTML with {{ variables }}.')),
      contactId: v.optional(idOf('contact')),
      data: v.optional(v.record(v.string(), v.unknown())),
    }),
    async run({ call }, body) {
      return { preview: await call('previewTemplate', { body: given(body) as never }) };
    },
  }),
];

/** A review without the bodies of its samples, which are as large as the mail. */
function reviewOf({ samples, ...report }: Reply<'getCampaignDryRun'>['data']): object {
  return { ...report, samples: samples.map(({ html: _, text: __, ...sample }) => sample) };
}

/** A result without the hours of emails, 24 for each day. */
function withoutHours({ comparison, ...result }: NonNullable<Reply<'getWorkflowSimulation'>['result']>): object {
  const daily = <Counts extends Pick<typeof result, 'mails'>>({ mails, ...counts }: Counts) => ({
    ...counts,
    mails: { ...mails, byDay: mails.byDay.map(({ day, count }) => ({ day, count })) },
  });
  return { ...daily(result), comparison: comparison && { ...comparison, counts: daily(comparison.counts) } };
}

/** Without what is absent: the service tells `undefined` from nothing. */
function given<Values extends object>(values: Values): { [Key in keyof Values]: Exclude<Values[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Values]: Exclude<Values[Key], undefined>;
  };
}

function listed<Value extends string>(values: Record<Value, true>): Value[] {
  return Object.keys(values) as Value[];
}
