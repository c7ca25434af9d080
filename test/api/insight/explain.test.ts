import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { openSend } from '../../../src/campaigns/state.ts';
import { writeContact } from '../../../src/contacts/write.ts';
import type { Explanation } from '../../../src/insight/explain/schema.ts';
import { newId } from '../../../src/lib/ids.ts';
import { raw, sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  enrolPending,
  switchAutomation,
} from '../../support/automation-fixtures.ts';
import { aCampaign, type CampaignChanges } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';

const ada = 'ada@example.com';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let contact: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  contact = await aContact(database.db, project.id, ada, { data: { plan: 'free', visits: 3 } });
});

const ask = (about: object, who: string = ada) =>
  api.call(project.secretKey, 'POST', '/explain', { contact: who, about });

async function explained(about: object): Promise<Explanation> {
  const { status, body } = await ask(about);
  expect([status, body.error]).toEqual([200, undefined]);
  const { decisions, verdict, sentence } = body as Explanation;
  const stop = decisions.find(({ outcome }) => outcome === 'stop');
  if (verdict === 'did_not' && stop) expect(sentence).toBe(stop.sentence);
  return body;
}

/** What is said of it, with instants written as `<date>`. */
async function told(about: object): Promise<[verdict: string, sentence: string]> {
  const { verdict, sentence } = await explained(about);
  return [verdict, sentence.replaceAll(/[A-Z][a-z]{2} \d+, \d{4}, \d+:\d\d [AP]M UTC/g, '<date>')];
}

/** A mail in the ledger as one of its ends leaves it. */
async function aMail(changes: Record<string, unknown>): Promise<string> {
  const id = newId();
  await database.db.count(sql`
    insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject)
    values (${id}, ${project.id}, ${contact}, ${ada}, ${project.sender}, 'TRANSACTIONAL', 'TRANSACTIONAL', 'Hello')`);
  for (const [column, value] of Object.entries(changes))
    await database.db.count(sql`update emails set ${raw(column)} = ${value} where id = ${id}`);
  return id;
}

const instant = '2026-11-20T10:00:00Z';
/** A cause in plain English: what to ask about, and the answer. */
type Cause = [name: string, arrange: () => Promise<object>, verdict: string, sentence: string];

const mailCauses: [name: string, changes: Record<string, unknown>, verdict: string, sentence: string][] = [
  [
    'delivered',
    { status: 'DELIVERED', sent_at: instant, delivered_at: instant, provider: 'postmark' },
    'received',
    'The email to ada@example.com was delivered on <date>.',
  ],
  [
    'opened without a report of delivery',
    { status: 'OPENED', sent_at: instant, opened_at: instant },
    'received',
    'The email to ada@example.com reached its recipient on <date>.',
  ],
  [
    'handed over',
    { status: 'SENT', sent_at: instant, provider: 'postmark' },
    'sent',
    'The email was handed to postmark on <date>.',
  ],
  [
    'bounced',
    {
      status: 'BOUNCED',
      sent_at: instant,
      bounced_at: instant,
      reason: { code: 'provider', words: 'mailbox is full' },
    },
    'did_not',
    'The email bounced on <date>: mailbox is full',
  ],
  [
    'suppressed',
    {
      status: 'SUPPRESSED',
      suppression: { ruleId: newId(), name: 'Our own staff', kind: 'DOMAIN', pattern: 'example.com' },
    },
    'did_not',
    'The suppression rule "Our own staff" matches ada@example.com, so the email was not sent.',
  ],
  [
    'limit',
    { status: 'FAILED', reason: { code: 'limit_reached' } },
    'did_not',
    'The email was not sent: Billing limit reached.',
  ],
  [
    'sender domain',
    { status: 'FAILED', reason: { code: 'domain_unverified' } },
    'did_not',
    'The email was not sent: Sender domain is not verified.',
  ],
  [
    'project disabled',
    { status: 'FAILED', reason: { code: 'project_disabled' } },
    'did_not',
    'The email was not sent: Project is disabled.',
  ],
  [
    'not rendered',
    { status: 'FAILED', reason: { code: 'not_rendered', words: 'line 3: unknown tag' } },
    'did_not',
    'The email was not sent: The message could not be rendered: line 3: unknown tag.',
  ],
  [
    'refused by the provider',
    { status: 'FAILED', reason: { code: 'refused', number: 406, words: 'inactive recipient' } },
    'did_not',
    'The email was not sent: Refused by the provider (406): inactive recipient.',
  ],
  [
    'given up',
    { status: 'FAILED', reason: { code: 'too_old', words: 'timeout' } },
    'did_not',
    'The email was not sent: Given up after 24 hours: timeout.',
  ],
  [
    'unknown outcome',
    { status: 'FAILED', reason: { code: 'submission_unknown' } },
    'cannot_tell',
    'The provider never said whether it took this email, so it may or may not have arrived.',
  ],
  ['evidence removed', { status: 'FAILED' }, 'cannot_tell', 'The email was not sent: its reason was not kept.'],
  [
    'cancelled',
    { status: 'CANCELLED', reason: { code: 'cancelled' } },
    'did_not',
    'The email was not sent: Cancelled before it was sent.',
  ],
  ['pending', {}, 'will', 'The email is pending: it is queued.'],
  [
    'under way',
    { status: 'SENDING' },
    'cannot_tell',
    'The email is being handed to the provider, or was when a process ended; this is looked up there.',
  ],
];

test.each(mailCauses)('email: %s', async (_name, changes, verdict, sentence) => {
  expect(await told({ emailId: await aMail(changes) })).toEqual([verdict, sentence]);
});

test('a mail to somebody who had left names when, and through which mail', async () => {
  const first = await aMail({ status: 'SENT', sent_at: instant });
  await database.db.count(sql`
    insert into events (id, project_id, contact_id, email_id, name) values
      (${newId()}, ${project.id}, ${contact}, ${first}, 'contact.unsubscribed')`);
  const id = await aMail({ status: 'FAILED', reason: { code: 'not_subscribed' } });
  expect(await told({ emailId: id })).toEqual([
    'did_not',
    'The contact unsubscribed on <date> through the link in an email.',
  ]);
  const { decisions, fixes } = await explained({ emailId: id });
  expect(decisions.find(({ outcome }) => outcome === 'stop')?.source).toMatchObject({ type: 'email', id: first });
  expect(JSON.stringify(fixes)).not.toContain('ubscribe');
});

const pro = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
const bought = { field: 'event.bought', operator: 'triggeredWithin', value: 30, unit: 'days' };

/** A campaign that has begun, whose audience is frozen without the contact. */
async function begun(changes: CampaignChanges): Promise<string> {
  const id = await aCampaign(database.db, project, changes);
  await openSend(database.db, id, 10, null);
  await database.db.count(sql`update campaign_sends set expanded = true where campaign_id = ${id}`);
  return id;
}

const wanted = (condition: object) => ({ audienceType: 'FILTERED' as const, audienceCondition: condition });

test('a campaign whose condition the contact does not match names the filter and the value', async () => {
  const campaignId = await begun(wanted(pro));
  expect(await told({ campaignId })).toEqual(['did_not', '"data.plan" is "pro": no, it is "free".']);
  const { decisions } = await explained({ campaignId });
  expect(decisions.map(({ check, outcome }) => [check, outcome])).toEqual([
    ['campaign.began', 'pass'],
    ['contact.existed', 'pass'],
    ['contact.subscribed', 'pass'],
    ['audience.condition', 'stop'],
  ]);
  expect(decisions.at(-1)).toMatchObject({
    basis: 'evaluated',
    expected: { field: 'data.plan', operator: 'equals', value: 'pro' },
    actual: 'free',
  });
});

test('a campaign is explained with the data of then, by the history of the contact', async () => {
  const campaignId = await begun(wanted(pro));
  await api.call(project.secretKey, 'PATCH', `/contacts/${contact}`, { data: { plan: 'pro' } });
  const { sentence, decisions } = await explained({ campaignId });
  expect(sentence).toBe('"data.plan" is "pro": no, it is "free".');
  const campaign = await database.db.row<{ at: string }>(sql`
    select to_char(sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from campaigns where id = ${campaignId}`);
  expect(decisions.at(-1)).toMatchObject({ actual: 'free', basis: 'evaluated', dataAsOf: campaign?.at });
});

test('filters on events and mail say what they asked for and what there was', async () => {
  const [mine, campaignId] = [await aMail({ status: 'SENT', sent_at: instant }), newId()];
  await database.db.count(sql`
    insert into events (id, project_id, contact_id, name, data) values
      (${newId()}, ${project.id}, ${contact}, 'ordered', '{"total": 80}'),
      (${newId()}, ${project.id}, ${contact}, 'ordered', '{"total": 20}')`);
  const ordered = { field: 'event.ordered', operator: 'triggered' };
  const groups = [
    { ...ordered, where: [{ path: 'total', operator: 'greaterThan', value: 50 }], times: { atLeast: 2 } },
    { ...ordered, times: { atLeast: 2, atMost: 2 } },
    { field: 'email.sent', operator: 'triggered', of: { campaignId } },
  ].map((filter) => ({ filters: [filter] }));
  const { decisions } = await explained({ campaignId: await begun(wanted({ logic: 'OR', groups })) });
  const leaves = decisions.filter(({ check }) => check === 'audience.condition');
  expect(leaves.map(({ sentence }) => sentence.replace(/ on [A-Z].* UTC/g, ' on <date>'))).toEqual([
    '"event.ordered" where "total" is greater than 50 has happened, at least 2 times: no, it has happened once, and last on <date>.',
    '"event.ordered" has happened, at least 2 and at most 2 times: yes, it has happened 2 times, and last on <date>.',
    `"email.sent" of campaign ${campaignId} has happened: no, there is none.`,
  ]);
  expect(leaves[0]).toMatchObject({
    expected: { ...ordered, where: [{ path: 'total', operator: 'greaterThan', value: 50 }], times: { atLeast: 2 } },
    actual: { times: 1, last: expect.stringMatching(/Z$/) },
  });
  await database.db.count(sql`delete from events where contact_id = ${contact} and name = 'ordered'`);
  await database.db.count(sql`delete from emails where id = ${mine}`);
});

test('of a condition with OR only what failed it is a stop', async () => {
  const groups = [
    { filters: [{ field: 'data.visits', operator: 'greaterThan', value: 2 }, bought] },
    { filters: [{ field: 'data.plan', operator: 'equals', value: 'free' }] },
  ];
  const { decisions } = await explained({ campaignId: await begun(wanted({ logic: 'OR', groups })) });
  const leaves = decisions.filter(({ check }) => check === 'audience.condition');
  expect(leaves.map(({ outcome, sentence }) => [outcome, sentence])).toEqual([
    ['pass', '"data.visits" is greater than 2: yes, it is 3.'],
    ['info', '"event.bought" has happened within the last 30 days: no, there is none.'],
    ['pass', '"data.plan" is "free": yes, it is "free".'],
  ]);
});

const later = () => new Date(Date.now() + 3_600_000);
const setCampaign = (id: string, changes: string) =>
  database.db.count(`update campaigns set ${changes} where id = $1`, [id]);

async function scheduled(changes: CampaignChanges = {}): Promise<object> {
  const campaignId = await aCampaign(database.db, project, changes);
  await openSend(database.db, campaignId, 1, later());
  return { campaignId };
}

/** A campaign whose audience is being frozen. */
async function freezing(): Promise<string> {
  const id = await begun({});
  await database.db.count(sql`update campaign_sends set expanded = false where campaign_id = ${id}`);
  return id;
}

async function aSegment(): Promise<string> {
  const id = newId();
  await database.db.count(
    sql`insert into segments (id, project_id, name, type) values (${id}, ${project.id}, 'VIP', 'STATIC')`,
  );
  return id;
}

const campaignCauses: Cause[] = [
  [
    'a draft',
    async () => ({ campaignId: await aCampaign(database.db, project) }),
    'will_not',
    'The campaign "Spring count" is a draft and has not been sent.',
  ],
  [
    'scheduled',
    () => scheduled(),
    'will',
    'The contact matches its audience now; the audience is found again when it begins.',
  ],
  ['scheduled for others', () => scheduled(wanted(pro)), 'will_not', '"data.plan" is "pro": no, it is "free".'],
  [
    'an event that is missing',
    async () => ({ campaignId: await begun(wanted({ logic: 'AND', groups: [{ filters: [bought] }] })) }),
    'did_not',
    '"event.bought" has happened within the last 30 days: no, there is none.',
  ],
  [
    'not in the segment',
    async () => ({ campaignId: await begun({ audienceType: 'SEGMENT', segmentId: await aSegment() }) }),
    'did_not',
    'The contact was not in the segment "VIP".',
  ],
  [
    'a segment that is gone',
    async () => ({ campaignId: await begun({ audienceType: 'SEGMENT', segmentId: newId() }) }),
    'did_not',
    'The segment of this campaign was deleted.',
  ],
  [
    'before the contact came',
    async () => {
      const campaignId = await begun({});
      await setCampaign(campaignId, `sent_at = '2026-01-01'`);
      return { campaignId };
    },
    'did_not',
    'The contact was only created on <date>.',
  ],
  [
    'a contact that matches only today',
    async () => {
      const campaignId = await begun({});
      await setCampaign(campaignId, `sent_at = '2026-06-01'`);
      await database.db.count(sql`update contacts set created_at = '2026-01-01' where id = ${contact}`);
      return { campaignId };
    },
    'did_not',
    'The contact was not in the audience when it was frozen, although it would match today. The contact has changed since, on <date>.',
  ],
  [
    'an audience that is being frozen',
    async () => ({ campaignId: await freezing() }),
    'will',
    'Its audience is still being frozen, and the contact matches it.',
  ],
  [
    'stopped before its turn',
    async () => {
      const campaignId = await freezing();
      await setCampaign(campaignId, `status = 'CANCELLED', cancelled_at = now()`);
      return { campaignId };
    },
    'did_not',
    'The campaign was stopped on <date> before it reached the contact.',
  ],
  [
    'paused',
    async () => {
      const campaignId = await begun({});
      await aMail({ campaign_id: campaignId, send_seq: 1 });
      await setCampaign(campaignId, 'paused_at = now()');
      return { campaignId };
    },
    'will',
    'The campaign is paused, and this email is pending.',
  ],
  [
    'not subscribed',
    async () => {
      const campaignId = await begun({});
      await database.db.count(sql`update contacts set subscribed = false where id = ${contact}`);
      return { campaignId };
    },
    'did_not',
    'The contact was not subscribed.',
  ],
  [
    'stopped after the ledger was written',
    async () => {
      const campaignId = await begun({});
      const reason = { code: 'campaign_cancelled' };
      await aMail({ campaign_id: campaignId, send_seq: 1, status: 'FAILED', reason });
      return { campaignId };
    },
    'did_not',
    'The email was not sent: Campaign cancelled.',
  ],
  [
    'a resend to those whom an earlier one missed',
    async () => {
      const earlier = await begun({});
      await aMail({ campaign_id: earlier, send_seq: 1, status: 'SENT', sent_at: instant });
      const campaignId = await begun({});
      await setCampaign(campaignId, `resend_of = '${earlier}', resend_seq = 1`);
      return { campaignId };
    },
    'did_not',
    'This campaign goes to contacts that an earlier one missed, and this contact was not among them.',
  ],
];

test.each(campaignCauses)('campaign: %s', async (_name, arrange, verdict, sentence) => {
  expect(await told(await arrange())).toEqual([verdict, sentence]);
});

test('a paused campaign can be resumed from its explanation', async () => {
  const campaignId = await begun({});
  await aMail({ campaign_id: campaignId, send_seq: 1 });
  await setCampaign(campaignId, 'paused_at = now()');
  expect((await explained({ campaignId })).fixes).toEqual([
    { sentence: 'Resume the campaign', method: 'POST', path: `/campaigns/${campaignId}/resume`, body: {} },
  ]);
});

const mailStep = async () =>
  ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }] as AutomationSpec['steps'][string];

async function advanced(): Promise<void> {
  const runs = await database.db.rows<{ id: string; seq: number }>(
    sql`select id, seq from automation_runs where contact_id = ${contact} and status = 'RUNNING'`,
  );
  for (const { id, seq } of runs) await advance(advanceDeps(database.db), id, seq);
}

/** A workflow that an event of the contact may start: an email, then a wait of two days. */
async function aWorkflow(spec: Partial<AutomationSpec> = {}): Promise<{ workflowId: string }> {
  const steps = { mail: await mailStep(), wait: ['DELAY', { amount: 2, unit: 'days' }] } as AutomationSpec['steps'];
  const { id } = await anAutomation(database.db, project.id, { event: 'user.signup', steps, ...spec });
  return { workflowId: id };
}

const happens = (name: string) => anEvent(database.db, project.id, contact, name);
const onlyWait = { wait: ['DELAY', { amount: 2, unit: 'days' }] } as unknown as AutomationSpec['steps'];
const branches = async () =>
  ({
    steps: {
      check: ['CONDITION', { field: 'contact.data.plan', operator: 'equals', value: 'pro' }],
      mail: await mailStep(),
      out: ['EXIT', {}],
    },
    ways: [
      ['trigger', 'check'],
      ['check.yes', 'mail'],
      ['check.no', 'out'],
    ],
  }) as unknown as AutomationSpec;

/** A workflow with the contact in it, as far as its steps go at once. */
async function inside(spec?: Partial<AutomationSpec>): Promise<{ workflowId: string }> {
  const about = await aWorkflow(spec);
  await happens('user.signup');
  await enrolPending(database.db);
  await advanced();
  return about;
}

const endRuns = (changes: string) =>
  database.db.count(`update automation_runs set completed_at = now(), ${changes} where contact_id = $1`, [contact]);

const workflowCauses: Cause[] = [
  [
    'an event of a name that is only near',
    async () => {
      const about = await aWorkflow();
      await happens('user.sign_up');
      return about;
    },
    'did_not',
    'The contact has no event "user.signup". Its events: "user.sign_up".',
  ],
  ['no event at all', () => aWorkflow(), 'did_not', 'The contact has no event "user.signup".'],
  [
    'pending enrollment',
    async () => {
      const about = await aWorkflow();
      await happens('user.signup');
      return about;
    },
    'will',
    'The contact is pending enrollment.',
  ],
  [
    'pending enrollment by a date',
    async () => {
      const about = await ofDates('data.trialEnds');
      await arrives(about);
      return about;
    },
    'will',
    'The contact is pending enrollment.',
  ],
  [
    'pending enrollment by a date while the workflow is paused',
    async () => {
      const about = await ofDates('data.trialEnds');
      await arrives(about);
      await database.db.count('update automations set paused_at = now() where id = $1', [about.workflowId]);
      return about;
    },
    'will',
    'The workflow is paused: the contact enters when it resumes.',
  ],
  [
    'pending enrollment by a job, without the event of the trigger',
    async () => {
      const about = await aWorkflow();
      await arrives(about);
      return about;
    },
    'will',
    'The contact is pending enrollment.',
  ],
  [
    'just entered',
    async () => {
      const about = await aWorkflow();
      await happens('user.signup');
      await enrolPending(database.db);
      return about;
    },
    'will',
    'The contact is between two steps.',
  ],
  ['a wait', () => inside({ steps: onlyWait }), 'will', 'The contact is at "wait", until <date> at the latest.'],
  ['an email that is due', () => inside(), 'will', 'The email is pending: it is due on <date>.'],
  [
    'an email that was delivered',
    async () => {
      const about = await inside();
      await database.db.count(sql`delete from email_queue where project_id = ${project.id}`);
      await database.db.count(sql`update emails set status = 'DELIVERED', sent_at = now(), delivered_at = now()
        where project_id = ${project.id} and source_type <> 'INBOUND'`);
      return about;
    },
    'received',
    'The email to ada@example.com was delivered on <date>.',
  ],
  [
    'in it before',
    async () => {
      const about = await inside();
      await happens('user.signup');
      await enrolPending(database.db);
      return about;
    },
    'did_not',
    'The contact had been in this workflow before, and it does not allow re-entry.',
  ],
  [
    'disabled then',
    async () => {
      const about = await aWorkflow();
      await switchAutomation(database.db, about.workflowId, false);
      await happens('user.signup');
      await switchAutomation(database.db, about.workflowId, true);
      return about;
    },
    'did_not',
    'The workflow was disabled when the event came.',
  ],
  [
    'in it already',
    async () => {
      const about = await inside({ steps: onlyWait, allowReentry: true });
      await happens('user.signup');
      await enrolPending(database.db);
      return about;
    },
    'did_not',
    'The contact was in this workflow already when the event came.',
  ],
  [
    'stopped by the guard against loops',
    async () => {
      const about = await inside({ steps: onlyWait, allowReentry: true });
      await endRuns(`status = 'COMPLETED'`);
      await happens('user.signup');
      await enrolPending(database.db, 1);
      return about;
    },
    'did_not',
    'Loop protection stopped the contact from entering this workflow again within an hour.',
  ],
  [
    'a refusal of which nothing was kept',
    async () => {
      const about = await inside({ steps: onlyWait, allowReentry: true });
      await endRuns(`status = 'COMPLETED'`);
      await happens('user.signup');
      await enrolPending(database.db, 1);
      await database.db.count(sql`
        update automation_entries set refused_at = null, refused_reason = null, refused_event_id = null
        where automation_id = ${about.workflowId}`);
      return about;
    },
    'cannot_tell',
    'The event started no run, and no reason was recorded.',
  ],
  [
    'a path without an email',
    async () => inside(await branches()),
    'did_not',
    'The contact went through the workflow by a path without an email.',
  ],
  [
    'stopped by somebody',
    async () => {
      const about = await inside({ steps: onlyWait });
      await endRuns(`status = 'CANCELLED', exit_reason = 'Cancelled by request'`);
      return about;
    },
    'did_not',
    'The run was cancelled on <date>: Cancelled by request.',
  ],
  [
    'stopped by somebody after its email',
    async () => {
      const about = await inside();
      await database.db.count(sql`delete from email_queue where project_id = ${project.id}`);
      await database.db.count(sql`update emails set status = 'BOUNCED', sent_at = now(), bounced_at = now()
        where project_id = ${project.id} and source_type <> 'INBOUND'`);
      await endRuns(`status = 'CANCELLED', exit_reason = 'Cancelled by user'`);
      return about;
    },
    'did_not',
    'The run was cancelled on <date>: Cancelled by user.',
  ],
  [
    'started by requests alone',
    async () => {
      const about = await aWorkflow();
      await database.db.count(
        sql`update automations set trigger_type = 'MANUAL', trigger_config = null where id = ${about.workflowId}`,
      );
      return about;
    },
    'did_not',
    'This workflow only starts by API or by hand, and neither happened.',
  ],
  [
    'started by a date that the contact does not have',
    () => ofDates('data.birthday'),
    'did_not',
    'The field "data.birthday" of the contact is empty.',
  ],
  [
    'started by a date that is none',
    () => ofDates('data.plan'),
    'did_not',
    'The field "data.plan" of the contact is not a date.',
  ],
  [
    'started by a date that has passed',
    () => ofDates('contact.createdAt'),
    'did_not',
    'The date of the contact has passed.',
  ],
  [
    'started by a creation before it was made',
    async () => {
      const about = await ofNewContacts({});
      // Both may have been made within one millisecond, which is all that times are kept to.
      await database.db.count(`update automations set created_at = created_at + interval '1 s' where id = $1`, [
        about.workflowId,
      ]);
      return about;
    },
    'did_not',
    'The workflow was made after the contact was created.',
  ],
  [
    'started by a creation while it was disabled',
    async () => {
      const about = await ofNewContacts({}, false);
      await again('contact');
      return about;
    },
    'did_not',
    'The workflow was disabled when the contact was created.',
  ],
  [
    'started by a creation that an import made',
    async () => {
      const about = await ofNewContacts({});
      await again('import-0');
      return about;
    },
    'did_not',
    'An import created the contact, and the trigger does not include imports.',
  ],
  [
    'started by a creation that matches',
    async () => {
      const about = await ofNewContacts({});
      await again('contact');
      return about;
    },
    'will',
    'The contact is pending enrollment.',
  ],
];

/** A workflow that new contacts start. */
async function ofNewContacts(config: object, enabled = true): Promise<{ workflowId: string }> {
  const about = await aWorkflow({ steps: onlyWait, enabled });
  await database.db.count(
    `with step as (update automation_steps set config = $2 where automation_id = $1 and type = 'TRIGGER')
     update automations set trigger_type = 'CONTACT_CREATED', trigger_config = $2 where id = $1`,
    [about.workflowId, JSON.stringify(config)],
  );
  return about;
}
/** A workflow that a date of the contact starts. */
async function ofDates(field: string): Promise<{ workflowId: string }> {
  const about = await aWorkflow({ steps: onlyWait });
  await database.db.count(`update automations set trigger_type = 'DATE', trigger_config = $2 where id = $1`, [
    about.workflowId,
    JSON.stringify({ field }),
  ]);
  return about;
}
/** Makes a pending enrollment that no event made. */
async function arrives({ workflowId }: { workflowId: string }): Promise<void> {
  await database.db.count(
    'insert into automation_arrivals (automation_id, project_id, contact_id, event_id) values ($1, $2, $3, gen_random_uuid())',
    [workflowId, project.id, contact],
  );
}
/** Deletes the contact and creates it again, by this cause. */
async function again(cause: string): Promise<void> {
  await database.db.count('delete from contacts where id = $1', [contact]);
  const writing = { cause: cause === 'contact' ? '{"type":"contact"}' : cause, subscribedWhenNew: true };
  await writeContact(database.db, project.id, { email: ada }, writing);
}

test.each(workflowCauses)('workflow: %s', async (_name, arrange, verdict, sentence) => {
  expect(await told(await arrange())).toEqual([verdict, sentence]);
});

test('thirty causes or more have a sentence of their own in plain English', () => {
  const sentences = [...mailCauses, ...campaignCauses, ...workflowCauses].map(([, , , sentence]) => sentence);
  expect(new Set(sentences).size).toBeGreaterThanOrEqual(30);
  for (const sentence of sentences) expect(sentence).toMatch(/^["A-Z]/);
});

test('the way through a workflow is told step by step, and a refusal is counted', async () => {
  const about = await inside();
  const { decisions } = await explained(about);
  expect(decisions.map(({ check }) => check)).toEqual([
    'workflow.event',
    'workflow.entered',
    'workflow.step',
    'workflow.step',
    'mail.accepted',
    'mail.pending',
    'workflow.step',
  ]);
  await happens('user.signup');
  await enrolPending(database.db);
  const entry = await database.db.row(sql`
    select refused_reason as reason, refusals from automation_entries where automation_id = ${about.workflowId}`);
  expect(entry).toEqual({ reason: 'reentry', refusals: 1 });
  await switchAutomation(database.db, about.workflowId, false);
  await happens('user.signup');
  expect((await explained(about)).fixes).toMatchObject([{ method: 'PATCH', body: { enabled: true } }]);
  await switchAutomation(database.db, about.workflowId, true);
  const known = (await explained(about)).decisions.find(({ check }) => check === 'workflow.enabled');
  expect(known).toMatchObject({ basis: 'recorded', outcome: 'stop' });
});

test('a mail that a canary holds back says until when, one of the canary itself does not', async () => {
  const campaignId = await begun({});
  await aMail({ campaign_id: campaignId, send_seq: 1 });
  await database.db.count(sql`
    insert into campaign_canaries (campaign_id, send_seq, recipients, hold_seconds, stop_if, min_delivered, state)
    values (${campaignId}, 1, 5, 3600, '{}', 2, 'SENDING')`);
  const set = (changes: string) =>
    database.db.count(`update campaign_canaries set ${changes} where campaign_id = $1`, [campaignId]);
  const waits = 'The email is pending: the campaign waits for the reports of its canary.';
  expect(await explained({ campaignId })).toMatchObject({ verdict: 'will', sentence: waits, fixes: [] });
  await set(`state = 'HOLDING', held_until = '${instant}'`);
  expect(await told({ campaignId })).toEqual([
    'will',
    'The email is pending: the campaign waits until <date> for the reports of its canary.',
  ]);
  const { next, fixes } = await explained({ campaignId });
  expect(next?.at).toBe('2026-11-20T10:00:00.000Z');
  expect(fixes).toMatchObject([{ method: 'POST', path: `/campaigns/${campaignId}/canary/continue` }]);

  const pending = ['will', 'The email is pending: it is queued.'];
  await set('released_at = now()');
  expect(await told({ campaignId })).toEqual(pending);
  await set('released_at = null');
  await database.db.count(sql`
    insert into campaign_canary_contacts (campaign_id, send_seq, contact_id) values (${campaignId}, 1, ${contact})`);
  expect(await told({ campaignId })).toEqual(pending);
});

test.each([
  ['a campaign', async () => ({ campaign_id: await begun({}), send_seq: 1, source_type: 'CAMPAIGN' })],
  ['a workflow', async () => ({ workflow_execution_id: newId(), source_type: 'WORKFLOW' })],
])('a mail of %s says until when quiet hours hold it, and after it was sent that they did', async (_, source) => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const emailId = await aMail({ ...(await source()), held_until: until });
  expect(await told({ emailId })).toEqual([
    'will',
    'The email is on hold until <date>: the contact is in the quiet hours of the project.',
  ]);
  const held = await explained({ emailId });
  expect(held.next).toEqual({ at: until, what: 'It is sent after a last check.' });
  expect(held.decisions.at(-1)).toMatchObject({ check: 'mail.quiet_hours', outcome: 'info', at: until });
  const sent = { status: 'SENT', sent_at: instant, held_until: instant };
  for (const [column, value] of Object.entries(sent))
    await database.db.count(sql`update emails set ${raw(column)} = ${value} where id = ${emailId}`);
  const { verdict, decisions } = await explained({ emailId });
  expect(verdict).toBe('sent');
  const at = '2026-11-20T10:00:00.000Z';
  expect(decisions.slice(-2)).toMatchObject([
    { check: 'mail.quiet_hours', at },
    { check: 'mail.sent', at },
  ]);
});

test('of a workflow whose event never came it is told as well whether it is enabled, and how to enable it', async () => {
  const about = await aWorkflow();
  const checks = async () => {
    const { decisions, fixes } = await explained(about);
    return { decisions: decisions.map(({ check, outcome }) => [check, outcome]), fixes };
  };
  const event = ['workflow.event', 'stop'];
  expect(await checks()).toEqual({ decisions: [event, ['workflow.enabled', 'pass']], fixes: [] });
  await switchAutomation(database.db, about.workflowId, false);
  expect(await checks()).toEqual({
    decisions: [event, ['workflow.enabled', 'stop']],
    fixes: [
      {
        sentence: 'Enable the workflow for events to come',
        method: 'PATCH',
        path: `/workflows/${about.workflowId}`,
        body: { enabled: true },
      },
    ],
  });
});

test('an event that is older than the workflow is told as such, and says nothing of whether it was enabled then', async () => {
  await happens('user.signup');
  const about = await aWorkflow();
  await database.db.count(sql`
    update automations set created_at = created_at + interval '1 second' where id = ${about.workflowId}`);
  const { verdict, decisions, fixes } = await explained(about);
  expect([verdict, fixes]).toEqual(['did_not', []]);
  expect(decisions.map(({ check, basis, outcome }) => [check, basis, outcome])).toEqual([
    ['workflow.event', 'recorded', 'pass'],
    ['workflow.enabled', 'recorded', 'stop'],
  ]);
  expect(decisions[1]?.sentence).toBe('The workflow was made after the event came.');
  await switchAutomation(database.db, about.workflowId, false);
  expect((await explained(about)).fixes).toHaveLength(1);
});

test('a workflow whose first recorded change enabled it was disabled before', async () => {
  const about = await aWorkflow();
  await switchAutomation(database.db, about.workflowId, false);
  await happens('user.signup');
  await database.db.count(sql`delete from automation_switches where automation_id = ${about.workflowId}`);
  await switchAutomation(database.db, about.workflowId, true);
  expect(await told(about)).toEqual(['did_not', 'The workflow was disabled when the event came.']);
});

test('a workflow that is enabled again within the millisecond of an event was disabled when that came', async () => {
  const about = await aWorkflow();
  await switchAutomation(database.db, about.workflowId, false);
  const eventId = await happens('user.signup');
  await switchAutomation(database.db, about.workflowId, true);
  const enabledAgain = sql`automation_id = ${about.workflowId} and enabled and id > (
    select id from automation_switches where automation_id = ${about.workflowId} and not enabled)`;
  await database.db.count(sql`
    update automation_switches set at = (select created_at from events where id = ${eventId}) where ${enabledAgain}`);
  expect(await told(about)).toEqual(['did_not', 'The workflow was disabled when the event came.']);
});

test('a branch names its values, and a failed step its error', async () => {
  const about = await inside(await branches());
  const condition = (await explained(about)).decisions.find(({ check: name }) => name === 'workflow.condition');
  expect(condition).toMatchObject({ actual: 'free', expected: { operator: 'equals', value: 'pro' } });
  const failing = await inside({ steps: { mail: ['SEND_EMAIL', {}] } as unknown as AutomationSpec['steps'] });
  expect(await told(failing)).toEqual(['did_not', expect.stringMatching(/^Step "mail" failed: /)]);
});

test.each([
  ['DELIVERED', 'delivered_at = now()', 'pass'],
  ['BOUNCED', 'bounced_at = now()', 'info'],
])('an execution that failed after an email is told by the step that failed: %s', async (status, report, outcome) => {
  const steps = { mail: await mailStep(), broken: ['SEND_EMAIL', {}] } as unknown as AutomationSpec['steps'];
  const about = await inside({ steps });
  await database.db.count(sql`delete from email_queue where project_id = ${project.id}`);
  await database.db.count(sql`update emails set status = ${status}, sent_at = now(), ${raw(report)}
    where project_id = ${project.id} and source_type <> 'INBOUND'`);
  const { verdict, sentence, decisions } = await explained(about);
  expect([verdict, sentence]).toEqual(['did_not', expect.stringMatching(/^Step "broken" failed: /)]);
  expect(decisions.find(({ check }) => check === `mail.${status.toLowerCase()}`)?.outcome).toBe(outcome);
  expect(decisions.at(-1)).toMatchObject({
    check: 'workflow.ended',
    sentence: expect.stringMatching(/^The run failed/),
  });
});

test('an execution that was retried and failed again is told by the step that failed last', async () => {
  const steps = { first: ['SEND_EMAIL', {}], second: ['SEND_EMAIL', {}] } as unknown as AutomationSpec['steps'];
  const about = await inside({ steps });
  expect((await explained(about)).sentence).toMatch(/^Step "first" failed: /);
  const second = await database.db.row<{ id: string }>(
    sql`select id from automation_steps where automation_id = ${about.workflowId} and name = 'second'`,
  );
  const retry = `/workflows/${about.workflowId}/executions/retry`;
  const { status, body } = await api.call(project.secretKey, 'POST', retry, { from: second?.id });
  expect([status, body]).toMatchObject([200, { retried: 1 }]);
  await advanced();
  const { verdict, sentence, decisions } = await explained(about);
  expect([verdict, sentence]).toEqual(['did_not', expect.stringMatching(/^Step "second" failed: /)]);
  expect(decisions.filter(({ check }) => check === 'workflow.step')).toMatchObject([
    { outcome: 'pass' },
    { outcome: 'info', sentence: expect.stringMatching(/^Step "first" failed: .*[^.]\. The run was retried\.$/) },
    { outcome: 'stop', sentence },
  ]);
});

test('an email to the control group was requested, and is not told as accepted', async () => {
  const suppression = { ruleId: project.id, name: 'holdout', kind: 'HOLDOUT', pattern: '' };
  const { verdict, decisions } = await explained({ emailId: await aMail({ status: 'SUPPRESSED', suppression }) });
  expect(verdict).toBe('did_not');
  expect(decisions.map(({ check }) => check)).toEqual(['mail.requested', 'mail.holdout']);
  expect(decisions[0]?.sentence).toMatch(/^The email to ada@example.com was requested on /);
});

test('a split names the branch, its share and the control group', async () => {
  const config = { branches: [{ id: 'half', percent: 100 }], holdout: 'half' };
  const about = await inside({ steps: { halves: ['SPLIT', config] } });
  const split = (await explained(about)).decisions.find(({ check: name }) => name === 'workflow.split');
  expect([split?.actual, split?.sentence]).toEqual([
    'half',
    'Step "halves" assigned the contact to the branch "half" with 100% of contacts, the control group.',
  ]);
});

test('a wait until a date names the instant, and the zone that holds in place of an invalid one', async () => {
  await database.db.count(
    sql`update contacts set data = '{"ends": "2020-01-01", "timezone": "Mars"}' where id = ${contact}`,
  );
  const about = await inside({ steps: { wait: ['WAIT_UNTIL', { field: 'data.ends' }] } });
  const wait = (await explained(about)).decisions.find(({ check: name }) => name === 'workflow.until');
  expect(wait?.actual).toBe('2020-01-01T00:00:00.000Z');
  expect(wait?.sentence).toMatch(/had passed, by the time zone UTC, because the one of the contact is invalid\.$/);
});

test('any mail: the rule that would keep it, and the latest one', async () => {
  expect(await told({ topic: 'any' })).toEqual(['will', 'No email to this contact has been accepted yet.']);
  await database.db.count(sql`update contacts set subscribed = false where id = ${contact}`);
  expect(await told({ topic: 'any' })).toEqual([
    'will',
    'No email to this contact has been accepted yet. It is not subscribed: only transactional email reaches it.',
  ]);
  await database.db.count(sql`update contacts set subscribed = true where id = ${contact}`);
  await aMail({ status: 'DELIVERED', sent_at: instant, delivered_at: instant });
  const { verdict, decisions } = await explained({ topic: 'any' });
  expect([verdict, decisions.map(({ check }) => check)]).toEqual([
    'received',
    ['contact.subscribed', 'mail.suppressed', 'mail.accepted', 'mail.sent', 'mail.delivered'],
  ]);
});

test('a permalink asks the same question again, and another project gets nothing', async () => {
  const emailId = await aMail({ status: 'FAILED', reason: { code: 'limit_reached' } });
  const first = await explained({ emailId });
  const again = await api.call(project.secretKey, 'GET', `/explain/${first.permalink}`);
  expect([again.status, again.body.sentence, again.body.permalink]).toEqual([200, first.sentence, first.permalink]);
  const stranger = await aProject(database);
  expect((await api.call(stranger.secretKey, 'GET', `/explain/${first.permalink}`)).status).toBe(404);
  expect((await api.call(project.secretKey, 'GET', '/explain/nonsense')).status).toBe(404);
  const strangers = await aContact(database.db, stranger.id, 'eve@example.com');
  expect((await ask({ emailId }, strangers)).status).toBe(404);
  const other = await aContact(database.db, project.id, 'bob@example.com');
  expect((await ask({ emailId }, other)).status).toBe(404);
  for (const about of [{ campaignId: newId() }, { workflowId: newId() }, { emailId: newId() }])
    expect((await ask(about)).status).toBe(404);
  for (const about of [{}, { campaignId: 'x' }, { topic: 'all' }, { campaignId: newId(), emailId: newId() }])
    expect((await ask(about)).status).toBe(422);
});

test('a project gets 60 explanations a minute', async () => {
  const answers = await Promise.all(Array.from({ length: 62 }, () => ask({ topic: 'any' })));
  const statuses = answers.map(({ status }) => status);
  expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 429).length]).toEqual([60, 2]);
});
