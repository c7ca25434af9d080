import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  other = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const flips = (contactId: string) =>
  database.db.rows<{ name: string }>(
    `select name from events where contact_id = $1 and name like 'contact.%' order by created_at, id`,
    [contactId],
  );

async function create(owner: TestProject, email: string, more: object = {}) {
  const answer = await api.call(owner.secretKey, 'POST', '/contacts', { email, ...more });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('creating and changing a contact', () => {
  test('an address is one contact whatever its letter case, and the answer tells new from known', async () => {
    const first = await api.call(project.secretKey, 'POST', '/contacts', {
      email: ' M+News18.Kim@Example.org ',
      data: { plan: 'pro', '': 'kept', note: '', id: 'mine', once: { value: 1, persistent: false }, list: [1, 2] },
    });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      email: 'm+news18.kim@example.org',
      subscribed: true,
      data: { plan: 'pro', '': 'kept', list: [1, 2] },
      projectId: project.id,
      _meta: { isNew: true, isUpdate: false },
    });
    expect(Object.keys(first.body.data).sort()).toEqual(['', 'list', 'plan']);
    const second = await api.call(project.secretKey, 'POST', '/contacts', {
      email: 'm+news18.KIM@example.org',
      data: { plan: null, score: 610 },
    });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ id: first.body.id, data: { score: 610, list: [1, 2] } });
    expect(second.body.data).not.toHaveProperty('plan');
    expect(second.body._meta).toEqual({ isNew: false, isUpdate: true });
  });

  test('of many simultaneous creations exactly one is new, and all data survives', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        api.call(project.secretKey, 'POST', '/contacts', {
          email: '23.kim@example.org',
          data: { [`k${index}`]: index },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const { body } = await api.call(project.secretKey, 'GET', `/contacts/${answers[0]?.body.id}`);
    expect(Object.keys(body.data)).toHaveLength(10);
  });

  test('only a real change of the subscription of a known contact is an event', async () => {
    const { id } = await create(project, 'x.27.sam@mail.example.net', { subscribed: false });
    expect(await flips(id)).toEqual([]);
    const post = (subscribed?: boolean) =>
      api.call(project.secretKey, 'POST', '/contacts', { email: 'x.27.sam@mail.example.net', subscribed });
    await post();
    await post(false);
    expect(await flips(id)).toEqual([]);
    await post(true);
    await api.call(project.secretKey, 'PATCH', `/contacts/${id}`, { subscribed: true });
    await api.call(project.secretKey, 'PATCH', `/contacts/${id}`, { subscribed: false });
    expect((await flips(id)).map(({ name }) => name)).toEqual(['contact.subscribed', 'contact.unsubscribed']);
  });

  test.each([
    ['no address', {}, { error: expect.stringContaining('required') }],
    ['null', { email: null }, { error: expect.any(String) }],
    ['an empty address', { email: '' }, { error: expect.any(String) }],
  ])('%s is a bare 400', async (_, body, expected) => {
    const answer = await api.call(project.secretKey, 'POST', '/contacts', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(expected);
  });

  test.each([
    ['a malformed address', { email: 'nope' }, 'email', 'invalid_string'],
    ['data that is no object', { email: 'ok@example.org', data: [1] }, 'data', 'invalid_type'],
    ['a subscription that is no boolean', { email: 'ok@example.org', subscribed: 'yes' }, 'subscribed', 'invalid_type'],
  ])('%s is a 422 at its place', async (_, body, field, code) => {
    const answer = await api.call(project.secretKey, 'POST', '/contacts', body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.errors[0]).toMatchObject({ field, code });
  });

  test('a locale that is no text is refused and nothing is written', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/contacts', {
      email: 'locale@example.org',
      data: { locale: 5 },
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    const found = await api.call(project.secretKey, 'POST', '/contacts/lookup', { emails: ['locale@example.org'] });
    expect(found.body.found).toEqual([]);
  });

  test('a patch merges, clears, renames and leaves alone', async () => {
    const { id, ...before } = await create(project, '25.zoe@example.org', { data: { plan: 'free', score: 333 } });
    const patch = (body: object) => api.call(project.secretKey, 'PATCH', `/contacts/${id}`, body);
    const untouched = await patch({});
    expect(untouched.body).toMatchObject({ email: before.email, data: before.data, updatedAt: before.updatedAt });
    expect((await patch({ data: { score: 334, plan: '' } })).body.data).toEqual({ plan: 'free', score: 334 });
    expect((await patch({ email: ' 25.ZOE@Example.org' })).body.email).toBe('25.zoe@example.org');
    expect((await patch({ email: '25.zoe.new@example.org' })).body.email).toBe('25.zoe.new@example.org');
    expect((await patch({ data: null })).body.data).toEqual({});
    await create(project, '26.jo@example.org');
    const taken = await patch({ email: '26.JO@example.org' });
    expect([taken.status, taken.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(await flips(id)).toEqual([]);
  });

  test('deleting removes the contact with its events, once', async () => {
    const { id } = await create(project, 'gone@example.org');
    await api.call(project.publicKey, 'POST', '/v1/track', { email: 'gone@example.org', event: 'purchase' });
    expect((await api.call(project.secretKey, 'DELETE', `/contacts/${id}`)).status).toBe(204);
    expect(await database.db.rows('select 1 from events where contact_id = $1', [id])).toEqual([]);
    const again = await api.call(project.secretKey, 'DELETE', `/contacts/${id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
  });

  test('a reason given with a change of the subscription is kept in its event, and only there', async () => {
    const { body: contact } = await api.call(project.secretKey, 'POST', '/contacts', { email: 'reason@vogel.test' });
    const patch = (body: object) => api.call(project.secretKey, 'PATCH', `/contacts/${contact.id}`, body);
    await patch({ subscribed: false, reason: 'Asked by phone' });
    // Nothing changes, so that nothing is recorded.
    await patch({ subscribed: false, reason: 'Once more' });
    await patch({ subscribed: true });
    const { body } = await api.call(project.secretKey, 'GET', `/events/contact/${contact.id}`);
    expect(body.events.map(({ name, data }: { name: string; data: unknown }) => [name, data])).toEqual([
      ['contact.subscribed', null],
      ['contact.unsubscribed', { reason: 'Asked by phone' }],
    ]);
    expect(await patch({ subscribed: true, reason: '' })).toMatchObject({ status: 422 });
  });

  test.each(['GET', 'PATCH', 'DELETE'])('%s of another project’s contact, or of no UUID, is a 404', async (method) => {
    const { id } = await create(other, `foreign.${method.toLowerCase()}@example.org`);
    for (const path of [`/contacts/${id}`, `/contacts/${newId()}`, '/contacts/nope', '/contacts/%00']) {
      const answer = await api.call(project.secretKey, method, path, method === 'PATCH' ? {} : undefined);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
    }
    expect((await api.call(other.secretKey, 'GET', `/contacts/${id}`)).status).toBe(200);
  });
});

describe('listing', () => {
  let own: TestProject;
  const addresses = Array.from({ length: 45 }, (_, index) => `list${String(index).padStart(2, '0')}@example.org`);

  beforeAll(async () => {
    own = await aProject(database);
    for (const [index, email] of addresses.entries()) await create(own, email, { subscribed: index % 3 !== 0 });
    await create(own, 'a_b%c@example.org'.replace('%', '+'));
    await create(own, "o'under_score@example.net");
  });

  async function walk(query: string) {
    const pages = [];
    for (let cursor: string | null = null; ; ) {
      const answer = await api.call(own.secretKey, 'GET', `/contacts?${query}${cursor ? `&cursor=${cursor}` : ''}`);
      expect(answer.status).toBe(200);
      pages.push(answer.body);
      expect(answer.body.hasMore).toBe(answer.body.cursor !== null);
      if (answer.body.cursor === null) return pages;
      cursor = answer.body.cursor;
    }
  }
  const emailsOf = (pages: { data: { email: string }[] }[]) =>
    pages.flatMap(({ data }) => data.map(({ email }) => email));

  test('pages walk through everyone once, newest first, and only the first one counts', async () => {
    const pages = await walk('limit=20');
    expect(pages.map(({ data, total }) => [data.length, total])).toEqual([
      [20, 47],
      [20, 0],
      [7, 0],
    ]);
    expect(new Set(emailsOf(pages)).size).toBe(47);
    expect(emailsOf(pages).at(-1)).toBe('list00@example.org');
  });

  test('pages by address hold their order over a deleted place and a changed query', async () => {
    const first = await api.call(own.secretKey, 'GET', '/contacts?sort=email&dir=asc&limit=10&search=list');
    expect(first.body.data.map(({ email }: { email: string }) => email)).toEqual(addresses.slice(0, 10));
    const last = first.body.data.at(-1);
    await api.call(own.secretKey, 'DELETE', `/contacts/${last.id}`);
    const second = await api.call(own.secretKey, 'GET', `/contacts?limit=5&search=list&cursor=${first.body.cursor}`);
    expect(second.body.data.map(({ email }: { email: string }) => email)).toEqual(addresses.slice(10, 15));
    await create(own, last.email, { subscribed: last.subscribed });
  });

  test.each([
    ['subscribed=true', 32],
    ['subscribed=false', 15],
    ['subscribed=maybe', 47],
    ['search=LIST0', 10],
    ['search=list0&subscribed=false', 4],
    ['search=_', 2],
    ['search=%25', 0],
    ['search=%5C', 0],
    ['search=%00', 0],
    ['search=', 47],
    ['sort=nonsense&dir=sideways', 47],
  ])('?%s leaves %i', async (query, total) => {
    const pages = await walk(`${query}&limit=100`);
    expect(pages[0]?.total).toBe(total);
    expect(emailsOf(pages)).toHaveLength(total);
  });

  test.each([
    ['limit=0', 20],
    ['limit=-3', 20],
    ['limit=abc', 20],
    ['limit=1', 1],
    ['limit=1000', 47],
  ])('?%s answers %i', async (query, length) => {
    expect((await api.call(own.secretKey, 'GET', `/contacts?${query}`)).body.data).toHaveLength(length);
  });

  test('a text that is no cursor of this list is a 400', async () => {
    const forged = (place: unknown[]) => Buffer.from(JSON.stringify(place)).toString('base64url');
    for (const cursor of [
      'nonsense',
      forged([]),
      forged(['2026-01-01', newId(), 'createdAt', 'desc']),
      forged(['9999999-01-01 00:00:00+00', newId(), 'createdAt', 'desc']),
      forged(['2026-02-31 00:00:00+00', newId(), 'createdAt', 'desc']),
      forged(['0000-01-01 00:00:00+00', newId(), 'createdAt', 'desc']),
      forged(['a\0b', newId(), 'email', 'asc']),
      forged(['a@example.org', 'no id', 'email', 'asc']),
    ]) {
      const answer = await api.call(own.secretKey, 'GET', `/contacts?cursor=${cursor}`);
      expect([cursor, answer.status, answer.body.error?.code]).toEqual([cursor, 400, 'BAD_REQUEST']);
    }
  });

  test('totals follow every kind of change at once', async () => {
    const totals = async () =>
      Promise.all(
        ['', '?subscribed=true'].map(
          async (query) => (await api.call(own.secretKey, 'GET', `/contacts${query}`)).body.total,
        ),
      );
    const [all, subscribed] = await totals();
    const { id } = await create(own, 'count@example.org');
    expect(await totals()).toEqual([all + 1, subscribed + 1]);
    await api.call(own.secretKey, 'PATCH', `/contacts/${id}`, { subscribed: false });
    expect(await totals()).toEqual([all + 1, subscribed]);
    await api.call(own.secretKey, 'GET', '/contacts/fields');
    expect(await totals()).toEqual([all + 1, subscribed]);
    await api.call(own.secretKey, 'DELETE', `/contacts/${id}`);
    expect(await totals()).toEqual([all, subscribed]);
  });
});

describe('looking addresses up', () => {
  test('answers the caller’s spellings in their order, duplicates kept', async () => {
    await create(project, 'ada@example.com');
    await create(other, 'elsewhere@example.com');
    const emails = [
      'x@y.zz',
      ' Ada@Example.com',
      'not an address',
      'ADA@example.com',
      'elsewhere@example.com',
      'a\u0001b',
    ];
    const answer = await api.call(project.secretKey, 'POST', '/contacts/lookup', { emails });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      found: [' Ada@Example.com', 'ADA@example.com'],
      notFound: ['x@y.zz', 'not an address', 'elsewhere@example.com', 'a\u0001b'],
    });
  });

  test.each([
    ['nothing', {}],
    ['an empty list', { emails: [] }],
    ['a text', { emails: 'ada@example.com' }],
    ['something that is no text', { emails: ['ada@example.com', 5] }],
    ['501 addresses', { emails: Array.from({ length: 501 }, (_, index) => `a${index}@example.com`) }],
  ])('%s is a bare 400 that names the place', async (_, body) => {
    const answer = await api.call(project.secretKey, 'POST', '/contacts/lookup', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.stringContaining('"emails') });
  });

  test('500 addresses are looked up', async () => {
    const emails = Array.from({ length: 500 }, (_, index) => `a${index}@example.com`);
    expect((await api.call(project.secretKey, 'POST', '/contacts/lookup', { emails })).body.notFound).toEqual(emails);
  });
});
