import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { createEnroller } from '../../src/automations/runtime/enrol.ts';
import { raw, sql } from '../../src/core/database/sql.ts';
import { newId } from '../../src/core/lib/ids.ts';
import type { Explanation } from '../../src/insight/explain/schema.ts';
import { openSend } from '../../src/sending/campaigns/state.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type AutomationSpec, advanceDeps, anAutomation, anEvent, aTemplate } from '../support/automation-fixtures.ts';
import { aCampaign, type CampaignChanges } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact } from '../support/delivery-fixtures.ts';

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
  ['pending', {}, 'will', 'The email is pending: its turn has not come yet.'],
  [
    'under way',
    { status: 'SENDING' },
    'cannot_tell',
    'The email is being handed to the provider, or was when a process ended; this is looked up there.',
  ],
];

test.each(mailCauses)('a mail: %s', async (_name, changes, verdict, sentence) => {
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

test('causes of campaigns', async () => {
  const { db } = database;
  const draft = await aCampaign(db, project);
  expect(await told({ campaignId: draft })).toEqual([
    'will_not',
    'The campaign "Spring count" is a draft and has not been sent.',
  ]);
  const scheduled = await aCampaign(db, project);
  await openSend(db, scheduled, 1, new Date(Date.now() + 3_600_000));
  expect(await told({ campaignId: scheduled })).toEqual([
    'will',
    'The contact matches its audience now; the audience is found again when it begins.',
  ]);
  const scheduledForOthers = await aCampaign(db, project, wanted(pro));
  await openSend(db, scheduledForOthers, 1, new Date(Date.now() + 3_600_000));
  expect(await told({ campaignId: scheduledForOthers })).toEqual([
    'will_not',
    '"data.plan" is "pro": no, it is "free".',
  ]);

  const segmentId = newId();
  await db.count(
    sql`insert into segments (id, project_id, name, type) values (${segmentId}, ${project.id}, 'VIP', 'STATIC')`,
  );
  expect(await told({ campaignId: await begun({ audienceType: 'SEGMENT', segmentId }) })).toEqual([
    'did_not',
    'The contact was not in the segment "VIP".',
  ]);
  expect(await told({ campaignId: await begun({ audienceType: 'SEGMENT', segmentId: newId() }) })).toEqual([
    'did_not',
    'The segment of this campaign was deleted.',
  ]);

  const earlier = await begun({});
  await db.count(sql`update campaigns set sent_at = '2026-01-01' where id = ${earlier}`);
  expect(await told({ campaignId: earlier })).toEqual(['did_not', 'The contact was only created on <date>.']);

  const changed = await begun({});
  await db.count(sql`update campaigns set sent_at = '2026-06-01' where id = ${changed}`);
  await db.count(sql`update contacts set created_at = '2026-01-01' where id = ${contact}`);
  expect(await told({ campaignId: changed })).toEqual([
    'did_not',
    'The contact was not in the audience when it was frozen, although it would match today. The contact has changed since, on <date>.',
  ]);

  const freezing = await begun({});
  await db.count(sql`update campaign_sends set expanded = false where campaign_id = ${freezing}`);
  expect(await told({ campaignId: freezing })).toEqual([
    'will',
    'Its audience is still being frozen, and the contact matches it.',
  ]);
  await db.count(sql`update campaigns set status = 'CANCELLED', cancelled_at = now() where id = ${freezing}`);
  expect(await told({ campaignId: freezing })).toEqual([
    'did_not',
    "The campaign was stopped on <date> before the contact's turn came.",
  ]);

  const paused = await begun({});
  await aMail({ campaign_id: paused, send_seq: 1 });
  await db.count(sql`update campaigns set paused_at = now() where id = ${paused}`);
  expect(await told({ campaignId: paused })).toEqual(['will', 'The campaign is paused, and this email is pending.']);
  expect((await explained({ campaignId: paused })).fixes).toEqual([
    { sentence: 'Resume the campaign', method: 'POST', path: `/campaigns/${paused}/resume`, body: {} },
  ]);

  const marketing = await begun({});
  await db.count(sql`update contacts set subscribed = false where id = ${contact}`);
  expect(await told({ campaignId: marketing })).toEqual(['did_not', 'The contact was not subscribed.']);
});

const mailStep = async () =>
  ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }] as AutomationSpec['steps'][string];

async function enrolled(startsPerHour = 0): Promise<void> {
  const enrol = createEnroller({ db: database.db, startsPerHour, dispatchSoon: () => undefined });
  while ((await enrol()) === 0);
}

async function advanced(): Promise<void> {
  const runs = await database.db.rows<{ id: string; seq: number }>(
    sql`select id, seq from automation_runs where contact_id = ${contact} and status = 'RUNNING'`,
  );
  for (const { id, seq } of runs) await advance(advanceDeps(database.db), id, seq);
}

test('causes of workflows', async () => {
  const { db } = database;
  const steps = { mail: await mailStep(), wait: ['DELAY', { amount: 2, unit: 'days' }] } as AutomationSpec['steps'];
  const { id: workflowId } = await anAutomation(db, project.id, { event: 'user.signup', steps });
  const about = { workflowId };
  await anEvent(db, project.id, contact, 'user.sign_up');
  expect(await told(about)).toEqual(['did_not', 'The contact has no event "user.signup". Its events: "user.sign_up".']);

  await anEvent(db, project.id, contact, 'user.signup');
  expect(await told(about)).toEqual(['will', 'The contact is pending enrollment.']);
  await enrolled();
  expect(await told(about)).toEqual(['will', 'The contact is between two steps.']);
  await advanced();
  expect(await told(about)).toEqual(['will', expect.stringMatching(/^The email is pending: it is due on <date>\./)]);
  await db.count(sql`delete from email_queue where project_id = ${project.id}`);
  await db.count(sql`update emails set status = 'DELIVERED', sent_at = now(), delivered_at = now()
    where project_id = ${project.id} and source_type <> 'INBOUND'`);
  expect(await told(about)).toEqual(['received', 'The email to ada@example.com was delivered on <date>.']);
  const { decisions } = await explained(about);
  expect(decisions.map(({ check }) => check)).toEqual([
    'workflow.event',
    'workflow.entered',
    'workflow.step',
    'workflow.step',
    'mail.accepted',
    'mail.sent',
    'mail.delivered',
    'workflow.step',
  ]);

  await anEvent(db, project.id, contact, 'user.signup');
  await enrolled();
  expect(await told(about)).toEqual([
    'did_not',
    'The contact had been in this workflow before, and it does not allow re-entry.',
  ]);
  const entry = await db.row(sql`
    select refused_reason as reason, refusals from automation_entries where automation_id = ${workflowId}`);
  expect(entry).toEqual({ reason: 'reentry', refusals: 1 });

  await db.count(sql`update automations set enabled = false where id = ${workflowId}`);
  await anEvent(db, project.id, contact, 'user.signup');
  expect(await told(about)).toEqual(['did_not', 'The workflow was disabled when the event came.']);
  expect((await explained(about)).fixes).toMatchObject([{ method: 'PATCH', body: { enabled: true } }]);
  await db.count(sql`update automations set enabled = true where id = ${workflowId}`);
  const known = (await explained(about)).decisions.find(({ check }) => check === 'workflow.enabled');
  expect(known).toMatchObject({ basis: 'recorded', outcome: 'stop' });
});

test('causes of workflows that let contacts in again', async () => {
  const { db } = database;
  const wait = { steps: { wait: ['DELAY', { amount: 2, unit: 'days' }] } } as unknown as AutomationSpec;
  const { id: workflowId } = await anAutomation(db, project.id, { ...wait, event: 'ping', allowReentry: true });
  await anEvent(db, project.id, contact, 'ping');
  await anEvent(db, project.id, contact, 'ping');
  await enrolled();
  expect(await told({ workflowId })).toEqual([
    'did_not',
    'The contact was in this workflow already when the event came.',
  ]);
  await db.count(
    sql`update automation_runs set status = 'COMPLETED', completed_at = now() where contact_id = ${contact}`,
  );
  await anEvent(db, project.id, contact, 'ping');
  await enrolled(1);
  expect(await told({ workflowId })).toEqual([
    'did_not',
    'The guard against loops stopped the contact from entering this workflow once more within an hour.',
  ]);
});

test('a branch without mail, a failed step, and a workflow that only requests start', async () => {
  const { db } = database;
  const check = ['CONDITION', { field: 'contact.data.plan', operator: 'equals', value: 'pro' }];
  const spec = {
    event: 'check',
    steps: { check, mail: await mailStep(), out: ['EXIT', {}] },
    ways: [
      ['trigger', 'check'],
      ['check.yes', 'mail'],
      ['check.no', 'out'],
    ],
  } as unknown as AutomationSpec;
  const { id: workflowId } = await anAutomation(db, project.id, spec);
  await anEvent(db, project.id, contact, 'check');
  await enrolled();
  await advanced();
  expect(await told({ workflowId })).toEqual([
    'did_not',
    'The contact went through the workflow by a path without an email.',
  ]);
  const condition = (await explained({ workflowId })).decisions.find(
    ({ check: name }) => name === 'workflow.condition',
  );
  expect(condition).toMatchObject({ actual: 'free', expected: { operator: 'equals', value: 'pro' } });

  const broken = { event: 'broken', steps: { mail: ['SEND_EMAIL', {}] } } as unknown as AutomationSpec;
  const failing = await anAutomation(db, project.id, broken);
  await anEvent(db, project.id, contact, 'broken');
  await enrolled();
  await advanced();
  expect(await told({ workflowId: failing.id })).toEqual(['did_not', expect.stringMatching(/^Step "mail" failed: /)]);

  await db.count(sql`update automations set trigger_type = 'MANUAL', trigger_config = null where id = ${failing.id}`);
  await db.count(sql`delete from automation_runs where automation_id = ${failing.id}`);
  expect(await told({ workflowId: failing.id })).toEqual([
    'did_not',
    'Only a request starts this workflow, and none did.',
  ]);
});

test('any mail: the rule that would keep it, and the latest one', async () => {
  expect(await told({ topic: 'any' })).toEqual(['will', 'No email to this contact has been accepted yet.']);
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
