import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { startOfSend } from '../../../src/campaigns/lifecycle/begin.ts';
import { foldContactChanges } from '../../../src/contacts/catalogue-queries.ts';
import { removeOldHistory } from '../../../src/contacts/history-queries.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { recordReceivedMail } from '../../../src/feedback/reports/report.ts';
import { changeContacts } from '../../../src/imports/bulk.ts';
import { importRows } from '../../../src/imports/import.ts';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { settleSegment } from '../../../src/segments/settle.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { advanceDeps, anAutomation, aTemplate, enrolPending } from '../../support/automation-fixtures.ts';
import { campaignActivitiesFor } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, deliveryDeps } from '../../support/delivery-fixtures.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';
import { uploaded } from '../../support/uploads.ts';
import { testWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let admin: Person;

beforeAll(async () => {
  database = await testDatabase();
  // The tests do the work of the workers themselves.
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  admin = await aPerson(database.db, api.config, { name: 'ines.varga' });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});
beforeEach(async () => {
  project = await aProject(database);
  await joins(database.db, project.id, admin, 'ADMIN');
});

const everything = [
  'emails:send',
  'emails:read',
  'events:write',
  'contacts:read',
  'contacts:write',
  'templates',
].concat(['campaigns:read', 'campaigns:write', 'campaigns:send', 'workflows:read', 'workflows:write']);

async function aKey(body: object = {}): Promise<string> {
  const path = `/users/@me/projects/${project.id}/api-keys`;
  const made = await api.call(null, 'POST', path, { name: 'Tests', scopes: everything, ...body }, admin.session);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.key;
}
const testKey = () => aKey({ recipients: { domains: ['qa.example'], addresses: [] } });

const mail = (to: string | string[]) => ({ to, from: project.sender, subject: 'Hello', body: '<p>Hi</p>' });
const statusOf = async (to: string) =>
  (
    await database.db.rows<{ status: string; kind: string | null }>(
      `select status, suppression ->> 'kind' as kind from emails where project_id = $1 and to_address = $2 order by id`,
      [project.id, to],
    )
  ).map(({ status, kind }) => [status, kind]);

async function aDraft(key: string, changes: object = {}): Promise<string> {
  const made = await api.call(key, 'POST', '/campaigns', {
    ...{ name: 'News', subject: 'News', body: '<p>News</p>', from: project.sender, audienceType: 'ALL' },
    ...changes,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.data.id;
}

/** A segment named Pro that tracks its members, evaluated while nobody belongs to it. */
async function aTrackedSegment(filter: object): Promise<string> {
  const body = { name: 'Pro', trackMembership: true, condition: { logic: 'AND', groups: [{ filters: [filter] }] } };
  const { status, body: segment } = await api.call(project.secretKey, 'POST', '/segments', body);
  expect(status, JSON.stringify(segment)).toBe(201);
  await api.call(project.secretKey, 'POST', `/segments/${segment.id}/compute`);
  return segment.id;
}

/** Turns what waits into executions, and moves those on that have just begun. */
async function enrolAndAdvance() {
  await enrolPending(database.db);
  const begun = await database.db.rows<{ id: string }>(
    'select id from automation_runs where project_id = $1 and seq = 0',
    [project.id],
  );
  for (const { id } of begun) await advance(advanceDeps(database.db), id, 0);
}

const mailByAddress = () =>
  database.db.rows<{ to: string; statuses: string[] }>(
    `select to_address as to, array_agg(status::text order by status) as statuses from emails
     where project_id = $1 group by 1 order by 1`,
    [project.id],
  );

describe('what a test key starts reaches its recipients only:', () => {
  test('a campaign, also one that was scheduled', async () => {
    const key = await testKey();
    for (const email of ['one@qa.example', 'one@victim.example', 'two@victim.example'])
      await aContact(database.db, project.id, email);
    const id = await aDraft(key);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    expect((await api.call(key, 'POST', `/campaigns/${id}/send`, { scheduledFor: at })).status).toBe(200);
    expect((await api.call(key, 'POST', `/campaigns/${id}/send`, {})).status).toBe(200);
    const mailer = new FakeMailer({ name: 'limits' });
    await using worker = await testWorker({
      activities: campaignActivitiesFor(database.db, mailer),
      queues: ['campaign'],
    });
    const campaign = { id, projectId: project.id, name: 'News', sendSeq: 1 };
    const start = startOfSend(campaign, 'Birdwatch', 3);
    await worker.perform(start);
    expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 1 });
    expect(mailer.recipients).toEqual(['one@qa.example']);
    expect(await statusOf('one@victim.example')).toEqual([['SUPPRESSED', 'KEY']]);
    expect(await statusOf('two@victim.example')).toEqual([['SUPPRESSED', 'KEY']]);
  });

  test('a campaign that somebody else began is not moved, changed, resumed or revised', async () => {
    const key = await testKey();
    await aContact(database.db, project.id, 'one@victim.example');
    const id = await aDraft(project.secretKey);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    await api.call(project.secretKey, 'POST', `/campaigns/${id}/send`, { scheduledFor: at });
    const refused = [
      await api.call(key, 'POST', `/campaigns/${id}/send`, {}),
      await api.call(key, 'PUT', `/campaigns/${id}`, { subject: 'Mine' }),
    ];
    await api.call(project.secretKey, 'POST', `/campaigns/${id}/send`, {});
    expect((await api.call(key, 'POST', `/campaigns/${id}/pause`)).status).toBe(200);
    refused.push(
      await api.call(key, 'POST', `/campaigns/${id}/revise`, { subject: 'Mine' }),
      await api.call(key, 'POST', `/campaigns/${id}/resume`),
    );
    expect(refused.map(({ status, body }) => [status, body.error?.details?.reason])).toEqual(
      Array(4).fill([403, 'recipient']),
    );
    expect((await api.call(project.secretKey, 'POST', `/campaigns/${id}/resume`)).status).toBe(200);
  });

  test('workflows, by hand, by events, by a subscription and by a bulk change, also to an address of a step', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const steps = (to: object) => ({ mail: ['SEND_EMAIL', { templateId, recipient: to }] as const });
    const automation = async (event: string, to: object) =>
      anAutomation(database.db, project.id, {
        event,
        allowReentry: true,
        steps: steps(to) as unknown as Parameters<typeof anAutomation>[2]['steps'],
      });
    const contact = { type: 'CONTACT' };
    const hello = await automation('hello', contact);
    await automation('contact.subscribed', contact);
    await automation('elsewhere', { type: 'CUSTOM', customEmail: 'custom@victim.example' });
    const [victim, tester, third] = [
      await aContact(database.db, project.id, 'one@victim.example'),
      await aContact(database.db, project.id, 'one@qa.example'),
      await aContact(database.db, project.id, 'three@victim.example', { subscribed: false }),
    ];
    const started = [
      await api.call(key, 'POST', `/workflows/${hello.id}/executions`, { contactId: victim }),
      await api.call(key, 'POST', `/workflows/${hello.id}/executions`, { contactId: tester }),
      await api.call(key, 'POST', '/v1/track', { event: 'hello', email: 'two@victim.example' }),
      await api.call(key, 'POST', '/v1/track', { event: 'elsewhere', email: 'one@qa.example' }),
      await api.call(key, 'POST', '/events/track', { name: 'elsewhere', contactId: tester }),
      await api.call(key, 'POST', '/contacts/bulk-subscribe', { contactIds: [third] }),
      await api.call(key, 'POST', '/contacts', { email: 'four@victim.example', subscribed: false }),
      await api.call(key, 'POST', '/contacts', { email: 'four@victim.example', subscribed: true }),
      await api.call(key, 'POST', '/contacts', { email: 'five@victim.example', subscribed: false }),
      await api.call(key, 'POST', '/v1/send', { ...mail('five@victim.example'), subscribed: true }),
    ];
    expect(started.filter(({ status }) => status >= 400).map(({ body }) => body)).toEqual([]);
    const share = { longestMs: 600_000, stop: new AbortController().signal, onStep: () => undefined };
    await changeContacts(database.db, started[5]?.body.jobId, share);
    await enrolPending(database.db);
    const runs = await database.db.rows<{ id: string; limited: boolean }>(
      `select id, limited_by is not null as limited from automation_runs where project_id = $1 order by id`,
      [project.id],
    );
    expect(runs.map(({ limited }) => limited)).toEqual(Array(runs.length).fill(true));
    expect(runs.length).toBeGreaterThanOrEqual(7);
    for (const { id } of runs) await advance(advanceDeps(database.db), id, 0);
    const sent = await database.db.rows<{ to: string; status: string }>(
      `select distinct to_address as to, status from emails where project_id = $1 and workflow_execution_id is not null order by 1`,
      [project.id],
    );
    expect(sent).toEqual([
      { to: 'custom@victim.example', status: 'SUPPRESSED' },
      { to: 'five@victim.example', status: 'SUPPRESSED' },
      { to: 'four@victim.example', status: 'SUPPRESSED' },
      { to: 'one@qa.example', status: 'PENDING' },
      { to: 'one@victim.example', status: 'SUPPRESSED' },
      { to: 'three@victim.example', status: 'SUPPRESSED' },
      { to: 'two@victim.example', status: 'SUPPRESSED' },
    ]);
    const queued = await database.db.rows<{ to: string }>(
      'select e.to_address as to from email_queue q join emails e on e.id = q.email_id where q.project_id = $1',
      [project.id],
    );
    expect(new Set(queued.map(({ to }) => to))).toEqual(new Set(['one@qa.example']));
  });

  test('a workflow that it enables, for whoever tracks, and it changes none that others run', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const spec = { event: 'joined', steps: { mail: ['SEND_EMAIL', { templateId, recipient: { type: 'CONTACT' } }] } };
    const anew = (enabled: boolean) =>
      anAutomation(database.db, project.id, { ...spec, enabled } as unknown as Parameters<typeof anAutomation>[2]);
    const [mine, theirs] = [await anew(false), await anew(true)];
    expect((await api.call(key, 'PATCH', `/workflows/${mine.id}`, { enabled: true })).status).toBe(200);
    await database.db.count('update automations set enabled = false where id = $1', [theirs.id]);
    await api.call(project.publicKey, 'POST', '/v1/track', { event: 'joined', email: 'new@victim.example' });
    await enrolPending(database.db);
    const run = await database.db.row<{ id: string }>('select id from automation_runs where automation_id = $1', [
      mine.id,
    ]);
    await advance(advanceDeps(database.db), run?.id ?? '', 0);
    expect(await statusOf('new@victim.example')).toEqual([['SUPPRESSED', 'KEY']]);
    await database.db.count('update automations set enabled = true where id = $1', [theirs.id]);
    const refused = [
      await api.call(key, 'PATCH', `/workflows/${theirs.id}`, { name: 'Mine' }),
      await api.call(key, 'POST', `/workflows/${theirs.id}/migrate`, { plan: [], otherwise: { action: 'finish' } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
  });

  test('a template, unless others have edited it or send it', async () => {
    const key = await testKey();
    const anew = async (by: string): Promise<string> => {
      const hello = { name: 'Hello', subject: 'Hello', body: '<p>Hi</p>' };
      const content = { ...hello, from: project.sender, type: 'TRANSACTIONAL' };
      const { status, body } = await api.call(by, 'POST', '/templates', content);
      expect(status, JSON.stringify(body)).toBe(201);
      return body.id;
    };
    const using = async (enabled: boolean, isInside = false) => {
      const templateId = await anew(key);
      const { id } = await anAutomation(database.db, project.id, {
        enabled: true,
        steps: { mail: ['SEND_EMAIL', { templateId }] },
      } as unknown as Parameters<typeof anAutomation>[2]);
      if (isInside) {
        const contactId = await aContact(database.db, project.id, 'inside@victim.example');
        const { status } = await api.call(project.secretKey, 'POST', `/workflows/${id}/executions`, { contactId });
        expect(status).toBe(201);
      }
      await database.db.count('update automations set enabled = $1 where id = $2', [enabled, id]);
      return { templateId, id };
    };
    const edits = async (id: string) => [
      await api.call(key, 'PATCH', `/templates/${id}`, { subject: 'Mine' }),
      await api.call(key, 'POST', `/templates/${id}/versions/1/restore`),
    ];
    const off = await using(false);
    expect((await edits(off.templateId)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await api.call(key, 'PATCH', `/workflows/${off.id}`, { enabled: true })).status).toBe(200);
    expect((await edits(off.templateId)).map(({ status }) => status)).toEqual([200, 200]);
    const sent = await anew(key);
    const send = async (by: string, to: string) => {
      const { status, body } = await api.call(by, 'POST', '/v1/send', { to, template: sent });
      expect(status, JSON.stringify(body)).toBe(200);
    };
    await send(key, 'one@qa.example');
    expect((await edits(sent)).map(({ status }) => status)).toEqual([200, 200]);
    await send(project.secretKey, 'one@victim.example');
    const edited = await anew(key);
    expect((await api.call(project.secretKey, 'PATCH', `/templates/${edited}`, { subject: 'Ours' })).status).toBe(200);
    const [on, inside] = [await using(true), await using(false, true)];
    const others = [on.templateId, inside.templateId, sent, edited, await anew(project.secretKey)];
    const refused = [await api.call(key, 'POST', '/templates/bulk-update', { ids: others, delete: true })];
    for (const id of others) refused.push(...(await edits(id)), await api.call(key, 'DELETE', `/templates/${id}`));
    expect(refused.map(({ status, body }) => [status, body.error?.details?.reason])).toEqual(
      refused.map(() => [403, 'recipient']),
    );
    const copy = await api.call(key, 'POST', `/templates/${sent}/duplicate`);
    expect((await api.call(key, 'DELETE', `/templates/${copy.body.id}`)).status).toBe(204);
  });

  test('no draft of somebody else, and nothing that emails of others are made of', async () => {
    const key = await testKey();
    const [theirs, own] = [await aDraft(project.secretKey), await aDraft(key)];
    const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'Yours' }] }];
    const { body: block } = await api.call(project.secretKey, 'POST', '/blocks', { name: 'Signature', content });
    const refused = [
      await api.call(key, 'PUT', `/campaigns/${theirs}`, { subject: 'Mine' }),
      await api.call(key, 'POST', `/campaigns/${theirs}/versions/1/restore`),
      await api.call(key, 'PATCH', `/blocks/${block.id}`, { content }),
      await api.call(key, 'DELETE', `/blocks/${block.id}`),
      await api.call(key, 'PUT', '/brand', { footer: 'Mine' }),
      await api.call(key, 'DELETE', `/uploads/${block.id}`),
    ];
    expect(refused.map(({ status, body }) => [status, body.error?.details?.reason])).toEqual(
      refused.map(() => [403, 'recipient']),
    );
    expect((await api.call(key, 'PUT', `/campaigns/${own}`, { subject: 'Mine' })).status).toBe(200);
    expect((await api.call(key, 'POST', `/campaigns/${own}/versions/1/restore`)).status).toBe(200);
  });

  test('no segment that campaigns and scheduled workflows of others go to', async () => {
    const key = await testKey();
    const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    const aSegment = async (body: object): Promise<string> =>
      (await api.call(project.secretKey, 'POST', '/segments', { name: 'Some', ...body })).body.id;
    const to = (segmentId: string) => ({ audienceType: 'SEGMENT', segmentId });
    const within = (id: string) => ({
      audienceType: 'FILTERED',
      audienceCondition: {
        logic: 'AND',
        groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] }],
      },
    });
    const [dynamic, filtered, own, scheduled] = [
      await aSegment({ condition }),
      await aSegment({ condition }),
      await aSegment({ condition }),
      await aSegment({ type: 'STATIC' }),
    ];
    const change = (id: string) => api.call(key, 'PATCH', `/segments/${id}`, { condition });
    const add = () => api.call(key, 'POST', `/segments/${scheduled}/members`, { emails: ['one@victim.example'] });
    const before = [await change(dynamic), await change(filtered), await add()];
    expect(before.map(({ status }) => status)).toEqual([200, 200, 200]);
    await aDraft(project.secretKey, to(dynamic));
    await aDraft(project.secretKey, within(filtered));
    const { id } = await anAutomation(database.db, project.id, { steps: { out: ['EXIT'] } });
    const trigger = [id, JSON.stringify({ segmentId: scheduled })];
    await database.db.count(
      `update automations set trigger_type = 'SCHEDULE', trigger_config = $2::jsonb where id = $1`,
      trigger,
    );
    await aDraft(key, to(own));
    expect((await change(own)).status).toBe(200);
    const mine = await aDraft(key, to(own));
    const at = new Date(Date.now() + 3_600_000).toISOString();
    await aContact(database.db, project.id, 'one@victim.example', { data: { plan: 'pro' } });
    const planned = await api.call(project.secretKey, 'POST', `/campaigns/${mine}/send`, { scheduledFor: at });
    expect(planned.status, JSON.stringify(planned.body)).toBe(200);
    const refused = [await change(dynamic), await change(filtered), await change(own), await add()];
    expect(refused.map(({ status, body }) => [status, body.error?.details?.reason])).toEqual(
      refused.map(() => [403, 'recipient']),
    );
  });

  test('workflows that new contacts start', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const { id } = await anAutomation(database.db, project.id, { steps: { mail: ['SEND_EMAIL', { templateId }] } });
    await database.db.count(
      `update automations set trigger_type = 'CONTACT_CREATED', trigger_config = '{}' where id = $1`,
      [id],
    );
    await database.db.count(`update automation_steps set config = '{}' where automation_id = $1 and type = 'TRIGGER'`, [
      id,
    ]);
    await api.call(key, 'POST', '/contacts', { email: 'new@victim.example' });
    await api.call(project.secretKey, 'POST', '/contacts', { email: 'ours@victim.example' });
    await enrolPending(database.db);
    const runs = await database.db.rows<{ email: string; limited: boolean }>(
      `select c.email, r.limited_by is not null as limited from automation_runs r join contacts c on c.id = r.contact_id
       where r.automation_id = $1 order by 1`,
      [id],
    );
    expect(runs).toEqual([
      { email: 'new@victim.example', limited: true },
      { email: 'ours@victim.example', limited: false },
    ]);
  });

  test('workflows that a segment starts, when contacts it has changed enter by the sweep', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const condition = (value: string) => ({
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
    });
    const pro = { name: 'Pro', condition: condition('pro'), trackMembership: true };
    const { body: segment } = await api.call(project.secretKey, 'POST', '/segments', pro);
    await api.call(project.secretKey, 'POST', `/segments/${segment.id}/compute`);
    const spec = { event: 'segment.pro.entry', steps: { mail: ['SEND_EMAIL', { templateId }] } };
    await anAutomation(database.db, project.id, spec as unknown as Parameters<typeof anAutomation>[2]);
    const data = { plan: 'pro' };
    await api.call(key, 'POST', '/contacts', { email: 'changed@victim.example', data });
    const jobId = await uploaded(api, { ...project, secretKey: key }, 'email,plan\nimported@victim.example,pro\n');
    const share = { longestMs: 600_000, stop: new AbortController().signal, onStep: () => undefined };
    await importRows(database.db, jobId, share, [api.config.APP_ENCRYPTION_KEY]);
    await api.call(project.secretKey, 'POST', '/contacts', { email: 'ours@victim.example', data });
    const now = { now: new Date(), windowsSince: null };
    expect(await settleSegment(database.db, segment.id, now)).toMatchObject({ outcome: 'computed', added: 3 });
    await enrolPending(database.db);
    const runs = await database.db.rows<{ email: string; limited: boolean }>(
      `select c.email, r.limited_by is not null as limited from automation_runs r join contacts c on c.id = r.contact_id
       where r.project_id = $1 order by 1`,
      [project.id],
    );
    expect(runs).toEqual([
      { email: 'changed@victim.example', limited: true },
      { email: 'imported@victim.example', limited: true },
      { email: 'ours@victim.example', limited: false },
    ]);
    const { body: list } = await api.call(project.secretKey, 'POST', '/segments', { name: 'List', type: 'STATIC' });
    const inList = {
      logic: 'AND',
      groups: [{ filters: [{ field: `segment.${list.id}`, operator: 'memberOfSegment' }] }],
    };
    const listed = { name: 'Listed', condition: inList, trackMembership: true };
    expect((await api.call(project.secretKey, 'POST', '/segments', listed)).status).toBe(201);
    const refused = [
      await api.call(key, 'POST', '/segments', { ...pro, condition: condition('free') }),
      await api.call(key, 'PATCH', `/segments/${segment.id}`, { condition: condition('free') }),
      await api.call(key, 'POST', `/segments/${list.id}/members`, { emails: ['one@victim.example'] }),
      await api.call(key, 'DELETE', `/segments/${list.id}`),
    ];
    expect(refused.map(({ status, body }) => [status, body.error?.details?.reason])).toEqual(
      Array(4).fill([403, 'recipient']),
    );
    const own = await api.call(key, 'POST', '/segments', { name: 'Own', condition: condition('free') });
    expect((await api.call(key, 'PATCH', `/segments/${own.body.id}`, { condition: condition('pro') })).status).toBe(
      200,
    );
  });

  test('what a step of its execution changes, and what that starts', async () => {
    const key = await testKey();
    const other = await aKey({ recipients: { domains: ['qa.example', 'other.example'], addresses: [] } });
    const templateId = await aTemplate(database.db, project);
    const update = { updates: { plan: 'pro' }, subscriptionAction: 'subscribe' };
    const automation = async (event: string, steps: object, enabled = true) =>
      anAutomation(database.db, project.id, { event, enabled, steps } as Parameters<typeof anAutomation>[2]);
    const [theirs, mine] = [
      await automation('hello', { change: ['UPDATE_CONTACT', update] }),
      await automation('both', { change: ['UPDATE_CONTACT', update] }, false),
    ];
    expect((await api.call(other, 'PATCH', `/workflows/${mine.id}`, { enabled: true })).status).toBe(200);
    for (const event of ['contact.subscribed', 'segment.pro.entry'])
      await automation(event, { mail: ['SEND_EMAIL', { templateId, recipient: { type: 'CONTACT' } }] });
    const segment = await aTrackedSegment({ field: 'data.plan', operator: 'equals', value: 'pro' });
    const started = async (by: string, id: string, email: string) => {
      const contactId = await aContact(database.db, project.id, email, { subscribed: false });
      const { status, body } = await api.call(by, 'POST', `/workflows/${id}/executions`, { contactId });
      expect(status, JSON.stringify(body)).toBeLessThan(300);
      await advance(advanceDeps(database.db), body.id, 0);
    };
    await started(key, theirs.id, 'one@victim.example');
    await started(key, theirs.id, 'one@qa.example');
    await started(key, mine.id, 'one@other.example');
    await started(project.secretKey, theirs.id, 'ours@victim.example');
    const now = { now: new Date(), windowsSince: null };
    expect(await settleSegment(database.db, segment, now)).toMatchObject({ outcome: 'computed', added: 4 });
    await enrolAndAdvance();
    expect(await mailByAddress()).toEqual([
      { to: 'one@other.example', statuses: ['SUPPRESSED', 'SUPPRESSED'] },
      { to: 'one@qa.example', statuses: ['PENDING', 'PENDING'] },
      { to: 'one@victim.example', statuses: ['SUPPRESSED', 'SUPPRESSED'] },
      { to: 'ours@victim.example', statuses: ['PENDING', 'PENDING'] },
    ]);
  });

  test('contacts that enter a segment by the time that passes, however long', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const segment = await aTrackedSegment({ field: 'data.trialEnd', operator: 'olderThan', value: 3, unit: 'days' });
    const spec = { event: 'segment.pro.entry', steps: { mail: ['SEND_EMAIL', { templateId }] } };
    await anAutomation(database.db, project.id, spec as unknown as Parameters<typeof anAutomation>[2]);
    const data = { trialEnd: new Date().toISOString() };
    await api.call(key, 'POST', '/contacts', { email: 'one@victim.example', data });
    await api.call(project.secretKey, 'POST', '/contacts', { email: 'ours@victim.example', data });
    const [today, later] = [new Date(), new Date(Date.now() + 4 * 86_400_000)];
    const settled = await settleSegment(database.db, segment, { now: today, windowsSince: null });
    expect(settled).toMatchObject({ outcome: 'computed', added: 0 });
    // The history has the change by the time that the contact enters, and no change is newer than the last evaluation.
    await foldContactChanges(database.db, project.id);
    await database.db.count(`update contact_history set at = at - interval '100 days' where project_id = $1`, [
      project.id,
    ]);
    expect(await removeOldHistory(database.db, 90, 1_000)).toBe(1);
    await database.db.count(`update segments set settled_through = now() + interval '1 minute' where id = $1`, [
      segment,
    ]);
    const entering = { now: later, windowsSince: later };
    expect(await settleSegment(database.db, segment, entering)).toMatchObject({ outcome: 'computed', added: 2 });
    await enrolAndAdvance();
    expect(await mailByAddress()).toEqual([
      { to: 'one@victim.example', statuses: ['SUPPRESSED'] },
      { to: 'ours@victim.example', statuses: ['PENDING'] },
    ]);
  });

  test('contacts that it has changed before it was deleted, restored or put into a segment by a job', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const segment = await aTrackedSegment({ field: 'data.plan', operator: 'equals', value: 'pro' });
    const { body: list } = await api.call(project.secretKey, 'POST', '/segments', {
      ...{ name: 'List', type: 'STATIC', trackMembership: true },
    });
    for (const event of ['segment.pro.entry', 'segment.list.entry']) {
      const spec = { event, steps: { mail: ['SEND_EMAIL', { templateId }] } };
      await anAutomation(database.db, project.id, spec as unknown as Parameters<typeof anAutomation>[2]);
    }
    await api.call(key, 'POST', '/contacts', { email: 'one@victim.example', data: { plan: 'pro' } });
    const gone = await aContact(database.db, project.id, 'back@victim.example', { data: { plan: 'pro' } });
    await api.call(key, 'DELETE', `/contacts/${gone}?restorable=true`);
    expect((await api.call(key, 'POST', `/contacts/${gone}/restore`)).status).toBe(200);
    const listed = await aContact(database.db, project.id, 'listed@victim.example');
    const added = await api.call(key, 'POST', '/contacts/bulk-add-to-segment', {
      ...{ segmentId: list.id, contactIds: [listed] },
    });
    expect(added.status, JSON.stringify(added.body)).toBe(202);
    const keys = `/users/@me/projects/${project.id}/api-keys`;
    const { body: all } = await api.call(null, 'GET', keys, undefined, admin.session);
    await api.call(null, 'DELETE', `${keys}/${all[0].id}`, undefined, admin.session);
    const share = { longestMs: 600_000, stop: new AbortController().signal, onStep: () => undefined };
    await changeContacts(database.db, added.body.jobId, share);
    const now = { now: new Date(), windowsSince: null };
    expect(await settleSegment(database.db, segment, now)).toMatchObject({ outcome: 'computed', added: 2 });
    await enrolAndAdvance();
    expect(await mailByAddress()).toEqual([
      { to: 'back@victim.example', statuses: ['SUPPRESSED'] },
      { to: 'listed@victim.example', statuses: ['SUPPRESSED'] },
      { to: 'one@victim.example', statuses: ['SUPPRESSED'] },
    ]);
  });

  test('what becomes of its mail, and what that starts', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    for (const event of ['email.sent', 'email.open', 'email.complaint', 'email.received', 'contact.unsubscribed']) {
      const mailing = { templateId, recipient: { type: 'CUSTOM', customEmail: `${event}@victim.example` } };
      const spec = { event, steps: { mail: ['SEND_EMAIL', mailing] } };
      await anAutomation(database.db, project.id, spec as unknown as Parameters<typeof anAutomation>[2]);
    }
    const mailer = new FakeMailer({ name: 'limited-mail' });
    const run = { projectId: project.id, prefix: 'limited/1/', attempt: 1, stop: new AbortController().signal };
    const composer = createComposer(api.config, { warn: () => undefined });
    const deps = deliveryDeps(database.db, mailer, { compose: (each) => composeQueued(composer, each) });
    const sends = async (by: string, to: string) => {
      await api.call(by, 'POST', '/v1/send', { ...mail(to), subscribed: true });
      await deliverPending(deps, run, { claims: 1, lingerMs: 0, longestMs: 600_000 });
      const sent = await database.db.rows<{ emailId: string; messageId: string }>(
        `select id as "emailId", message_id as "messageId" from emails where project_id = $1 and to_address = $2`,
        [project.id, to],
      );
      for (const { emailId, messageId } of sent)
        for (const effect of [{ kind: 'open' }, { kind: 'complaint' }] as const) {
          const ofMail = { emailId, projectId: project.id, messageId, recipient: to };
          const report = { ...ofMail, key: `${effect.kind}/${emailId}`, at: new Date().toISOString(), effect };
          await applyNotification(database.db, 'postmark', ofMail, report, true);
        }
      const billing = { freeTier: null, publicDailyEmails: null };
      await recordReceivedMail(
        database.db,
        billing,
        { suppressed: async () => new Set() },
        {
          ...{
            provider: 'postmark',
            key: `reply/${to}`,
            messageId: `reply/${to}`,
            from: to,
            fromHeader: null,
            body: null,
          },
          ...{
            received: [project.sender],
            recipients: [project.sender],
            subject: 'Re: Hello',
            hasContent: false,
            verdicts: {},
          },
          timestamp: new Date().toISOString(),
          processingTimeMillis: null,
        },
      );
    };
    const stateOf = async () => {
      await enrolAndAdvance();
      return (await mailByAddress()).filter(({ to }) => to.endsWith('@victim.example'));
    };
    const outcome = (status: string) =>
      ['contact.unsubscribed', 'email.complaint', 'email.open', 'email.received', 'email.sent'].map((event) => ({
        to: `${event}@victim.example`,
        statuses: [status],
      }));
    await sends(key, 'one@qa.example');
    expect(await stateOf()).toEqual(outcome('SUPPRESSED'));
    await database.db.count(`delete from emails where project_id = $1 and to_address like '%@victim.example'`, [
      project.id,
    ]);
    await sends(project.secretKey, 'ours@qa.example');
    expect(await stateOf()).toEqual(outcome('PENDING'));
  });

  test('its events end no wait of an execution that somebody else started', async () => {
    const key = await testKey();
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 86_400 }], out: ['EXIT'] },
      ways: [
        ['trigger', 'wait'],
        ['wait.EVENT', 'out'],
      ],
    });
    const [ours, theirs] = [
      await aContact(database.db, project.id, 'ours@qa.example'),
      await aContact(database.db, project.id, 'theirs@victim.example'),
    ];
    const start = async (by: string, contactId: string) => {
      const { body } = await api.call(by, 'POST', `/workflows/${automation.id}/executions`, { contactId });
      await advance(advanceDeps(database.db), body.id, 0);
    };
    await start(key, ours);
    await start(project.secretKey, theirs);
    const outcomes = async () =>
      database.db.rows(
        `select c.email, s.outcome from automation_step_runs s join contacts c on c.id = s.contact_id
         where s.project_id = $1 and s.step_type = 'WAIT_FOR_EVENT' order by c.email`,
        [project.id],
      );
    for (const email of ['ours@qa.example', 'theirs@victim.example'])
      await api.call(key, 'POST', '/v1/track', { event: 'paid', email });
    expect(await outcomes()).toEqual([
      { email: 'ours@qa.example', outcome: 'EVENT' },
      { email: 'theirs@victim.example', outcome: null },
    ]);
    await api.call(project.publicKey, 'POST', '/v1/track', { event: 'paid', email: 'theirs@victim.example' });
    expect((await outcomes()).at(-1)).toMatchObject({ outcome: 'EVENT' });
  });

  test('a test of its content', async () => {
    const key = await testKey();
    const id = await aDraft(key);
    const tested = await api.call(key, 'POST', `/campaigns/${id}/test`, { email: admin.email });
    expect([tested.status, tested.body.error.details.reason]).toEqual([403, 'recipient']);
  });

  test('and nobody any more once it is deleted', async () => {
    const key = await testKey();
    const templateId = await aTemplate(database.db, project);
    const spec = { steps: { mail: ['SEND_EMAIL', { templateId, recipient: { type: 'CONTACT' } }] } };
    const { id } = await anAutomation(database.db, project.id, spec as unknown as Parameters<typeof anAutomation>[2]);
    const contactId = await aContact(database.db, project.id, 'late@qa.example');
    const { body: run } = await api.call(key, 'POST', `/workflows/${id}/executions`, { contactId });
    const keys = `/users/@me/projects/${project.id}/api-keys`;
    const listed = await api.call(null, 'GET', keys, undefined, admin.session);
    await api.call(null, 'DELETE', `${keys}/${listed.body[0].id}`, undefined, admin.session);
    await advance(advanceDeps(database.db), run.id, 0);
    expect(await statusOf('late@qa.example')).toEqual([['SUPPRESSED', 'KEY']]);
  });
});

describe('a key with sender domains', () => {
  test('lets no workflow and no template send from another domain', async () => {
    const templateId = await aTemplate(database.db, project);
    const steps = { mail: ['SEND_EMAIL', { templateId, recipient: { type: 'CONTACT' } }] };
    const anew = (enabled: boolean) =>
      anAutomation(database.db, project.id, { steps, enabled } as unknown as Parameters<typeof anAutomation>[2]);
    const [on, off] = [await anew(true), await anew(false)];
    const contactId = await aContact(database.db, project.id, 'one@kunde.example');
    const { body: template } = await api.call(project.secretKey, 'GET', `/templates/${templateId}`);
    const { name, subject, body, from, type } = template;
    const attempts = async (key: string) => [
      await api.call(key, 'POST', `/workflows/${on.id}/executions`, { contactId }),
      await api.call(key, 'PATCH', `/workflows/${off.id}`, { enabled: true }),
      await api.call(key, 'POST', `/workflows/${on.id}/steps`, {
        type: 'EXIT',
        name: 'End',
        position: { x: 0, y: 0 },
        config: {},
      }),
      await api.call(key, 'POST', `/workflows/${on.id}/executions/retry`, {}),
      await api.call(key, 'POST', '/templates', { name, subject, body, from, type }),
      await api.call(key, 'PATCH', `/templates/${templateId}`, { from }),
      await api.call(key, 'PATCH', `/templates/${templateId}`, { body: '<p>Mine</p>' }),
      await api.call(key, 'POST', `/templates/${templateId}/duplicate`),
    ];
    const refused = await attempts(await aKey({ senderDomains: ['other.example'] }));
    expect(refused.map(({ status, body: { error } }) => [status, error?.details?.reason])).toEqual(
      refused.map(() => [403, 'sender']),
    );
    const taken = await attempts(await aKey({ senderDomains: [String(from).split('@')[1]] }));
    expect(taken.filter(({ status }) => status >= 300).map(({ body: answer }) => answer)).toEqual([]);
  });
});

describe('a key whose setting asks for a person', () => {
  test('sends nothing by itself that its plans would need one for', async () => {
    const contactId = await aContact(database.db, project.id, 'one@kunde.example');
    await aContact(database.db, project.id, 'two@kunde.example');
    const always = await aKey({ mcp: { mode: 'act', needsHuman: 'always' } });
    const few = await aKey({ mcp: { mode: 'act', mostRecipients: 1, needsHuman: 'above' } });
    const planner = await aKey({ mcp: { mode: 'plan' } });
    const campaign = await aDraft(project.secretKey);
    const automation = await anAutomation(database.db, project.id, { steps: { out: ['EXIT'] } });
    const both = ['one@kunde.example', 'two@kunde.example'];
    const refused = [
      await api.call(always, 'POST', '/v1/send', mail('one@kunde.example')),
      await api.call(always, 'POST', '/v1/emails/batch', { emails: [mail('one@kunde.example')] }),
      await api.call(always, 'POST', `/workflows/${automation.id}/executions`, { contactId }),
      await api.call(always, 'POST', `/campaigns/${campaign}/send`, {}),
      await api.call(few, 'POST', '/v1/send', mail(both)),
      await api.call(few, 'POST', '/v1/emails/batch', { emails: both.map(mail) }),
      await api.call(few, 'POST', `/campaigns/${campaign}/send`, {}),
      await api.call(planner, 'POST', '/v1/send', mail('one@kunde.example')),
    ];
    expect(refused.map(({ status, body }) => [status, body.error?.code])).toEqual(
      refused.map(() => [403, 'PLAN_NEEDED']),
    );
    const sent = await database.db.rows('select from emails where project_id = $1', [project.id]);
    expect(sent).toEqual([]);
    expect((await api.call(few, 'POST', '/v1/send', mail('one@kunde.example'))).status).toBe(200);
    const plain = await aKey();
    expect((await api.call(plain, 'POST', '/v1/send', mail(both))).status).toBe(200);
  });
});

describe('data of contacts', () => {
  test('needs contacts:read, and erasing a scope of its own', async () => {
    const contactId = await aContact(database.db, project.id, 'secret@kunde.example', { data: { pin: '4711' } });
    const automation = await anAutomation(database.db, project.id, { steps: { out: ['EXIT'] } });
    const body = { subject: 'x', body: '{{ pin }}' };
    const without = await aKey({ scopes: ['templates', 'workflows:write', 'explain', 'contacts:write'] });
    const refused = [
      await api.call(without, 'POST', '/templates/preview', { ...body, contactId }),
      await api.call(without, 'POST', `/workflows/${automation.id}/test-run`, { contactId }),
      await api.call(without, 'POST', '/explain', { contact: contactId, about: { topic: 'any' } }),
      await api.call(without, 'POST', `/contacts/${contactId}/erase`, {}),
    ];
    expect(refused.map(({ status, body }) => [status, body.error.code, body.error.details.needed])).toEqual([
      ...Array(3).fill([403, 'SCOPE_MISSING', 'contacts:read']),
      [403, 'SCOPE_MISSING', 'contacts:erase'],
    ]);
    expect((await api.call(without, 'POST', '/templates/preview', { ...body, data: { pin: 1 } })).status).toBe(200);
    const withScope = await aKey({ scopes: ['templates', 'contacts:read', 'contacts:erase'] });
    const preview = await api.call(withScope, 'POST', '/templates/preview', { ...body, contactId });
    expect(preview.body.html).toContain('4711');
    expect((await api.call(withScope, 'POST', `/contacts/${contactId}/erase`, {})).status).toBe(202);
  });
});
