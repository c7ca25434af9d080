import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { allOf, anyOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';
import { jobDone } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;
let own: SegmentHand;

beforeAll(async () => {
  database = await testDatabase();
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
beforeEach(async () => {
  project = await aProject(database);
  own = segmentHand(api, database, project);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const emails = (answer: { body: { data: { email: string }[] } }) => answer.body.data.map(({ email }) => email);
const exported = async (body: object) => {
  const response = await fetch(`${api.url}/contacts/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${project.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

describe('POST /contacts/search', () => {
  test('finds contacts by any field, together with the address and the subscription', async () => {
    await own.contact('anna@kunde.example', { plan: 'pro', score: 7 });
    await own.contact('ben@kunde.example', { plan: 'free', score: 9 });
    await own.contact('cleo@posta.example', { plan: 'pro' });
    await call('POST', '/contacts', { email: 'dora@kunde.example', subscribed: false, data: { plan: 'pro' } });
    const search = (filter: object) => call('POST', '/contacts/search', { filter, sort: 'email', dir: 'asc' });
    const pro = allOf(dataIs('plan', 'pro'));
    const found = await search({ condition: pro });
    expect(found.body).toMatchObject({ total: 3, hasMore: false, cursor: null });
    expect(emails(found)).toEqual(['anna@kunde.example', 'cleo@posta.example', 'dora@kunde.example']);
    expect(emails(await search({ condition: pro, subscribed: true, search: 'KUNDE' }))).toEqual(['anna@kunde.example']);
    const either = anyOf(
      { field: 'data.score', operator: 'greaterThan', value: 8 },
      { field: 'email', operator: 'contains', value: 'cleo' },
    );
    expect(emails(await search({ condition: either }))).toEqual(['ben@kunde.example', 'cleo@posta.example']);
    const segment = await own.segment({ name: 'Pros', condition: pro });
    const inside = allOf({ field: `segment.${segment.id}`, operator: 'notMemberOfSegment' });
    expect(emails(await search({ condition: inside }))).toEqual(['ben@kunde.example']);
    expect((await search({})).body.total).toBe(4);
  });

  test('pages by each sort in both directions show everybody once, also where sort values are equal', async () => {
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
       select uuidv7(), $1, 'p' || lpad(n::text, 2, '0') || '@kunde.example', true, '{"kept": true}',
         '2026-01-01T00:00:00Z'::timestamptz + make_interval(days => n / 7), '2026-02-01T00:00:00Z'::timestamptz - make_interval(days => n / 5)
       from generate_series(0, 24) as n`,
      [project.id],
    );
    for (const sort of ['email', 'createdAt', 'updatedAt'] as const)
      for (const dir of ['asc', 'desc'] as const) {
        const seen: Record<string, string>[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await call('POST', '/contacts/search', {
            filter: { condition: allOf(dataIs('kept', true)) },
            ...(cursor === undefined ? { sort, dir } : { cursor }),
            limit: 4,
          });
          expect(page.status).toBe(200);
          seen.push(...page.body.data);
          cursor = page.body.cursor ?? undefined;
          if (cursor === undefined) break;
        }
        expect(new Set(seen.map(({ id }) => id)).size).toBe(25);
        const values = seen.map((row) => row[sort] ?? '');
        expect(values).toEqual([...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0) * (dir === 'asc' ? 1 : -1)));
      }
  });

  test('a condition, a sort or a cursor that there is none of is refused and named', async () => {
    const faulty = allOf({ field: 'data.plan', operator: 'sounds like', value: 'pro' });
    const refused = await call('POST', '/contacts/search', { filter: { condition: faulty } });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.path).toBe('groups.0.filters.0.operator');
    expect((await call('POST', '/contacts/search', { filter: { condition: 'pro' } })).status).toBe(400);
    expect((await call('POST', '/contacts/search', { sort: 'plan' })).status).toBe(422);
    expect((await call('POST', '/contacts/search', { cursor: 'nonsense' })).status).toBe(400);
    expect((await call('POST', '/contacts/search', { filter: { search: 'a\u0000b' } })).status).toBe(422);
  });
});

describe('POST /contacts/export', () => {
  test('is a CSV file of the columns that were asked for, without formulas, and in the audit log', async () => {
    await own.contact('anna@kunde.example', { plan: '=HYPERLINK("http://evil.example")', score: -5, tags: ['a', 'b'] });
    await own.contact('ben@kunde.example', { plan: 'a "quoted", word\nand a line', vip: false });
    await own.contact('cleo@posta.example');
    const file = await exported({
      filter: { search: 'kunde' },
      columns: ['email', 'subscribed', 'data.plan', 'data.score', 'data.tags', 'data.vip'],
    });
    expect(file).toMatchObject({ status: 200, type: 'text/csv; charset=utf-8; header=present' });
    expect(file.text).toBe(
      [
        'email,subscribed,data.plan,data.score,data.tags,data.vip',
        `anna@kunde.example,true,"'=HYPERLINK(""http://evil.example"")",-5,"[""a"",""b""]",`,
        'ben@kunde.example,true,"a ""quoted"", word\nand a line",,,false',
        '',
      ].join('\r\n'),
    );
    const [entry] = await database.db.rows<{ action: string; after: object }>(
      `select action, after from audit_log where project_id = $1 order by position desc limit 1`,
      [project.id],
    );
    expect(entry).toMatchObject({ action: 'contacts.exported', after: { filter: { search: 'kunde' } } });
  });

  test('holds what is selected, over several pages, and nobody of another project', async () => {
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), $1, 'p' || n || '@kunde.example', true from generate_series(1, 2500) as n`,
      [project.id],
    );
    const foreign = await aProject(database);
    const theirs = await segmentHand(api, database, foreign).contact('theirs@kunde.example');
    const all = (await exported({ columns: ['email'] })).text.trim().split('\r\n');
    expect(all).toHaveLength(2501);
    expect(new Set(all).size).toBe(2501);
    const { body } = await call('GET', '/contacts?limit=2');
    const ids = body.data.map(({ id }: { id: string }) => id);
    const few = await exported({ contactIds: [...ids, theirs], columns: ['id'] });
    expect(few.text.trim().split('\r\n').slice(1).sort()).toEqual([...ids].sort());
    const rest = await exported({ excludeIds: ids, columns: ['id'] });
    expect(rest.text.trim().split('\r\n')).toHaveLength(2499);
    expect((await exported({ columns: ['password'] })).status).toBe(422);
  });
});

describe('saved views', () => {
  const pro = allOf(dataIs('plan', 'pro'));

  test('are kept under a name of their own, changed and deleted, and each change is in the audit log', async () => {
    const created = await call('POST', '/contacts/views', {
      name: ' Pro customers ',
      filter: { condition: pro, subscribed: true },
      sort: 'email',
      dir: 'asc',
      columns: ['email', 'data.plan'],
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: 'Pro customers', filter: { condition: pro, subscribed: true } });
    const { id } = created.body;
    expect((await call('POST', '/contacts/views', { name: 'Pro customers' })).status).toBe(409);
    const second = await call('POST', '/contacts/views', { name: 'Everybody' });
    expect(second.body).toMatchObject({ filter: {}, sort: 'createdAt', dir: 'desc', columns: null });
    expect((await call('PATCH', `/contacts/views/${id}`, { name: 'Everybody' })).status).toBe(409);
    const changed = await call('PATCH', `/contacts/views/${id}`, { name: 'Pros', columns: null });
    expect(changed.body).toMatchObject({ name: 'Pros', columns: null, sort: 'email', filter: { condition: pro } });
    expect((await call('GET', '/contacts/views')).body.data).toMatchObject([{ name: 'Everybody' }, { name: 'Pros' }]);
    expect((await call('DELETE', `/contacts/views/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/contacts/views/${id}`)).status).toBe(404);
    const actions = await database.db.rows<{ action: string }>(
      `select action from audit_log where project_id = $1 and action like 'contact_view.%' order by position`,
      [project.id],
    );
    expect(actions.map(({ action }) => action)).toEqual([
      'contact_view.created',
      'contact_view.created',
      'contact_view.updated',
      'contact_view.deleted',
    ]);
  });

  test('two people who save one name at the same moment make one view', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call('POST', '/contacts/views', { name: 'At once' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test('a condition that cannot hold, and the view of somebody else, are refused', async () => {
    const faulty = allOf({ field: 'data.plan', operator: 'is' });
    expect((await call('POST', '/contacts/views', { name: 'Faulty', filter: { condition: faulty } })).status).toBe(400);
    expect((await call('POST', '/contacts/views', { name: '  ' })).status).toBe(422);
    const foreign = await aProject(database);
    const theirs = await api.call(foreign.secretKey, 'POST', '/contacts/views', { name: 'Theirs' });
    expect((await call('PATCH', `/contacts/views/${theirs.body.id}`, { name: 'Mine' })).status).toBe(404);
    expect((await call('DELETE', `/contacts/views/${theirs.body.id}`)).status).toBe(404);
  });
});

describe('bulk changes', () => {
  test('reach the contacts that a condition names, and no others', async () => {
    for (const index of Array.from({ length: 5 }).keys())
      await own.contact(`p${index}@kunde.example`, { plan: index < 3 ? 'pro' : 'free' });
    const condition = allOf(dataIs('plan', 'pro'));
    const queued = await call('POST', '/contacts/bulk-unsubscribe', { mode: 'query', filter: { condition } });
    const job = await jobDone(api, project, `/contacts/bulk/${queued.body.jobId}`);
    expect(job).toMatchObject({ state: 'completed', result: { successCount: 3, failureCount: 0 } });
    expect((await call('GET', '/contacts?subscribed=true')).body.total).toBe(2);
    const faulty = allOf({ field: 'plan is pro', operator: 'equals', value: 1 });
    expect((await call('POST', '/contacts/bulk-delete', { mode: 'query', filter: { condition: faulty } })).status).toBe(
      400,
    );
  });

  test('add contacts to a static segment by id and by filter, and count those who were not in it', async () => {
    const ids: string[] = [];
    for (const index of Array.from({ length: 4 }).keys()) ids.push(await own.contact(`p${index}@kunde.example`));
    const segment = await own.segment({ name: 'Speakers', type: 'STATIC', trackMembership: true });
    const add = async (body: object) => {
      const queued = await call('POST', '/contacts/bulk-add-to-segment', { segmentId: segment.id, ...body });
      expect(queued.status).toBe(202);
      return jobDone(api, project, `/contacts/bulk/${queued.body.jobId}`);
    };
    const first = await add({ contactIds: [ids[0], ids[1], newId()] });
    expect(first).toMatchObject({ result: { successCount: 2, unchangedCount: 0, failureCount: 1 } });
    const second = await add({ mode: 'query', filter: { search: 'kunde' }, excludeIds: [ids[3]] });
    expect(second).toMatchObject({ result: { operation: 'add-to-segment', successCount: 1, unchangedCount: 2 } });
    expect(await own.members(segment.id)).toEqual(['p0@kunde.example', 'p1@kunde.example', 'p2@kunde.example']);
    expect(await own.told(segment.id)).toHaveLength(3);
    expect(await own.memberCount(segment.id)).toBe(3);
    expect((await call('POST', `/contacts/bulk/${second.id}/undo`, {})).status).toBe(422);
  });

  test('a segment that takes nobody by hand, is unknown, or goes away meanwhile is told', async () => {
    const id = await own.contact('anna@kunde.example');
    const dynamic = await own.segment({ name: 'Pros', condition: allOf(dataIs('plan', 'pro')) });
    const foreign = segmentHand(api, database, await aProject(database));
    const theirs = await foreign.segment({ name: 'Theirs', type: 'STATIC' });
    const add = (segmentId: string) => call('POST', '/contacts/bulk-add-to-segment', { segmentId, contactIds: [id] });
    expect((await add(dynamic.id)).status).toBe(400);
    expect((await add(theirs.id)).status).toBe(404);
    const jobId = `bulk-add-to-segment-${newId()}`;
    await database.db.count(`insert into jobs (id, project_id, kind, spec) values ($1, $2, 'bulk', $3)`, [
      jobId,
      project.id,
      JSON.stringify({
        projectId: project.id,
        operation: 'add-to-segment',
        segmentId: newId(),
        selector: { mode: 'ids', contactIds: [id] },
      }),
    ]);
    const { changeContacts } = await import('../../../src/imports/bulk.ts');
    await changeContacts(database.db, jobId, { stop: new AbortController().signal, longestMs: 1_000, onStep() {} });
    expect((await call('GET', `/contacts/bulk/${jobId}`)).body).toMatchObject({
      state: 'failed',
      failedReason: 'The segment was deleted while contacts were added',
    });
  });
});
