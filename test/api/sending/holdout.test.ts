import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { startOfSend } from '../../../src/campaigns/lifecycle/begin.ts';
import { isHeldOut } from '../../../src/contacts/suppressions/matching.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import type { Holdout } from '../../../src/projects/schema.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { advanceDeps, anAutomation, letIn } from '../../support/automation-fixtures.ts';
import { campaignActivitiesFor, campaignRow } from '../../support/campaign-fixtures.ts';
import { reviewed } from '../../support/campaign-reviews.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, deliveryDeps } from '../../support/delivery-fixtures.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, joins } from '../../support/people.ts';
import { type TestWorker, testWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let mailer: FakeMailer;
let worker: TestWorker;

beforeAll(async () => {
  database = await testDatabase();
  // The tests do the work of the workers themselves.
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  mailer = new FakeMailer({ name: 'holdout' });
  worker = await testWorker({ activities: campaignActivitiesFor(database.db, mailer), queues: ['campaign'] });
});
afterAll(async () => {
  await worker?.stop();
  await api?.close();
  await database?.close();
});
beforeEach(async () => {
  project = await aProject(database);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const holdout = (method: string, body?: unknown) => call(method, `/projects/${project.id}/holdout`, body);
const stored = async () =>
  (await database.db.row<{ holdout: Holdout | null }>('select holdout from projects where id = $1', [project.id]))
    ?.holdout ?? null;
const statusOf = async (emailId: string) => (await call('GET', `/v1/emails/${emailId}`)).body;

async function aTemplate(type: 'MARKETING' | 'TRANSACTIONAL'): Promise<string> {
  const content = { name: type, subject: 'News', body: '<p>News</p>', from: project.sender, type };
  const { status, body } = await call('POST', '/templates', content);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** Makes contacts until there are some of both kinds, and answers those of the control group and the others, by address. */
async function bothKinds(most = 60): Promise<{ held: Set<string>; others: Set<string> }> {
  const [held, others] = [new Set<string>(), new Set<string>()];
  const group = await stored();
  for (let n = 0; n < most; n++) {
    const email = `reader-${n}@example.com`;
    const id = await aContact(database.db, project.id, email);
    (isHeldOut(group, id, new Date()) ? held : others).add(email);
  }
  expect(Math.min(held.size, others.size)).toBeGreaterThan(0);
  return { held, others };
}

async function deliver(name: string): Promise<void> {
  const run = { projectId: project.id, prefix: `${name}/`, attempt: 1, stop: new AbortController().signal };
  const pace = { claims: 2, lingerMs: 0, longestMs: 600_000 };
  await deliverPending(deliveryDeps(database.db, mailer), run, pace);
}

const recipients = () => mailer.sent.filter(({ projectId }) => projectId === project.id).map(({ to }) => to.address);

describe('the setting', () => {
  test('is set, read and ended, with an entry in the audit log each time', async () => {
    expect((await holdout('GET')).body).toEqual({ percent: 0, until: null, active: false });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const set = await holdout('PUT', { percent: 5, until });
    expect([set.status, set.body]).toEqual([200, { percent: 5, until, active: true }]);
    const key = (await stored())?.key;
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect((await holdout('PUT', { percent: 7.25 })).body).toEqual({ percent: 7.25, until: null, active: true });
    expect(await stored()).toEqual({ key, percent: 7.25, until: null });
    expect((await holdout('GET')).body).toEqual({ percent: 7.25, until: null, active: true });
    expect((await holdout('DELETE')).status).toBe(204);
    expect((await holdout('GET')).body).toEqual({ percent: 0, until: null, active: false });
    expect((await holdout('DELETE')).status).toBe(204);
    await holdout('PUT', { percent: 7.25 });
    expect((await stored())?.key).not.toBe(key);
    const log = (await call('GET', `/projects/${project.id}/audit-log`)).body.data;
    expect(
      log.map(({ action, before, after }: Record<string, unknown>) => [action, before, after]).slice(0, 2),
    ).toEqual([
      ['project.holdout_changed', { percent: 0, active: false }, { percent: 7.25, active: true }],
      ['project.holdout_changed', { percent: 7.25, active: true }, { percent: 0, active: false }],
    ]);
    expect(JSON.stringify(log)).not.toContain(key);
  });

  test.each([
    [{}, 'percent'],
    [{ percent: '5' }, 'percent'],
    [{ percent: -1 }, 'percent'],
    [{ percent: 101 }, 'percent'],
    [{ percent: 0.001 }, 'percent'],
    [{ percent: 5, until: 'tomorrow' }, 'until'],
    [{ percent: 5, until: '2020-01-01T00:00:00Z' }, 'until'],
  ])('refuses %j and stays as it was', async (body, field) => {
    await holdout('PUT', { percent: 5 });
    const refused = await holdout('PUT', body);
    expect([refused.status, refused.body.error.errors?.[0]?.field ?? refused.body.error.details?.field]).toEqual([
      422,
      field,
    ]);
    expect(await stored()).toMatchObject({ percent: 5, until: null });
  });

  test('is read by members and changed by admins', async () => {
    const member = await aPerson(database.db, api.config, { name: 'mira.holm' });
    await joins(database.db, project.id, member, 'MEMBER');
    const path = `/projects/${project.id}/holdout`;
    const ask = (method: string, body?: object) => api.call(null, method, path, body, member.session);
    expect((await ask('GET')).status).toBe(200);
    expect((await ask('PUT', { percent: 50 })).status).toBe(403);
    expect((await ask('DELETE')).status).toBe(403);
    expect(await stored()).toBeNull();
  });

  test('names its members, and an end that has come', async () => {
    await holdout('PUT', { percent: 100 });
    const id = await aContact(database.db, project.id, 'anna@example.com');
    expect((await call('GET', `/contacts/${id}/holdout`)).body).toEqual({ heldOut: true, until: null });
    const any = (await call('POST', '/explain', { contact: id, about: { topic: 'any' } })).body;
    expect(any.decisions).toContainEqual(expect.objectContaining({ check: 'mail.holdout', outcome: 'info' }));
    await database.db.count(
      `update projects set holdout = holdout || jsonb_build_object('until', '2020-01-01T00:00:00.000Z') where id = $1`,
      [project.id],
    );
    expect((await call('GET', `/contacts/${id}/holdout`)).body).toEqual({ heldOut: false, until: null });
    expect((await holdout('GET')).body).toEqual({ percent: 100, until: '2020-01-01T00:00:00.000Z', active: false });
    const other = await aProject(database);
    expect((await api.call(other.secretKey, 'GET', `/contacts/${id}/holdout`)).status).toBe(404);
  });
});

describe('the control group gets no marketing mail', () => {
  test('of /v1/send, which answers as ever; transactional mail goes out', async () => {
    await holdout('PUT', { percent: 50 });
    const { held, others } = await bothKinds();
    const [marketing, transactional] = [await aTemplate('MARKETING'), await aTemplate('TRANSACTIONAL')];
    const to = [...held, ...others];
    const sent = await call('POST', '/v1/send', { to, template: marketing });
    expect(sent.status).toBe(200);
    const [one = ''] = held;
    const single = await call('POST', '/v1/send', { to: one, template: marketing });
    const batch = await call('POST', '/v1/emails/batch', { emails: [{ to: one, template: marketing }] });
    const stranger = await call('POST', '/v1/send', { to: one, template: transactional });
    expect([single.status, batch.status, stranger.status]).toEqual([200, 200, 200]);
    for (const { contact, email } of sent.body.data.emails) {
      const found = await statusOf(email);
      expect([contact.email, found.status]).toEqual([
        contact.email,
        held.has(contact.email) ? 'SUPPRESSED' : 'PENDING',
      ]);
    }
    const kept = await statusOf(single.body.data.emails[0].email);
    expect(kept).toMatchObject({
      status: 'SUPPRESSED',
      suppression: { kind: 'HOLDOUT', ruleId: project.id, name: 'holdout' },
    });
    expect((await statusOf(batch.body.data.results[0].emails[0].email)).status).toBe('SUPPRESSED');
    expect((await statusOf(stranger.body.data.emails[0].email)).status).toBe('PENDING');
    const explained = await call('POST', '/explain', { contact: one, about: { emailId: kept.id } });
    expect(explained.body).toMatchObject({
      verdict: 'did_not',
      sentence: expect.stringContaining('control group (holdout)'),
    });
    await deliver('send');
    expect(recipients().toSorted()).toEqual([...others, one].toSorted());
  });

  test('of /v1/send to addresses that nobody knows yet', async () => {
    await holdout('PUT', { percent: 100 });
    const template = await aTemplate('MARKETING');
    const sent = await call('POST', '/v1/send', { to: 'new@example.com', template, subscribed: true });
    expect((await statusOf(sent.body.data.emails[0].email)).status).toBe('SUPPRESSED');
    await holdout('DELETE');
    const again = await call('POST', '/v1/send', { to: 'new@example.com', template });
    expect((await statusOf(again.body.data.emails[0].email)).status).toBe('PENDING');
  });

  test('that was accepted before the group was made, and mail that waits when it ends goes out', async () => {
    const template = await aTemplate('MARKETING');
    await aContact(database.db, project.id, 'anna@example.com');
    const sent = await call('POST', '/v1/send', { to: 'anna@example.com', template });
    await holdout('PUT', { percent: 100 });
    await deliver('late');
    expect(recipients()).toEqual([]);
    expect((await statusOf(sent.body.data.emails[0].email)).status).toBe('SUPPRESSED');
  });

  test('of workflows: the step says so and the contact moves on', async () => {
    await holdout('PUT', { percent: 100 });
    const contact = await aContact(database.db, project.id, 'anna@example.com');
    const [marketing, transactional] = [await aTemplate('MARKETING'), await aTemplate('TRANSACTIONAL')];
    const automation = await anAutomation(database.db, project.id, {
      steps: {
        news: ['SEND_EMAIL', { templateId: marketing }],
        colleague: [
          'SEND_EMAIL',
          { templateId: marketing, recipient: { type: 'CUSTOM', customEmail: 'sales@acme.test' } },
        ],
        receipt: ['SEND_EMAIL', { templateId: transactional }],
      },
    } as unknown as Parameters<typeof anAutomation>[2]);
    const [run] = await letIn(database.db, automation, [contact]);
    await advance(advanceDeps(database.db), run?.id ?? '', 0);
    const steps = await database.db.rows<{ output: { skipped?: string } }>(
      `select output from automation_step_runs where run_id = $1 and step_type = 'SEND_EMAIL' order by seq`,
      [run?.id],
    );
    expect(steps.map(({ output }) => output.skipped)).toEqual(['holdout', undefined, undefined]);
    await deliver('steps');
    expect(recipients().toSorted()).toEqual(['anna@example.com', 'sales@acme.test']);
  });

  test('of campaigns: the review counts it, the rows add up, and a resend leaves it out again', async () => {
    await holdout('PUT', { percent: 30 });
    const { held, others } = await bothKinds();
    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', from: project.sender, audienceType: 'ALL' };
    const id = (await call('POST', '/campaigns', draft)).body.data.id;
    const [one = ''] = held;
    const before = (await call('POST', '/explain', { contact: one, about: { campaignId: id } })).body;
    expect(before.decisions).toContainEqual(expect.objectContaining({ check: 'mail.holdout', outcome: 'stop' }));
    const found = await reviewed(database.db, worker, project, id);
    expect(found).toMatchObject({ audience: held.size + others.size, wouldSend: others.size });
    expect(found.leftOut).toEqual([{ reason: 'In the control group (holdout)', count: held.size }]);

    const send = async (campaign: string) => {
      expect((await call('POST', `/campaigns/${campaign}/send`, {})).status).toBe(200);
      const start = startOfSend({ id: campaign, projectId: project.id, name: 'News', sendSeq: 1 }, 'Birdwatch', 60);
      await worker.perform(start);
      await worker.result(start.id);
    };
    await send(id);
    expect(recipients().toSorted()).toEqual([...others].toSorted());
    expect(await campaignRow(database.db, id)).toMatchObject({
      status: 'SENT',
      total: 60,
      sent: others.size,
      skipped: held.size,
      failed: 0,
    });
    const skipped = (await call('GET', `/campaigns/${id}/recipients?verdict=skipped&limit=100`)).body;
    expect(skipped.data).toHaveLength(held.size);
    expect(new Set(skipped.data.map(({ reason }: { reason: string }) => reason))).toEqual(
      new Set(['In the control group (holdout)']),
    );
    expect((await call('GET', `/campaigns/${id}/audit`)).body).toMatchObject({ data: { addsUp: true } });

    const resend = await call('POST', `/campaigns/${id}/resend`, {});
    expect(resend.status, JSON.stringify(resend.body)).toBeLessThan(300);
    const second = resend.body.data.id;
    if ((await campaignRow(database.db, second)).status === 'DRAFT') await send(second);
    expect(recipients()).toHaveLength(others.size);

    const notice = (await call('POST', '/campaigns', { ...draft, type: 'TRANSACTIONAL' })).body.data.id;
    await send(notice);
    expect(await campaignRow(database.db, notice)).toMatchObject({ status: 'SENT', sent: 60, skipped: 0 });
  });
});
