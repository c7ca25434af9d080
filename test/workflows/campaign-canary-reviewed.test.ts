import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { campaignActivitiesFor, contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

// A launch of what was reviewed, whose first slice goes alone: the canary is chosen among those whom the drift lets in.
let database: TestDatabase;
let mailer: FakeMailer;
let worker: TestWorker;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  mailer = new FakeMailer({ name: 'reviewed-canary' });
  worker = await testWorker({ activities: campaignActivitiesFor(database.db, mailer), queues: ['campaign'] });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  await contacts(database.db, project.id, 40);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const now = async (id: string) => (await call('GET', `/campaigns/${id}`)).body.data;
const change = (statement: string) => database.db.count(statement, [project.id]);
const mailed = () =>
  mailer.sent
    .filter(({ projectId }) => projectId === project.id)
    .map(({ to }) => to.address)
    .sort();

async function reviewed(sample: number | 'all' = 'all') {
  const made = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave',
    body: '<p>Dear {{firstName ?? friend}}, look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = made.body.data;
  expect((await call('POST', `/campaigns/${id}/dry-run`, { sample })).status).toBe(202);
  const report = async () => (await call('GET', `/campaigns/${id}/dry-runs/latest`)).body.data;
  await expect.poll(async () => (await report()).state).toBe('DONE');
  return { id, fingerprint: (await report()).fingerprint as string };
}

/** The addresses of lowest sha256(campaign, contact) among these. */
async function lowest(campaign: string, addresses: readonly string[], count: number): Promise<string[]> {
  const rows = await database.db.rows<{ id: string; email: string }>(
    'select id, email from contacts where project_id = $1 and email = any($2)',
    [project.id, addresses],
  );
  const key = (contact: string) =>
    createHash('sha256')
      .update(Buffer.from(`${campaign}${contact}`.replaceAll('-', ''), 'hex'))
      .digest('hex');
  rows.sort((a, b) => (key(a.id) < key(b.id) ? -1 : 1));
  return rows
    .slice(0, count)
    .map(({ email }) => email)
    .sort();
}
const joins = () =>
  change(`insert into contacts (id, project_id, email, subscribed, data)
    values (uuidv7(), $1, 'late@example.com', true, '{}')`);
const unsubscribes = (n: number) =>
  change(`update contacts set subscribed = false where project_id = $1 and email = 'watcher-${n}@example.com'`);
const watchers = (...without: number[]) =>
  Array.from({ length: 40 }, (_, index) => index + 1)
    .filter((n) => !without.includes(n))
    .map((n) => `watcher-${n}@example.com`);

describe.each([
  [
    'none',
    async () => {
      await joins();
      await unsubscribes(3);
      await change(`delete from contacts where project_id = $1 and email = 'watcher-4@example.com'`);
    },
    watchers(3, 4),
  ],
  ['fewer', () => unsubscribes(3), watchers(3)],
  [
    0.1,
    async () => {
      await joins();
      await unsubscribes(3);
    },
    [...watchers(3), 'late@example.com'],
  ],
] as const)('a canary with drift %s', (drift, happens, recipients) => {
  test('is the lowest of those who get the campaign, and everybody else follows once', async () => {
    const { id, fingerprint } = await reviewed();
    await happens();
    const canary = { recipients: 10, hold: '1h', stopIf: { bounceRate: 10 }, minDelivered: 0 };
    const sent = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift, canary });
    expect(sent.status).toBe(200);
    await expect.poll(async () => (await now(id)).canary.state).toBe('HOLDING');
    const slice = mailed();
    expect(slice).toEqual(await lowest(id, recipients, 10));
    expect((await now(id)).canary.counts).toMatchObject({ pending: 0, mailed: 10 });
    expect((await call('POST', `/campaigns/${id}/canary/continue`)).status).toBe(200);
    await expect.poll(async () => (await now(id)).status).toBe('SENT');
    expect(mailed()).toEqual([...recipients].sort());
    const { body } = await call('GET', `/campaigns/${id}/audit`);
    expect(body.data).toMatchObject({ addsUp: true, handedOver: recipients.length });
  });

  test('of which too little is delivered keeps the campaign from everybody else', async () => {
    const { id, fingerprint } = await reviewed(5);
    await happens();
    const canary = { recipients: 10, hold: '2s', stopIf: { bounceRate: 10 }, minDelivered: 10 };
    expect((await call('POST', `/campaigns/${id}/send`, { fingerprint, drift, canary })).status).toBe(200);
    await expect.poll(async () => (await now(id)).canary.state).toBe('STOPPED');
    expect(await now(id)).toMatchObject({ status: 'SENDING', pauseReason: 'canary_too_few_delivered' });
    expect(mailed()).toEqual(await lowest(id, recipients, 10));
  });
});

test('a canary is measured by those whom the drift lets in, and is none where they are no more than it', async () => {
  const { id, fingerprint } = await reviewed();
  await change(
    `update contacts set subscribed = false where project_id = $1 and substring(email from '[0-9]+')::int > 10`,
  );
  const canary = { recipients: 10, hold: '1h', minDelivered: 5 };
  const refused = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift: 'none', canary });
  expect([refused.status, refused.body.error.details]).toMatchObject([400, { recipients: 10 }]);
  const smaller = await call('POST', `/campaigns/${id}/send`, {
    fingerprint,
    drift: 'none',
    canary: { ...canary, recipients: 9 },
    scheduledFor: new Date(Date.now() + 3_600_000).toISOString(),
  });
  expect(smaller.status).toBe(200);
  // By the time it begins, one more has left, so that the slice would be everybody.
  await unsubscribes(1);
  const dueNow = { fingerprint, drift: 'none', scheduledFor: new Date(Date.now() + 1_500).toISOString() };
  expect((await call('POST', `/campaigns/${id}/send`, dueNow)).status).toBe(200);
  await expect.poll(async () => (await now(id)).status).toBe('SENT');
  expect(mailed()).toHaveLength(9);
  expect((await now(id)).canary).toMatchObject({ state: 'PASSED', counts: { mailed: 0 } });
});
