import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countNewEvents } from '../../../src/contacts/events/counting-queries.ts';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
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
  // Each test begins with nothing counted, as on the first day.
  await database.db.count('delete from event_counts');
  await database.db.count(`update event_counts_state set counted_through = '-infinity'`);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const get = async (path: string) => (await api.call(project.secretKey, 'GET', path)).body;
const track = (email: string, event: string, data?: object) =>
  api.call(project.publicKey, 'POST', '/v1/track', { email, event, ...(data ? { data } : {}) });

/** Writes events of the past, as they would stand there had they been tracked then. */
async function happened(name: string, instants: string[], contactId: string | null = null, owner = project) {
  await database.db.count(
    `insert into events (id, project_id, contact_id, name, created_at)
     select uuidv7(), $1, $2, $3, at from unnest($4::timestamptz[]) as t (at)`,
    [owner.id, contactId, name, instants],
  );
}

/** Counts as workers do. Waits for transactions that other tests of this file may still have open. */
async function counted() {
  await expect
    .poll(async () => {
      await countNewEvents(database.db);
      const row = await database.db.row<{ fresh: boolean }>(
        `select counted_through > now() - interval '20 seconds' as fresh from event_counts_state`,
      );
      return row?.fresh;
    })
    .toBe(true);
}

describe('POST /events/track', () => {
  test('records for a contact without touching its data, and answers the record', async () => {
    const { body: contact } = await api.call(project.secretKey, 'POST', '/contacts', {
      email: 'ada@example.com',
      data: { plan: 'free' },
    });
    const answer = await api.call(project.secretKey, 'POST', '/events/track', {
      name: 'purchase',
      contactId: contact.id,
      data: { plan: 'pro', amount: 99 },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: 'purchase',
      data: { plan: 'pro', amount: 99 },
      projectId: project.id,
      contactId: contact.id,
      emailId: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await get(`/contacts/${contact.id}`)).data).toEqual({ plan: 'free' });
    const nobody = await api.call(project.secretKey, 'POST', '/events/track', { name: 'deployed' });
    expect(nobody.body).toMatchObject({ contactId: null, data: null });
  });

  test('takes the body of /v1/track too, with the secret key', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/events/track', {
      event: 'signed_up',
      email: 'New@Example.com',
      subscribed: false,
      data: { plan: 'pro', once: { value: 1, persistent: false } },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: 'signed_up',
      data: { plan: 'pro', once: { value: 1, persistent: false } },
    });
    expect(await get(`/contacts/${answer.body.contactId}`)).toMatchObject({
      email: 'new@example.com',
      subscribed: false,
      data: { plan: 'pro' },
    });
  });

  test.each([
    ['nothing', {}],
    ['an empty name', { name: '' }],
    ['a null name', { name: null, data: {} }],
  ])('%s is a bare 400', async (_, body) => {
    const answer = await api.call(project.secretKey, 'POST', '/events/track', body);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  });

  test.each([
    ['a reserved name', { name: 'email.open' }, 'name', 'reserved_event'],
    [
      'a reserved name in the other form',
      { event: 'contact.subscribed', email: 'r@example.com' },
      'event',
      'reserved_event',
    ],
    ['the other form without an address', { event: 'e' }, 'email', 'invalid_type'],
    ['a name that is too long', { name: 'x'.repeat(256) }, 'name', 'too_big'],
    ['a name that is no text', { name: 5 }, 'name', 'invalid_type'],
    ['an id that is none', { name: 'e', contactId: 'nope' }, 'contactId', 'invalid_string'],
    ['data that is no object', { name: 'e', data: [] }, 'data', 'invalid_type'],
  ])('%s is a 422 at its place', async (_, body, field, code) => {
    const answer = await api.call(project.secretKey, 'POST', '/events/track', body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.body.error.errors[0]).toMatchObject({ field, code });
    expect(await database.db.rows('select 1 from events where project_id = $1', [project.id])).toEqual([]);
    expect((await get('/contacts')).total).toBe(0);
  });

  test('ids of another project are unknown', async () => {
    const other = await aProject(database);
    const { body: foreign } = await api.call(other.secretKey, 'POST', '/contacts', { email: 'f@example.com' });
    for (const [body, code] of [
      [{ name: 'e', contactId: foreign.id }, 'CONTACT_NOT_FOUND'],
      [{ name: 'e', contactId: newId() }, 'CONTACT_NOT_FOUND'],
      [{ name: 'e', emailId: newId() }, 'RESOURCE_NOT_FOUND'],
    ] as const) {
      const answer = await api.call(project.secretKey, 'POST', '/events/track', body);
      expect([answer.status, answer.body.error.code]).toEqual([404, code]);
    }
    expect(await database.db.rows('select 1 from events where project_id = $1', [other.id])).toEqual([]);
  });
});

describe('lists', () => {
  test('newest first, of all names or one, with the address of the contact', async () => {
    const other = await aProject(database);
    await api.call(other.publicKey, 'POST', '/v1/track', { email: 'o@example.com', event: 'theirs' });
    for (let index = 0; index < 6; index++)
      await track(`e${index % 2}@example.com`, index % 3 === 0 ? 'purchase' : 'visit', { index });
    await api.call(project.secretKey, 'POST', '/events/track', { name: 'deployed' });
    const { events } = await get('/events');
    expect(events.map(({ name, contact }: { name: string; contact: object }) => [name, contact])).toEqual([
      ['deployed', null],
      ['visit', { email: 'e1@example.com' }],
      ['visit', { email: 'e0@example.com' }],
      ['purchase', { email: 'e1@example.com' }],
      ['visit', { email: 'e0@example.com' }],
      ['visit', { email: 'e1@example.com' }],
      ['purchase', { email: 'e0@example.com' }],
    ]);
    const purchases = (await get('/events?eventName=purchase')).events;
    expect(purchases.map(({ data }: { data: object }) => data)).toEqual([{ index: 3 }, { index: 0 }]);
    expect((await get('/events?limit=2')).events).toHaveLength(2);
    expect((await get('/events?limit=0')).events).toHaveLength(7);
    expect((await get('/events?eventName=%00')).events).toEqual([]);
    const of = await get(`/events/contact/${purchases[1].contactId}`);
    expect(of.events.map(({ data }: { data: { index: number } }) => data.index)).toEqual([4, 2, 0]);
    expect(Object.keys(of.events[0])).not.toContain('contact');
    expect((await get(`/events/contact/${purchases[1].contactId}?limit=1`)).events).toHaveLength(1);
    const foreign = await api.call(other.secretKey, 'GET', `/events/contact/${purchases[1].contactId}`);
    expect(foreign.body).toEqual({ events: [] });
    expect(await get('/events/contact/nope')).toEqual({ events: [] });
  });
});

describe('counts', () => {
  test.each([false, true])('by name, highest first, with the past counted: %s', async (isCounted) => {
    const other = await aProject(database);
    await happened('purchase', [
      '2026-01-01T00:00:00Z',
      '2026-01-02T12:00:00Z',
      '2026-01-02T23:59:59.999Z',
      '2026-01-03T00:00:00Z',
    ]);
    await happened('visit', ['2026-01-02T00:00:00Z', '2026-01-02T12:00:00.001Z']);
    await happened('Visit', ['2026-01-02T06:00:00Z', '2026-01-04T06:00:00Z']);
    await happened('purchase', ['2026-01-02T06:00:00Z'], null, other);
    if (isCounted) await counted();
    await track('now@example.com', 'visit');
    const names = async (query: string) =>
      (await get(`/events/stats${query}`)).map(
        ({ name, count }: { name: string; count: number }) => `${name} ${count}`,
      );
    expect(await names('')).toEqual(['purchase 4', 'visit 3', 'Visit 2']);
    expect((await get('/events/names')).eventNames).toEqual(['purchase', 'visit', 'Visit']);
    expect(await names('?startDate=2026-01-02&endDate=2026-01-02T23:59:59.999Z')).toEqual([
      'purchase 2',
      'visit 2',
      'Visit 1',
    ]);
    expect(await names('?startDate=2026-01-02T12:00:00Z&endDate=2026-01-03')).toEqual(['purchase 3', 'visit 1']);
    expect(await names('?startDate=2026-01-02T12:00:00.001Z&endDate=2026-01-02T12:00:00.001Z')).toEqual(['visit 1']);
    expect(await names('?startDate=2026-01-02T13:00:00Z')).toEqual(['purchase 2', 'Visit 1', 'visit 1']);
    expect(await names('?endDate=2026-01-02T06:00:00Z')).toEqual(['Visit 1', 'purchase 1', 'visit 1']);
    expect(await names('?startDate=2026-01-05')).toEqual(['visit 1']);
    expect(await names('?startDate=2026-01-04&endDate=2026-01-03')).toEqual([]);
    expect(await names('?startDate=-000001-01-01T00:00:00Z&endDate=%2B012026-01-01T00:00:00Z')).toHaveLength(3);
    expect(await names('?startDate=0000-06-01T00:00:00Z')).toHaveLength(3);
  });

  test('agree with a plain count over random ranges, counted or not, while events come and go', async () => {
    const { body: contact } = await api.call(project.secretKey, 'POST', '/contacts', { email: 'r@example.com' });
    const day = 86_400_000;
    const start = Date.parse('2026-02-01T00:00:00Z');
    const instants = Array.from({ length: 300 }, (_, index) =>
      new Date(start + ((index * 7_919_993) % (9 * day))).toISOString(),
    );
    for (const [index, name] of ['a', 'b', 'c'].entries())
      await happened(
        name,
        instants.filter((_, at) => at % 3 === index),
        index === 2 ? contact.id : null,
      );
    const compare = async () => {
      for (let round = 0; round < 25; round++) {
        const from = start + ((round * 1_234_567_891) % (10 * day)) - day;
        const to = from + ((round * 987_654_321) % (4 * day));
        const range = `?startDate=${new Date(from).toISOString()}&endDate=${new Date(to).toISOString()}`;
        const expected = await database.db.rows(
          `select name, count(*)::int as count from events
           where project_id = $1 and created_at between $2 and $3 group by name order by 2 desc, name collate "C"`,
          [project.id, new Date(from).toISOString(), new Date(to).toISOString()],
        );
        expect(await get(`/events/stats${range}`)).toEqual(expected);
      }
    };
    await compare();
    await counted();
    await compare();
    await api.call(project.secretKey, 'DELETE', `/contacts/${contact.id}`);
    await compare();
    expect((await get('/events/names')).eventNames).toEqual(['a', 'b']);
    await database.db.count(`update event_counts_state set counted_through = counted_through - interval '1 minute'`);
    await counted();
    await compare();
    expect(await database.db.rows('select 1 from event_counts where events < 0')).toEqual([]);
    expect((await api.call(project.secretKey, 'DELETE', '/events/a')).body).toEqual({ deletedCount: 100 });
    await compare();
  });

  test('what is no date is a 400', async () => {
    for (const query of ['startDate=soon', 'endDate=2026-13-45']) {
      const answer = await api.call(project.secretKey, 'GET', `/events/stats?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });
});

describe('usage and deletion', () => {
  const asks = (field: string) => ({
    logic: 'AND',
    groups: [{ filters: [], conditions: { logic: 'OR', groups: [{ filters: [{ field, operator: 'triggered' }] }] } }],
  });

  test('tells the segments that ask for an event, and refuses to delete it then', async () => {
    await track('a@example.com', 'cart/left.behind');
    await track('a@example.com', 'cart/left.behind');
    await track('b@example.com', 'cart/left.behind');
    const segments = [];
    for (const field of ['event.cart/left.behind', 'cart/left.behind', 'event.other'])
      segments.push(
        (await api.call(project.secretKey, 'POST', '/segments', { name: field, condition: asks(field) })).body,
      );
    const path = `/events/${encodeURIComponent('cart/left.behind')}`;
    expect(await get(`${path}/usage`)).toEqual({
      usedInSegments: segments.slice(0, 2).map(({ id, name }) => ({ id, name })),
      usedInWorkflows: [],
      totalCount: 3,
      uniqueContacts: 2,
      canDelete: false,
    });
    const refused = await api.call(project.secretKey, 'DELETE', path);
    expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining('cart/left.behind') }]);
    for (const { id } of segments) await api.call(project.secretKey, 'DELETE', `/segments/${id}`);
    expect((await get(`${path}/usage`)).canDelete).toBe(true);
    const other = await aProject(database);
    await api.call(other.publicKey, 'POST', '/v1/track', { email: 'o@example.com', event: 'cart/left.behind' });
    expect((await api.call(project.secretKey, 'DELETE', path)).body).toEqual({ deletedCount: 3 });
    expect((await api.call(project.secretKey, 'DELETE', path)).body).toEqual({ deletedCount: 0 });
    expect((await api.call(other.secretKey, 'GET', `${path}/usage`)).body.totalCount).toBe(1);
  });

  test.each(['email.sent', 'contact.subscribed', 'segment.vip.entry'])('%s cannot be deleted', async (name) => {
    const answer = await api.call(project.secretKey, 'DELETE', `/events/${name}`);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
    expect((await get(`/events/${name}/usage`)).canDelete).toBe(false);
  });

  test('addresses of the API are never read as names', async () => {
    await track('a@example.com', 'names');
    for (const [method, path] of [
      ['DELETE', '/events/names'],
      ['DELETE', '/events/stats'],
      ['DELETE', '/events/contact'],
      ['GET', '/events/track/usage'],
    ] as const) {
      const answer = await api.call(project.secretKey, method, path);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect(await get('/events/names')).toEqual({ eventNames: ['names'] });
  });

  test('an unknown name has no use', async () => {
    for (const name of ['nothing', '%00'])
      expect(await get(`/events/${name}/usage`)).toEqual({
        usedInSegments: [],
        usedInWorkflows: [],
        totalCount: 0,
        uniqueContacts: 0,
        canDelete: true,
      });
  });
});
