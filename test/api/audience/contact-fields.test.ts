import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { foldAllContactChanges } from '../../../src/contacts/catalogue-queries.ts';
import type { JsonObjectValue } from '../../../src/lib/contact-data.ts';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { putContacts } from '../../support/contacts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
beforeEach(async () => {
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const get = async (path: string) => (await api.call(project.secretKey, 'GET', path)).body;
const upsert = (email: string, data: object) => api.call(project.secretKey, 'POST', '/contacts', { email, data });
async function customFields(): Promise<Record<string, [type: string, coverage: number]>> {
  const { fields } = await get('/contacts/fields');
  return Object.fromEntries(
    fields
      .filter(({ isCustom }: { isCustom: boolean }) => isCustom)
      .map(({ field, type, coverage }: { field: string; type: string; coverage: number }) => [field, [type, coverage]]),
  );
}

/** Writes contacts as imports do: many rows by one statement. */
async function writeTogether(rows: { email: string; data: object }[]) {
  await putContacts(
    database.db,
    project.id,
    rows.map(({ email, data }) => ({ email, set: data as JsonObjectValue })),
  );
}

describe('GET /contacts/fields', () => {
  test('always tells the standard fields, in their places', async () => {
    await upsert('x.0.lee@example.com', { plan: 'team' });
    expect(await get('/contacts/fields')).toEqual({
      fields: [
        { field: 'createdAt', type: 'date', isCustom: false, coverage: 100 },
        { field: 'data.plan', type: 'string', isCustom: true, coverage: 100 },
        { field: 'email', type: 'string', isCustom: false, coverage: 100 },
        { field: 'subscribed', type: 'boolean', isCustom: false, coverage: 100 },
        { field: 'updatedAt', type: 'date', isCustom: false, coverage: 100 },
      ],
      count: 5,
    });
  });

  test('without contacts there are the standard fields, fully covered', async () => {
    const { fields, count } = await get('/contacts/fields');
    expect(count).toBe(4);
    expect(fields.map(({ coverage }: { coverage: number }) => coverage)).toEqual([100, 100, 100, 100]);
  });

  test('infers types, and where contacts disagree it is text', async () => {
    await upsert('one@example.org', {
      number: 1.5,
      boolean: false,
      day: '2025-08-07',
      instant: '2025-08-07T10:30:00Z',
      millis: '2025-08-07T10:30:00.123Z',
      local: '2025-08-07T10:30:00',
      almost: '2025-08-07 10:30',
      text: 'free',
      list: [1],
      object: { a: 1 },
      mixed: 5,
      dateOrText: '2025-08-07',
    });
    await upsert('two@example.org', { mixed: '5', dateOrText: 'soon' });
    const fields = await customFields();
    expect(Object.fromEntries(Object.entries(fields).map(([field, told]) => [field, told[0]]))).toEqual({
      'data.number': 'number',
      'data.boolean': 'boolean',
      'data.day': 'date',
      'data.instant': 'date',
      'data.millis': 'date',
      'data.local': 'date',
      'data.almost': 'string',
      'data.text': 'string',
      'data.list': 'string',
      'data.object': 'string',
      'data.mixed': 'string',
      'data.dateOrText': 'string',
    });
    expect(fields['data.mixed']).toEqual(['string', 100]);
    expect(fields['data.text']).toEqual(['string', 50]);
  });

  test('is right at the next call, whoever wrote and however', async () => {
    await writeTogether(
      Array.from({ length: 8 }, (_, index) => ({ email: `c${index}@example.org`, data: { plan: 'free', n: index } })),
    );
    expect(await customFields()).toEqual({ 'data.n': ['number', 100], 'data.plan': ['string', 100] });
    await api.call(project.publicKey, 'POST', '/v1/track', {
      email: 'c0@example.org',
      event: 'e',
      data: { seen: true, plan: null },
    });
    expect(await customFields()).toEqual({
      'data.n': ['number', 100],
      'data.plan': ['string', 88],
      'data.seen': ['boolean', 13],
    });
    await writeTogether([{ email: 'c1@example.org', data: { n: 'many' } }]);
    expect(await customFields()).toMatchObject({ 'data.n': ['string', 100] });
    await writeTogether([{ email: 'c1@example.org', data: { n: 1 } }]);
    expect(await customFields()).toMatchObject({ 'data.n': ['number', 100] });
    const [contact] = (await get('/contacts?search=c0@')).data;
    await api.call(project.secretKey, 'PATCH', `/contacts/${contact.id}`, { data: null });
    expect(await customFields()).toEqual({ 'data.n': ['number', 88], 'data.plan': ['string', 88] });
    for (const { id } of (await get('/contacts?limit=100')).data)
      await api.call(project.secretKey, 'DELETE', `/contacts/${id}`);
    expect(await customFields()).toEqual({});
  });

  test('stays right while many write at once and workers fold', async () => {
    const writes = Array.from({ length: 120 }, (_, index) =>
      api.call(project.publicKey, 'POST', '/v1/track', {
        email: `w${index % 10}@example.org`,
        event: 'e',
        data: { [`k${index % 7}`]: index % 2 === 0 ? index : `text ${index}`, gone: index % 3 === 0 ? null : 1 },
      }),
    );
    const folds = Array.from({ length: 6 }, () => foldAllContactChanges(database.db));
    await Promise.all([...writes, ...folds]);
    const expected = await database.db.rows<{ key: string; holders: number; types: string[] }>(
      `select key, count(*)::int as holders, array_agg(distinct jsonb_typeof(value)) as types
       from contacts, jsonb_each(data) where project_id = $1 group by key`,
      [project.id],
    );
    expect(expected.length).toBeGreaterThan(6);
    expect(await customFields()).toEqual(
      Object.fromEntries(
        expected.map(({ key, holders, types }) => [
          `data.${key}`,
          [types.length === 1 ? types[0] : 'string', Math.round(holders * 10)],
        ]),
      ),
    );
  });

  test('survives keys and values no index could hold', async () => {
    const long = 'k'.repeat(255);
    await upsert('long@example.org', { [long]: 'v'.repeat(20_000), 'with.dot': 1, '': 2 });
    expect(Object.keys(await customFields()).sort()).toEqual(['data.', `data.${long}`, 'data.with.dot'].sort());
    expect((await get(`/contacts/fields/data.with.dot/values`)).values).toEqual([1]);
  });

  test('a deleted project leaves nothing to fold', async () => {
    await upsert('left@example.org', { plan: 'free' });
    await database.db.count('delete from projects where id = $1', [project.id]);
    await foldAllContactChanges(database.db);
    expect(await database.db.rows('select 1 from contact_changes where project_id = $1', [project.id])).toEqual([]);
  });
});

describe('GET /contacts/fields/{field}/values', () => {
  test('distinct values in their stored type, ascending by text, whatever the field is called', async () => {
    const values = ['pro', 'free', 'pro', 42, '42', true, 1.5, 10, 9, { a: 1 }, [1]];
    for (const [index, plan] of values.entries()) await upsert(`v${index}@example.org`, { plan });
    const expected = { values: [10, 1.5, 42, '42', 9, 'free', 'pro', true], count: 8, limit: 100 };
    const sorted = expected.values.map(String).toSorted();
    const answer = await get('/contacts/fields/data.plan/values');
    expect(answer).toMatchObject({ field: 'data.plan', count: 8, limit: 100 });
    expect(answer.values.map(String)).toEqual(sorted);
    expect(new Set(answer.values)).toEqual(new Set(expected.values));
    expect((await get('/contacts/fields/plan/values')).values).toEqual(answer.values);
    expect((await get('/contacts/fields/plan/values?limit=2')).values).toEqual(answer.values.slice(0, 2));
    expect((await get('/contacts/fields/plan/values?limit=999')).limit).toBe(200);
    expect((await get('/contacts/fields/plan/values?limit=x')).limit).toBe(100);
  });

  test('a value that nobody holds any more is not listed', async () => {
    await upsert('a@example.org', { plan: 'free' });
    await upsert('b@example.org', { plan: 'free' });
    await upsert('a@example.org', { plan: 'pro' });
    expect((await get('/contacts/fields/plan/values')).values).toEqual(['free', 'pro']);
    await upsert('b@example.org', { plan: null });
    expect((await get('/contacts/fields/plan/values')).values).toEqual(['pro']);
  });

  test('a field with very many values still answers, in order', async () => {
    await writeTogether(
      Array.from({ length: 1500 }, (_, index) => ({
        email: `m${index}@example.org`,
        data: { name: `Name ${10_000 + index}` },
      })),
    );
    const { values, count } = await get('/contacts/fields/name/values?limit=200');
    expect(count).toBe(200);
    expect(values).toEqual(Array.from({ length: 200 }, (_, index) => `Name ${10_000 + index}`));
  });

  test.each([
    ['subscribed', [true, false]],
    ['email', []],
    ['createdAt', []],
    ['updatedAt', []],
    ['data.unknown', []],
    ['%00', []],
    ['data.%00', []],
  ])('%s has %j', async (field, values) => {
    await upsert('a@example.org', { plan: 'free' });
    expect((await get(`/contacts/fields/${field}/values`)).values).toEqual(values);
  });
});

describe('usage and deletion', () => {
  const condition = (field: string) => ({
    logic: 'AND',
    groups: [{ filters: [], conditions: { logic: 'OR', groups: [{ filters: [{ field, operator: 'exists' }] }] } }],
  });

  async function campaign(name: string, status: string, field: string) {
    const id = newId();
    await database.db.count(
      `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, audience_condition, status)
       values ($1, $2, $3, 's', 'b', 'hello@acme.test', 'FILTERED', $4::jsonb, $5)`,
      [id, project.id, name, JSON.stringify(condition(field)), status],
    );
    return id;
  }

  test('tells the segments and open campaigns that rely on a field, and how many contacts have it', async () => {
    await upsert('a@example.org', { plan: 'free', score: 1 });
    await upsert('b@example.org', { plan: 'pro' });
    const segment = await api.call(project.secretKey, 'POST', '/segments', {
      name: 'Planned',
      condition: condition('data.plan'),
    });
    expect(segment.status).toBe(201);
    const draft = await campaign('Spring', 'DRAFT', 'data.plan');
    await campaign('Winter', 'SENT', 'data.plan');
    await campaign('Autumn', 'CANCELLED', 'data.plan');
    const expected = {
      usedInSegments: [{ id: segment.body.id, name: 'Planned' }],
      usedInCampaigns: [{ id: draft, name: 'Spring' }],
      usedInWorkflows: [],
      contactCount: 2,
      canDelete: false,
    };
    expect(await get('/contacts/fields/data.plan/usage')).toEqual(expected);
    expect(await get('/contacts/fields/plan/usage')).toEqual(expected);
    expect(await get('/contacts/fields/score/usage')).toMatchObject({ contactCount: 1, canDelete: true });
    expect(await get('/contacts/fields/email/usage')).toMatchObject({ contactCount: 2, canDelete: false });
    const refused = await api.call(project.secretKey, 'DELETE', '/contacts/fields/data.plan');
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({ error: expect.stringContaining('Planned') });
    expect(await get('/contacts/fields/data.plan/usage')).toEqual(expected);
  });

  test('nobody goes by a condition that came with another kind of audience, whatever it is', async () => {
    await upsert('a@example.org', { plan: 'free' });
    const campaign = { name: 'All', subject: 's', body: 'b', from: project.sender, audienceType: 'ALL' };
    for (const audienceCondition of [condition('data.plan'), { no: 'tree' }]) {
      const created = await api.call(project.secretKey, 'POST', '/campaigns', { ...campaign, audienceCondition });
      expect(created.status).toBe(201);
    }
    expect(await get('/contacts/fields/plan/usage')).toMatchObject({ usedInCampaigns: [], canDelete: true });
    expect((await api.call(project.secretKey, 'DELETE', '/contacts/fields/data.plan')).status).toBe(200);
  });

  test('deleting removes the key from every contact of this project, without events', async () => {
    const neighbour = await aProject(database);
    await api.call(neighbour.secretKey, 'POST', '/contacts', { email: 'n@example.org', data: { plan: 'free' } });
    await writeTogether(
      Array.from({ length: 6_000 }, (_, index) => ({
        email: `d${index}@example.org`,
        data: index % 2 ? { plan: 'x', keep: 1 } : { keep: 1 },
      })),
    );
    const deleted = await api.call(project.secretKey, 'DELETE', '/contacts/fields/data.plan');
    expect([deleted.status, deleted.body]).toEqual([200, { deletedFrom: 3_000 }]);
    expect(await customFields()).toEqual({ 'data.keep': ['number', 100] });
    expect((await api.call(project.secretKey, 'DELETE', '/contacts/fields/data.plan')).body).toEqual({
      deletedFrom: 0,
    });
    expect(await database.db.rows('select 1 from events where project_id = $1', [project.id])).toEqual([]);
    const kept = await api.call(neighbour.secretKey, 'GET', '/contacts/fields/plan/values');
    expect(kept.body.values).toEqual(['free']);
  });

  test.each(['email', 'subscribed', 'createdAt', 'plan', 'data.'])('%s cannot be deleted', async (field) => {
    const answer = await api.call(project.secretKey, 'DELETE', `/contacts/fields/${field}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.any(String) });
  });

  test('a key with a slash and blanks is deleted by its encoded name', async () => {
    await upsert('a@example.org', { 'first name / alias': 'Ada' });
    const path = `/contacts/fields/${encodeURIComponent('data.first name / alias')}`;
    expect((await api.call(project.secretKey, 'DELETE', path)).body).toEqual({ deletedFrom: 1 });
  });
});
