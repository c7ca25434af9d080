import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { putContacts } from '../../support/contacts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { jobDone } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  // Every step is an activity of its own, so that shares are tested as well.
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
beforeEach(async () => {
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

/** Writes contacts `p0@…`, `p1@…`; every third one is not subscribed. Answers their ids in order. */
async function people(count: number, owner = project): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index) => ({
    newId: newId(),
    email: `p${index}@example.org`,
    subscribed: index % 3 !== 0,
  }));
  await putContacts(database.db, owner.id, rows);
  return rows.map((row) => row.newId);
}

async function run(operation: string, body: object) {
  const queued = await api.call(project.secretKey, 'POST', `/contacts/bulk-${operation}`, body);
  expect(queued.status).toBe(202);
  expect(queued.body).toEqual({
    message: expect.any(String),
    jobId: expect.stringMatching(new RegExp(`^bulk-${operation}-[0-9a-f-]{36}$`)),
  });
  return jobDone(api, project, `/contacts/bulk/${queued.body.jobId}`);
}

const events = (owner = project) =>
  database.db.rows<{ name: string; n: number }>(
    'select name, count(*)::int as n from events where project_id = $1 group by name order by name',
    [owner.id],
  );
const subscribedCount = async (owner = project) =>
  (await api.call(owner.secretKey, 'GET', '/contacts?subscribed=true')).body.total;

describe('by ids', () => {
  test('subscribes those that are not, says who was already and who is nobody, and tells each change once', async () => {
    const ids = await people(6);
    const neighbour = await aProject(database);
    const [foreign = ''] = await people(1, neighbour);
    const unknown = newId();
    const asked = [...ids.slice(0, 5), unknown, foreign, ids[0], ids[0]?.toUpperCase()];
    const job = await run('subscribe', { contactIds: asked });
    const error = 'No contact of this project has this id';
    expect(job).toEqual({
      id: job.id,
      state: 'completed',
      progress: 100,
      failedReason: null,
      data: {
        projectId: project.id,
        operation: 'subscribe',
        selector: { mode: 'ids', contactIds: [...ids.slice(0, 5), unknown, foreign] },
      },
      result: {
        operation: 'subscribe',
        totalRequested: 7,
        successCount: 2,
        unchangedCount: 3,
        failureCount: 2,
        errors: [unknown, foreign].map((contactId) => ({ contactId, email: null, error })),
        reasons: { [error]: 2 },
      },
    });
    expect(await events()).toEqual([{ name: 'contact.subscribed', n: 2 }]);
    expect(await events(neighbour)).toEqual([]);
    expect(await subscribedCount(neighbour)).toBe(0);
    const again = await run('subscribe', { contactIds: ids });
    expect(again.result).toMatchObject({ successCount: 0, unchangedCount: 6, failureCount: 0 });
    expect(await events()).toEqual([{ name: 'contact.subscribed', n: 2 }]);
  });

  test('unsubscribes a thousand', async () => {
    const ids = await people(1_000);
    const job = await run('unsubscribe', { mode: 'ids', contactIds: ids });
    expect(job.result).toMatchObject({ totalRequested: 1_000, successCount: 666, unchangedCount: 334 });
    expect(await events()).toEqual([{ name: 'contact.unsubscribed', n: 666 }]);
    expect(await subscribedCount()).toBe(0);
  });

  test('deletes without an event, in several steps', async () => {
    const ids = await people(500);
    await api.call(project.publicKey, 'POST', '/v1/track', { email: 'p7@example.org', event: 'purchase' });
    const job = await run('delete', { contactIds: ids.slice(0, 450) });
    expect(job.result).toMatchObject({ operation: 'delete', totalRequested: 450, successCount: 450, failureCount: 0 });
    expect((await api.call(project.secretKey, 'GET', '/contacts')).body.total).toBe(50);
    // Events stay until the contacts go for good; a deletion has none of its own.
    expect(await events()).toEqual([{ name: 'purchase', n: 1 }]);
    const again = await run('delete', { contactIds: ids.slice(448, 452) });
    expect(again.result).toMatchObject({ totalRequested: 4, successCount: 2, failureCount: 2 });
    expect(again.result.errors.map(({ contactId }: { contactId: string }) => contactId)).toEqual(ids.slice(448, 450));
  });
});

describe('by a query', () => {
  test('changes all that the filter leaves, but the excluded', async () => {
    const ids = await people(2_400);
    await people(5, await aProject(database));
    const excludeIds = ids.slice(1, 3);
    const job = await run('unsubscribe', {
      mode: 'query',
      filter: { search: 'P1', subscribed: true },
      excludeIds,
    });
    const meant = ids.filter((_, index) => `p${index}`.startsWith('p1') && index % 3 !== 0 && index !== 1);
    expect(job.result).toMatchObject({ totalRequested: meant.length, successCount: meant.length, unchangedCount: 0 });
    expect(job.data.selector).toEqual({ mode: 'query', filter: { search: 'P1', subscribed: true }, excludeIds });
    expect(await events()).toEqual([{ name: 'contact.unsubscribed', n: meant.length }]);
    expect(await subscribedCount()).toBe(1_600 - meant.length);
  });

  test('without a filter it means everybody', async () => {
    await people(1_050);
    const subscribe = await run('subscribe', { mode: 'query' });
    expect(subscribe.result).toMatchObject({ totalRequested: 1_050, successCount: 350, unchangedCount: 700 });
    const remove = await run('delete', { mode: 'query', filter: {} });
    expect(remove.result).toMatchObject({ totalRequested: 1_050, successCount: 1_050 });
    expect((await api.call(project.secretKey, 'GET', '/contacts')).body.total).toBe(0);
  });

  test('a search that can match nobody changes nobody', async () => {
    await people(3);
    const job = await run('delete', { mode: 'query', filter: { search: '%' } });
    expect(job.result).toMatchObject({ totalRequested: 0, successCount: 0 });
  });
});

describe('refusals', () => {
  const ids = (count: number) => Array.from({ length: count }, () => newId());
  test.each([
    ['nothing', {}, 'contactIds'],
    ['no ids', { contactIds: [] }, 'contactIds'],
    ['1,001 ids', { contactIds: ids(1_001) }, 'contactIds'],
    ['an id that is none', { contactIds: [...ids(1), 'nope'] }, 'contactIds.1'],
    ['another mode', { mode: 'all', contactIds: ids(1) }, 'mode'],
    ['a filter of the wrong kind', { mode: 'query', filter: { subscribed: 'yes' } }, 'filter.subscribed'],
    ['a search that is too long', { mode: 'query', filter: { search: 'x'.repeat(256) } }, 'filter.search'],
    ['10,001 exclusions', { mode: 'query', excludeIds: ids(10_001) }, 'excludeIds'],
  ])('%s is a bare 400 that names the place', async (_, body, place) => {
    for (const operation of ['subscribe', 'unsubscribe', 'delete']) {
      const answer = await api.call(project.secretKey, 'POST', `/contacts/bulk-${operation}`, body);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining(`"${place}"`) });
    }
    expect(await database.db.rows('select 1 from jobs where project_id = $1', [project.id])).toEqual([]);
  });

  test('a job of another project, or of another kind, is unknown', async () => {
    const [id] = await people(1);
    const job = await run('subscribe', { contactIds: [id] });
    const stranger = await aProject(database);
    for (const [key, path] of [
      [stranger.secretKey, `/contacts/bulk/${job.id}`],
      [project.secretKey, `/contacts/import/${job.id}`],
      [project.secretKey, '/contacts/bulk/nonsense'],
    ] as const) {
      const answer = await api.call(key, 'GET', path);
      expect([answer.status, answer.body]).toEqual([404, { error: expect.any(String) }]);
    }
  });
});
