import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contactTotals, foldContactChanges } from '../../../src/contacts/catalogue-queries.ts';
import { emptyTrash } from '../../../src/contacts/trash-queries.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { dataIs } from '../../support/segments.ts';
import { jobDone, uploaded } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;
let own: AutomationHand;

beforeAll(async () => {
  database = await testDatabase();
  // Every step is an activity of its own, so that a job goes on from its row.
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
beforeEach(async () => {
  project = await aProject(database);
  own = automationHand(api, project);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

const call = (method: string, path: string, body?: object) => api.call(project.secretKey, method, path, body);
const email = (n: number) => `p${n}@example.org`;

async function person(n: number, data: Record<string, unknown> = { plan: 'pro' }): Promise<string> {
  return (await call('POST', '/contacts', { email: email(n), subscribed: true, data })).body.id;
}

async function deleted(body: object): Promise<string> {
  const { jobId } = (await call('POST', '/contacts/bulk-delete', body)).body;
  expect(await jobDone(api, project, `/contacts/bulk/${jobId}`)).toMatchObject({ state: 'completed' });
  return jobId;
}

async function undone(jobId: string) {
  const dry = await call('POST', `/contacts/bulk/${jobId}/undo`, { dryRun: true });
  const answer = await call('POST', `/contacts/bulk/${jobId}/undo`, {});
  expect([dry.status, answer.status]).toEqual([200, 202]);
  expect({ ...answer.body, jobId: null }).toEqual(dry.body);
  const done = await jobDone(api, project, `/contacts/bulk/${answer.body.jobId}`);
  expect(done).toMatchObject({ state: 'completed', result: { failureCount: 0 } });
  expect(done.result.successCount).toBe(answer.body.deletes + answer.body.restores);
  return answer.body;
}

/** Rows of every table that belong to a contact, without what a deletion and its undo are to change. */
async function everythingOf(id: string) {
  const rows = (text: string) => database.db.rows(text, [id]);
  return {
    contact: await rows('select id, email, subscribed, data, created_at from contacts where id = $1'),
    memberships: await rows(
      'select segment_id, entered_at, exited_at from segment_memberships where contact_id = $1 order by 1',
    ),
    mail: await rows('select id, status, subject from emails where contact_id = $1 order by id'),
    events: await rows('select id, name, data from events where contact_id = $1 order by id'),
    entries: await rows('select automation_id, last_entry from automation_entries where contact_id = $1 order by 1'),
  };
}

const inTrash = (id: string) => database.db.rows('select id from contacts_trash where id = $1', [id]);

async function mail(contactId: string, status: string, subject: string): Promise<string> {
  const id = randomUUID();
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, subject, sent_at)
     values ($1, $2, $3, 'p1@example.org', 'a@example.org', 'TRANSACTIONAL', 'TRANSACTIONAL', $4, $5,
       case when $4 <> 'PENDING' then now() end)`,
    [id, project.id, contactId, status, subject],
  );
  return id;
}

async function aWorkflow(contactId: string) {
  const { id } = await own.automation({ name: 'Welcome', allowReentry: false });
  await own.step(id, 'DELAY', { amount: 2, unit: 'days' }, { name: 'Wait' });
  await own.enable(id);
  const run = await own.call('POST', `/workflows/${id}/executions`, { contactId });
  expect(run.status).toBe(201);
  return { id, run: run.body.id as string };
}

test('a bulk delete and its undo leave a contact as it was, with its memberships, mail, events and entries', async () => {
  const id = await person(1);
  const stays = await person(2);
  const guests = (await call('POST', '/segments', { name: 'Guests', type: 'STATIC' })).body;
  await call('POST', `/segments/${guests.id}/members`, { emails: [email(1), email(2)] });
  const condition = { logic: 'AND', groups: [{ filters: [dataIs('plan', 'pro')] }] };
  const pro = (await call('POST', '/segments', { name: 'Pro', type: 'DYNAMIC', condition, trackMembership: true }))
    .body;
  await call('POST', `/segments/${pro.id}/compute`);
  await api.call(project.publicKey, 'POST', '/v1/track', { email: email(1), event: 'login', data: { from: 'app' } });
  const letter = await mail(id, 'SENT', 'Hello');
  const { id: workflow, run } = await aWorkflow(id);
  const before = await everythingOf(id);
  expect(before).toMatchObject({ memberships: [{}, {}], mail: [{}], entries: [{ last_entry: 1 }] });
  const waiting = await mail(id, 'PENDING', 'Never sent');
  await foldContactChanges(database.db, project.id);
  const totals = await contactTotals(database.db, project.id);
  const fields = (await call('GET', '/contacts/fields')).body;

  const jobId = await deleted({ contactIds: [id] });
  expect((await call('GET', `/contacts/${id}`)).status).toBe(404);
  expect((await call('GET', `/segments/${guests.id}/contacts`)).body.total).toBe(1);
  expect(await contactTotals(database.db, project.id)).toEqual({ contacts: 1, subscribed: 1 });
  // What is there of the contact is still shown; what would have been sent to it is gone.
  expect((await call('GET', `/emails/${letter}`)).body).toMatchObject({ subject: 'Hello' });
  expect((await call('GET', `/emails/${waiting}`)).status).toBe(404);
  const [login] = (await call('GET', '/events?eventName=login')).body.events;
  expect(login).toMatchObject({ contactId: id, contact: { email: email(1) } });
  expect((await call('GET', `/workflows/${workflow}/executions/${run}`)).body).toMatchObject({
    status: 'CANCELLED',
    exitReason: 'Contact deleted',
    contact: { email: email(1) },
  });
  const outbox = await database.db.rows<{ kind: string }>(
    'select kind from outbox where workflow_id = $1 order by id',
    [`automation/${workflow}/${id}/1`],
  );
  expect(outbox.map(({ kind }) => kind)).toEqual(['start', 'cancel']);

  expect(await undone(jobId)).toMatchObject({ deletes: 0, restores: 1, conflicts: [], keeps: [] });
  expect(await everythingOf(id)).toEqual(before);
  expect(await inTrash(id)).toEqual([]);
  expect(await contactTotals(database.db, project.id)).toEqual(totals);
  expect((await call('GET', '/contacts/fields')).body).toEqual(fields);
  expect((await call('GET', `/segments/${guests.id}/contacts`)).body.total).toBe(2);
  // Nothing of it enters again: neither the segment, whose members are as they were, nor the workflow.
  expect((await call('POST', `/segments/${pro.id}/compute`)).body).toMatchObject({ added: 0, removed: 0, total: 2 });
  expect((await own.call('POST', `/workflows/${workflow}/executions`, { contactId: id })).status).toBe(409);
  expect(await everythingOf(id)).toEqual(before);
  expect(stays).not.toBe(id);
});

test('the history goes on over a deletion and its undo, and says who did both', async () => {
  const id = await person(1, { plan: 'free' });
  // Not folded yet when the contact is deleted.
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'pro' } });
  const jobId = await deleted({ contactIds: [id] });
  const [gone] = await database.db.rows<{ at: string }>('select clock_timestamp()::text as at');
  const { jobId: undo } = await undone(jobId);
  const history = (await call('GET', `/contacts/${id}/history`)).body.data;
  expect(history).toMatchObject([
    { kind: 'restored', created: false, cause: { type: 'undo', id: undo, by: { kind: 'key' } }, before: {}, after: {} },
    { kind: 'deleted', created: false, cause: { type: 'bulk', id: jobId, by: { kind: 'key' } }, subscribed: null },
    { kind: 'changed', before: { plan: 'free' }, after: { plan: 'pro' } },
    { kind: 'created', created: true, after: { plan: 'free' } },
  ]);
  const at = (instant: string) => call('GET', `/contacts/${id}?at=${encodeURIComponent(instant)}`);
  expect((await at(history[2].at)).body.data).toEqual({ plan: 'pro' });
  expect((await at(new Date(gone?.at ?? '').toISOString())).status).toBe(404);
});

test('who unsubscribed, bounced or complained while deleted is not subscribed when restored', async () => {
  const [left, bounced, stays] = [await person(1), await person(2), await person(3)];
  const letter = await mail(bounced, 'SENT', 'Hello');
  await mail(stays, 'SENT', 'Hello');
  const jobId = await deleted({ contactIds: [left, bounced, stays] });
  expect((await api.call('', 'POST', `/contacts/public/${left}/unsubscribe`)).status).toBe(200);
  expect((await api.call('', 'GET', `/contacts/public/${left}`)).body).toMatchObject({ subscribed: false });
  await database.db.count(`update emails set status = 'BOUNCED', bounced_at = now() where id = $1`, [letter]);
  await undone(jobId);
  const rows = await database.db.rows('select id, subscribed from contacts where project_id = $1 order by email', [
    project.id,
  ]);
  expect(rows).toEqual([
    { id: left, subscribed: false },
    { id: bounced, subscribed: false },
    { id: stays, subscribed: true },
  ]);
  const flips = await database.db.rows(
    `select contact_id, data from events where project_id = $1 and name = 'contact.unsubscribed'`,
    [project.id],
  );
  expect(flips).toEqual([{ contact_id: bounced, data: { reason: 'undo' } }]);
});

test('an address that is taken stays deleted, is named, and comes back once it is free', async () => {
  const ids = [await person(1), await person(2)];
  const jobId = await deleted({ mode: 'query', filter: {} });
  const taker = await person(1);
  expect(await undone(jobId)).toMatchObject({ restores: 1, keeps: [{ reason: 'address is taken', count: 1 }] });
  expect((await call('GET', `/contacts/${ids[1]}`)).status).toBe(200);
  await call('DELETE', `/contacts/${taker}`);
  expect(await undone(jobId)).toMatchObject({ restores: 1, keeps: [] });
  expect((await call('GET', `/contacts/${ids[0]}`)).status).toBe(200);
});

test('the undo of a bulk delete can be undone, but for who did something since', async () => {
  const [idle, active] = [await person(1), await person(2)];
  await mail(idle, 'SENT', 'From before');
  await api.call(project.publicKey, 'POST', '/v1/track', { email: email(1), event: 'login' });
  const back = await undone(await deleted({ contactIds: [idle, active] }));
  await api.call(project.publicKey, 'POST', '/v1/track', { email: email(2), event: 'login' });
  const again = await undone(back.jobId);
  expect(again).toMatchObject({ deletes: 1, restores: 0, keeps: [{ reason: 'has events', count: 1 }] });
  expect((await call('GET', `/contacts/${idle}`)).status).toBe(404);
  expect(await undone(again.jobId)).toMatchObject({ deletes: 0, restores: 1 });
  expect((await everythingOf(idle)).mail).toHaveLength(1);
});

test('after seven days contacts go for good, in batches, and the undo is refused', async () => {
  const ids = await Promise.all(Array.from({ length: 450 }, (_, n) => person(n)));
  const [first = ''] = ids;
  await mail(first, 'SENT', 'Hello');
  await api.call(project.publicKey, 'POST', '/v1/track', { email: email(0), event: 'login' });
  await aWorkflow(first);
  const jobId = await deleted({ contactIds: ids });
  await foldContactChanges(database.db, project.id);
  expect(await emptyTrash(database.db, 5_000)).toBe(0);
  await database.db.count(`update contacts_trash set deleted_at = deleted_at - interval '8 days' where job_id = $1`, [
    jobId,
  ]);
  expect(await emptyTrash(database.db, 300)).toBe(300);
  expect(await emptyTrash(database.db, 5_000)).toBe(150);
  expect(await everythingOf(first)).toEqual({ contact: [], memberships: [], mail: [], events: [], entries: [] });
  for (const table of ['contact_history', 'automation_runs', 'contacts_trash'])
    expect(await database.db.rows(`select 1 from ${table} where project_id = $1`, [project.id])).toEqual([]);
  await database.db.count(`update jobs set created_at = created_at - interval '8 days' where id = $1`, [jobId]);
  expect(await call('POST', `/contacts/bulk/${jobId}/undo`, { dryRun: true })).toMatchObject({
    status: 410,
    body: { error: { code: 'TOO_LATE' } },
  });
});

test('lists jobs with what they did, who asked, and until when they can be undone', async () => {
  const file = await uploaded(api, project, `email,plan\n${email(1)},pro\n${email(2)},pro`);
  await jobDone(api, project, `/contacts/import/${file}`);
  const jobId = await deleted({ mode: 'query', filter: { search: email(1) } });
  const { jobId: undo } = await undone(jobId);
  const day = 86_400_000;
  const jobs = (await call('GET', '/contacts/jobs')).body;
  expect(jobs).toMatchObject({
    cursor: null,
    data: [
      { id: undo, kind: 'bulk', operation: 'undo', undoes: jobId, undoneBy: null, counts: { total: 1, updated: 1 } },
      { id: jobId, operation: 'delete', undoneBy: undo, undoUntil: null, by: { kind: 'key' } },
      { id: file, kind: 'import', operation: 'import', filename: 'list.csv', counts: { created: 2 }, undoes: null },
    ],
  });
  const [last, , first] = jobs.data;
  expect(Date.parse(last.undoUntil) - Date.parse(last.createdAt)).toBe(90 * day);
  expect(Date.parse(first.undoUntil) - Date.parse(first.createdAt)).toBe(90 * day);
  const page = (await call('GET', '/contacts/jobs?limit=2')).body;
  expect(page.data).toEqual(jobs.data.slice(0, 2));
  expect((await call('GET', `/contacts/jobs?limit=2&cursor=${page.cursor}`)).body).toEqual({
    data: jobs.data.slice(2),
    cursor: null,
  });
  expect((await call('GET', '/contacts/jobs?cursor=nonsense')).status).toBe(400);
  const deletion = await deleted({ mode: 'query' });
  const [latest] = (await call('GET', '/contacts/jobs?limit=1')).body.data;
  expect(latest).toMatchObject({ id: deletion, counts: { total: 2 } });
  expect(Date.parse(latest.undoUntil) - Date.parse(latest.createdAt)).toBe(7 * day);
});

describe('one contact', () => {
  const remove = (id: string, query = '?restorable=true') => call('DELETE', `/contacts/${id}${query}`);
  const restore = (id: string) => call('POST', `/contacts/${id}/restore`);

  test('is restored as it was, with a history that names who deleted and restored it', async () => {
    const id = await person(1);
    const guests = (await call('POST', '/segments', { name: 'Guests', type: 'STATIC' })).body;
    await call('POST', `/segments/${guests.id}/members`, { emails: [email(1)] });
    await api.call(project.publicKey, 'POST', '/v1/track', { email: email(1), event: 'login' });
    await mail(id, 'SENT', 'Hello');
    const before = await everythingOf(id);
    expect((await remove(id)).status).toBe(204);
    expect((await call('GET', `/contacts/${id}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    expect(await restore(id)).toMatchObject({ status: 200, body: { id, email: email(1), subscribed: true } });
    expect(await everythingOf(id)).toEqual(before);
    expect((await restore(id)).status).toBe(404);
    const history = (await call('GET', `/contacts/${id}/history`)).body.data;
    expect(history).toMatchObject([
      { kind: 'restored', cause: { type: 'contact', by: { kind: 'key' } } },
      { kind: 'deleted', cause: { type: 'contact', by: { kind: 'key' } } },
      { kind: 'created' },
    ]);
    expect((await contactTotals(database.db, project.id)).contacts).toBe(1);
  });

  test('is gone at once where nobody asked to keep it, and for others', async () => {
    const [id, kept] = [await person(1), await person(2)];
    await remove(id, '');
    expect((await restore(id)).status).toBe(404);
    await remove(kept);
    const stranger = await aProject(database);
    expect((await api.call(stranger.secretKey, 'POST', `/contacts/${kept}/restore`)).status).toBe(404);
    expect((await restore(kept)).status).toBe(200);
  });

  test('whose address is taken stays in the trash, and a contact of a job comes back alone', async () => {
    const id = await person(1);
    await remove(id);
    const taker = await person(1);
    expect(await restore(id)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    await remove(taker, '');
    expect((await restore(id)).status).toBe(200);
    const other = await person(2);
    const jobId = await deleted({ contactIds: [id, other] });
    expect((await restore(other)).status).toBe(200);
    expect(await undone(jobId)).toMatchObject({ restores: 1 });
    expect((await restore(id)).status).toBe(404);
  });
});

test('contacts in the trash are kept to the last moment of their week, and the offer to undo ends with it', async () => {
  const ids = [await person(1), await person(2)];
  const jobId = await deleted({ contactIds: ids });
  const shift = (table: string, column: string, where: string, by: string) =>
    database.db.count(
      `update ${table} set ${column} = now() - make_interval(days => 7) + $2::interval where ${where} = $1`,
      [jobId, by],
    );
  // A minute before the end of the week both are still there; a moment after it both are gone.
  await shift('contacts_trash', 'deleted_at', 'job_id', '1 minute');
  await shift('jobs', 'created_at', 'id', '1 minute');
  expect(await emptyTrash(database.db, 100)).toBe(0);
  expect((await call('POST', `/contacts/bulk/${jobId}/undo`, { dryRun: true })).body).toMatchObject({ restores: 2 });
  expect((await call('GET', '/contacts/jobs')).body.data[0].undoUntil).not.toBeNull();
  // The job was asked for before its contacts were deleted: when it can no longer be undone they may still be there.
  await shift('jobs', 'created_at', 'id', '-1 second');
  expect((await call('POST', `/contacts/bulk/${jobId}/undo`, { dryRun: true })).status).toBe(410);
  expect((await call('GET', '/contacts/jobs')).body.data[0].undoUntil).toBeNull();
  expect(await emptyTrash(database.db, 100)).toBe(0);
  await shift('contacts_trash', 'deleted_at', 'job_id', '-1 second');
  expect(await emptyTrash(database.db, 100)).toBe(2);
});

test('a full catalogue of fields takes back what was there before', async () => {
  const id = await person(1, { plan: 'pro', shoe: 44 });
  await call('DELETE', `/contacts/${id}?restorable=true`);
  await foldContactChanges(database.db, project.id);
  await database.db.count('insert into full_catalogues (project_id) values ($1)', [project.id]);
  expect((await call('POST', '/contacts', { email: email(2), data: { hat: 58 } })).status).toBe(422);
  expect(await call('POST', `/contacts/${id}/restore`)).toMatchObject({
    status: 200,
    body: { data: { plan: 'pro', shoe: 44 } },
  });
});
