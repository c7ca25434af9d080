import { newId } from '../../src/lib/ids.ts';
import { anAutomation } from '../../test/support/automation-fixtures.ts';
import { people, tell, until } from './automation-bench.ts';
import { campaignHtml, campaignSubject } from './campaign-content.ts';
import type { Child } from './child.ts';
import { type DeliveryWorld, post } from './delivery-world.ts';
import { arrived } from './work.ts';

type World = DeliveryWorld & { api: Child };

/** What the API is asked for, by a POST where it has a body: each path in turn, for one mail has two events and another six. */
export interface Question {
  name: string;
  paths: string[];
  body?: object;
}

const asked = 100;

/** The reads that are measured beside a long history. */
export async function questions({ project, store }: DeliveryWorld): Promise<Question[]> {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const contacts = await store.db.rows<{ id: string }>(
    'select id from contacts where project_id = $1 order by id offset 100 limit $2',
    [project.projectId, asked],
  );
  const newest = await store.db.rows<{ id: string }>(
    'select id from emails where project_id = $1 order by created_at desc offset 500 limit $2',
    [project.projectId, asked],
  );
  const opened = { field: 'email.opened', operator: 'triggeredWithin', value: 1, unit: 'days' };
  const condition = { logic: 'AND', groups: [{ filters: [opened, { field: 'data.plan', operator: 'notExists' }] }] };
  return [
    { name: 'first page of the feed', paths: ['/activity?limit=100'] },
    { name: 'feed, 60 days back', paths: [`/activity?limit=100&startDate=${daysAgo(89)}&endDate=${daysAgo(60)}`] },
    { name: 'feed of one contact', paths: contacts.map(({ id }) => `/activity?contactId=${id}`) },
    { name: 'a page of contacts', paths: ['/contacts?limit=100'] },
    { name: 'one contact', paths: contacts.map(({ id }) => `/contacts/${id}`) },
    { name: 'one mail', paths: newest.map(({ id }) => `/emails/${id}`) },
    { name: 'count of a segment', paths: ['/segments/preview'], body: { condition } },
    { name: 'analytics, 30 days', paths: ['/analytics/timeseries'] },
    { name: 'totals, 30 days', paths: ['/activity/stats'] },
    { name: 'top events', paths: ['/analytics/top-events'] },
  ];
}

/** Sends a campaign to the contacts of Emden, of whom there are so many, and waits until it has arrived. Answers how many. */
export async function sendCampaign(side: World, recipients: number): Promise<number> {
  const { project, sink } = side;
  await sink.ask('reset');
  const filters = [{ field: 'data.city', operator: 'equals', value: 'Emden' }];
  const { id } = await post(side, '/campaigns', {
    name: `Growth ${newId()}`,
    subject: campaignSubject,
    body: campaignHtml,
    from: project.sender,
    audienceType: 'FILTERED',
    audienceCondition: { logic: 'AND', groups: [{ filters }] },
  });
  await post(side, `/campaigns/${id}/send`, {});
  await arrived(sink, recipients);
  return recipients;
}

/** Takes so many contacts through an automation of three steps by an event. Answers how many. */
export async function runAutomations({ store, project: { projectId } }: World, runs: number): Promise<number> {
  const event = `growth.${newId()}`;
  const automation = await anAutomation(store.db, projectId, {
    event,
    steps: {
      check: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
      set: ['UPDATE_CONTACT', { updates: { stage: 'activated' } }],
      out: ['EXIT'],
    },
    ways: [
      ['trigger', 'check'],
      ['check.yes', 'set'],
      ['set', 'out'],
    ],
  });
  const inside = await people({ store, projectId }, runs);
  await tell({ store, projectId }, inside, event);
  await until(
    store,
    `select count(*)::int as count from automation_runs where automation_id = $1 and status = 'EXITED'`,
    [automation.id],
    runs,
    200,
  );
  return runs;
}
