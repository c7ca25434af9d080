import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { emptyTrash } from '../../../src/contacts/trash-queries.ts';
import { changeContacts } from '../../../src/imports/bulk.ts';
import { queueUndo } from '../../../src/imports/service.ts';
import { previewUndo } from '../../../src/imports/undo-preview.ts';
import type { Database } from '../../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { inFull } from '../../support/long.ts';
import { jobDone, uploaded } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  // Every step is an activity of its own, so that a job goes on from its row.
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

const call = (method: string, path: string, body?: object) => api.call(project.secretKey, method, path, body);

interface Person {
  id: string;
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
  updatedAt: string;
}
const contentOf = (persons: ReadonlyMap<string, Person>) =>
  [...persons.values()].map(({ id, email, subscribed, data }) => ({ id, email, subscribed, data }));
const people = async () =>
  new Map(
    (
      await database.db.rows<Person>(
        `select id, email, subscribed, data, to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
         from contacts where project_id = $1 order by email`,
        [project.id],
      )
    ).map((person) => [person.email, person]),
  );

async function imported(rows: readonly string[]): Promise<string> {
  const id = await uploaded(api, project, ['email,plan,city,subscribed', ...rows].join('\n'));
  expect((await jobDone(api, project, `/contacts/import/${id}`)).state).toBe('completed');
  return id;
}

/** Asks again while the count is unfinished, as clients do: each request goes on where the one before stopped. */
async function askedUntilCounted(path: string, body: object) {
  for (;;) {
    const answer = await call('POST', path, body);
    if (answer.body.error?.code !== 'PREVIEW_UNFINISHED') return answer;
  }
}

async function undone(kind: 'import' | 'bulk', jobId: string, body: object = {}) {
  const path = `/contacts/${kind}/${jobId}/undo`;
  const dry = await askedUntilCounted(path, { ...body, dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { jobId: null } });
  const answer = await askedUntilCounted(path, body);
  expect(answer.status).toBe(202);
  expect({ ...answer.body, jobId: null }).toEqual(dry.body);
  const done = await jobDone(api, project, `/contacts/bulk/${answer.body.jobId}`);
  expect(done).toMatchObject({ state: 'completed', result: { operation: 'undo', failureCount: 0 } });
  expect(done.result.successCount).toBe(answer.body.deletes + answer.body.restores);
  return answer.body;
}

const email = (n: number) => `p${n}@example.org`;

/** Numbers that look random and are the same in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const rows = inFull(10_000, 400);
const edits = inFull(150, 40);

test('an import is taken back after random changes, but for what is named, and the undo as well', async () => {
  const random = randomNumbers(11);
  await database.db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select gen_random_uuid(), $1, 'p' || n || '@example.org', n % 3 <> 0, jsonb_build_object('plan', 'free', 'kept', n)
     from generate_series(0, $2::int / 2 - 1) as n`,
    [project.id, rows],
  );
  const before = await people();
  const jobId = await imported(
    Array.from(
      { length: rows },
      (_, n) => `${email(n)},pro,${n % 2 === 0 ? 'Turin' : ''},${n % 5 === 0 ? 'false' : ''}`,
    ),
  );
  const after = await people();
  expect(after.size).toBe(rows);
  // What somebody does meanwhile: another field, the same field, the same value once more, the field removed, the contact deleted.
  const [plans, touched, gone] = [new Map<string, unknown>(), new Set<string>(), new Set<string>()];
  for (let round = 0; round < edits; round++) {
    const address = email(random(rows));
    if (gone.has(address)) continue;
    const { id } = after.get(address) as Person;
    const kind = random(5);
    const data = [{ note: round }, { plan: `own ${round}` }, { plan: 'pro' }, { plan: null }][kind];
    if (data === undefined) {
      gone.add(address);
      await call('DELETE', `/contacts/${id}?restorable=true`);
      continue;
    }
    const { status, body } = await call('PATCH', `/contacts/${id}`, { data });
    expect(status).toBe(200);
    if (body.updatedAt !== after.get(address)?.updatedAt) touched.add(address);
    if ('plan' in data) plans.set(address, data.plan);
  }
  const edited = await people();
  const isConflict = (address: string) => plans.has(address) && plans.get(address) !== 'pro';

  const told = await undone('import', jobId);
  const now = await people();
  for (const [address, person] of edited) {
    const was = before.get(address);
    const is = now.get(address);
    if (was === undefined) {
      // Created by the import: gone unless something happened since, and then as it is.
      expect([address, is?.data]).toEqual([address, touched.has(address) ? person.data : undefined]);
      continue;
    }
    const { note, plan } = person.data;
    const { plan: former, ...others } = was.data;
    const kept = isConflict(address) ? plan : former;
    expect([address, is?.subscribed, is?.data]).toEqual([
      address,
      was.subscribed,
      {
        ...others,
        ...(note === undefined ? {} : { note }),
        ...(kept === undefined || kept === null ? {} : { plan: kept }),
      },
    ]);
  }
  const isThere = (address: string) => !gone.has(address);
  const created = [...after.keys()].filter((address) => !before.has(address) && isThere(address));
  const touchedNew = created.filter((address) => touched.has(address)).length;
  const conflicts = [...plans.keys()].filter(
    (address) => before.has(address) && isThere(address) && isConflict(address),
  );
  expect(told).toMatchObject({
    deletes: created.length - touchedNew,
    conflicts: [{ key: 'plan', count: conflicts.length }],
    keeps: [{ reason: 'changed since', count: touchedNew }],
  });
  // Undone once more, nothing is left to do.
  expect((await call('POST', `/contacts/import/${jobId}/undo`, { dryRun: true })).body).toMatchObject({
    deletes: 0,
    restores: 0,
  });

  const again = await undone('bulk', told.jobId);
  expect(again).toMatchObject({ deletes: 0, restores: told.restores + told.deletes, conflicts: [], keeps: [] });
  expect(contentOf(await people())).toEqual(contentOf(edited));
});

test('an undo that is cut off in the middle of a step goes on where its row stands', async () => {
  await call('POST', '/contacts', { email: email(0), data: { plan: 'free' } });
  const before = await people();
  const jobId = await imported(Array.from({ length: 1_500 }, (_, n) => `${email(n)},pro,Turin,`));
  const body = { dryRun: false, conflicts: 'keep' as const };
  // Nobody starts its execution, so that the work can be called here.
  const { reply } = await queueUndo(database.db, project.id, { kind: 'import', jobId }, body, 90);
  const share = { stop: new AbortController().signal, longestMs: 600_000, onStep: () => undefined };
  let transactions = 0;
  const killed: Database = {
    ...database.db,
    transaction: (work) =>
      database.db.transaction(async (tx) => {
        const done = await work(tx);
        if (++transactions === 3) throw new Error('killed');
        return done;
      }),
  };
  await expect(changeContacts(killed, reply.jobId ?? '', share)).rejects.toThrow('killed');
  expect((await people()).size).toBeGreaterThan(1);
  const report = await changeContacts(database.db, reply.jobId ?? '', share);
  expect(report).toMatchObject({ state: 'finished', rows: 1_500, failed: 0 });
  expect(contentOf(await people())).toEqual(contentOf(before));
});

test('a preview that takes longer than a request goes on with the next one, and comes to the same', async () => {
  await call('POST', '/contacts', { email: email(0), data: { plan: 'free' } });
  const jobId = await imported(Array.from({ length: 250 }, (_, n) => `${email(n)},pro,Turin,`));
  const { id } = (await people()).get(email(0)) as Person;
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'team' } });
  const undone = { projectId: project.id, jobId, restoresConflicts: false };
  const whole = await previewUndo(database.db, undone);
  expect(whole).toMatchObject({ deletes: 249, restores: 1, conflicts: [{ key: 'plan', count: 1 }] });
  const hasty = () => previewUndo(database.db, undone, { longestMs: 0, page: 100 });
  await expect(hasty()).rejects.toMatchObject({
    status: 409,
    code: 'PREVIEW_UNFINISHED',
    extra: { details: { contacts: 100 } },
  });
  await expect(hasty()).rejects.toMatchObject({ extra: { details: { contacts: 200 } } });
  await expect(hasty()).rejects.toMatchObject({ extra: { details: { contacts: 250 } } });
  expect(await hasty()).toEqual(whole);
  // What took so long is not counted again by the undo itself, and afterwards it is out of date.
  const { body } = await call('POST', `/contacts/import/${jobId}/undo`, {});
  expect(body).toMatchObject(whole);
  await expect(hasty()).rejects.toMatchObject({ extra: { details: { contacts: 100 } } });
  await jobDone(api, project, `/contacts/bulk/${body.jobId}`);
});

test('conflicts are restored where that is asked for', async () => {
  await call('POST', '/contacts', { email: email(1), data: { plan: 'free' } });
  const jobId = await imported([`${email(1)},pro,Turin,`]);
  const { id } = (await people()).get(email(1)) as Person;
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'team' } });
  await undone('import', jobId, { conflicts: 'restore' });
  expect((await people()).get(email(1))?.data).toEqual({ plan: 'free' });
});

test('a subscription goes back only where nobody has decided since and the mail did not bounce', async () => {
  const ids: string[] = [];
  for (const n of [1, 2, 3]) ids.push((await call('POST', '/contacts', { email: email(n), subscribed: true })).body.id);
  const [, own = '', bounced = ''] = ids;
  const { jobId } = (await call('POST', '/contacts/bulk-unsubscribe', { contactIds: ids })).body;
  await jobDone(api, project, `/contacts/bulk/${jobId}`);
  await call('PATCH', `/contacts/${own}`, { subscribed: true });
  await call('PATCH', `/contacts/${own}`, { subscribed: false });
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, subject, bounced_at)
     values (gen_random_uuid(), $1, $2, 'x@example.org', 'a@example.org', 'TRANSACTIONAL', 'TRANSACTIONAL', 'BOUNCED', 'Hello', now())`,
    [project.id, bounced],
  );
  expect(await undone('bulk', jobId)).toMatchObject({
    restores: 1,
    keeps: [
      { reason: 'bounced or complained', count: 1 },
      { reason: 'subscription changed since', count: 1 },
    ],
  });
  expect([...(await people()).values()].map(({ subscribed }) => subscribed)).toEqual([true, false, false]);
  const events = await database.db.rows(
    `select contact_id, data from events where project_id = $1 and name = 'contact.subscribed' and data is not null`,
    [project.id],
  );
  expect(events).toEqual([{ contact_id: ids[0], data: { reason: 'undo' } }]);
});

test('created contacts with mail, events or a segment stay, and who came back elsewhere keeps the address', async () => {
  const jobId = await imported([1, 2, 3].map((n) => `${email(n)},pro,,`));
  await api.call(project.publicKey, 'POST', '/v1/track', { email: email(1), event: 'login' });
  const segment = (await call('POST', '/segments', { name: 'Guests', type: 'STATIC' })).body;
  await call('POST', `/segments/${segment.id}/members`, { emails: [email(2)] });
  const told = await undone('import', jobId);
  expect(told).toMatchObject({
    deletes: 1,
    keeps: [
      { reason: 'has events', count: 1 },
      { reason: 'was added to a segment', count: 1 },
    ],
  });
  await call('POST', '/contacts', { email: email(3) });
  expect((await call('POST', `/contacts/bulk/${told.jobId}/undo`, { dryRun: true })).body).toMatchObject({
    restores: 0,
    keeps: [{ reason: 'address is taken', count: 1 }],
  });
  await database.db.count(`update contacts_trash set deleted_at = now() - interval '8 days' where project_id = $1`, [
    project.id,
  ]);
  expect(await emptyTrash(database.db, 100)).toBe(1);
});

test('what the job itself did to the contacts it created does not keep them: a segment, and subscriptions of repeated addresses', async () => {
  const form = new FormData();
  form.set(
    'file',
    new Blob([`email,subscribed\n${email(1)},yes\n${email(1)},no\n${email(2)},\n${email(3)},no\n${email(3)},yes\n`]),
    'list.csv',
  );
  form.set('segmentName', 'Fair');
  const headers = { Authorization: `Bearer ${project.secretKey}` };
  const started = await fetch(`${api.url}/contacts/import`, { method: 'POST', headers, body: form });
  const { jobId } = await started.json();
  const job = await jobDone(api, project, `/contacts/import/${jobId}`);
  expect(job.result).toMatchObject({ createdCount: 3, updatedCount: 2 });
  const flips = `select 1 from events where project_id = $1 and name like 'contact.%subscribed'`;
  expect(await database.db.rows(flips, [project.id])).toHaveLength(2);
  // Somebody else's change of a subscription does keep the contact.
  const kept = (await people()).get(email(3))?.id;
  await call('PATCH', `/contacts/${kept}`, { subscribed: false });
  await call('PATCH', `/contacts/${kept}`, { subscribed: true });
  expect(await undone('import', jobId)).toMatchObject({ deletes: 2, keeps: [{ reason: 'changed since', count: 1 }] });
  expect([...(await people()).keys()]).toEqual([email(3)]);
});

test('is refused for jobs of others, for those that run and for those too long ago', async () => {
  const undo = (job: string) => call('POST', `/contacts/import/${job}/undo`, {});
  const old = await imported([`${email(2)},pro,,`]);
  await database.db.count(`update jobs set created_at = now() - interval '91 days' where id = $1`, [old]);
  expect(await undo(old)).toMatchObject({ status: 410, body: { error: { code: 'TOO_LATE' } } });
  await database.db.count(`update jobs set state = 'active', created_at = now() where id = $1`, [old]);
  expect(await undo(old)).toMatchObject({ status: 409 });
  project = await aProject(database);
  expect(await undo(old)).toMatchObject({ status: 404 });
});

test('what has been undone is not undone a second time, and its undo can be', async () => {
  const jobId = await imported([1, 2].map((n) => `${email(n)},pro,,`));
  const first = await undone('import', jobId);
  expect(await askedUntilCounted(`/contacts/import/${jobId}/undo`, {})).toMatchObject({
    status: 409,
    body: {
      error: { message: expect.stringContaining('nothing is left to undo'), details: { undoneBy: first.jobId } },
    },
  });
  expect((await askedUntilCounted(`/contacts/import/${jobId}/undo`, { dryRun: true })).status).toBe(200);
  expect(await undone('bulk', first.jobId)).toMatchObject({ restores: 2 });
});
