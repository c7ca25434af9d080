import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { foldContactChanges } from '../../../src/contacts/catalogue-queries.ts';
import { removeOldHistory } from '../../../src/contacts/history-queries.ts';
import { upsertContactRow, writingAs } from '../../../src/contacts/write.ts';
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
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = async (method: string, path: string, body?: object) =>
  (await api.call(project.secretKey, method, path, body)).body;
const track = async (body: object) => {
  expect(await api.call(project.publicKey, 'POST', '/v1/track', body)).toMatchObject({ status: 200 });
};
const create = (email: string, data: object = {}) => call('POST', '/contacts', { email, data });
const historyOf = async (id: string, query = '') => (await call('GET', `/contacts/${id}/history${query}`)).data;
const causesOf = async (id: string) =>
  (await historyOf(id)).map(({ cause }: { cause: { type: string } }) => cause.type);
const fold = () => foldContactChanges(database.db, project.id);

test('a change tells what it changed, why and by whom, before it is folded and after', async () => {
  const { id } = await create('ada@example.org', { plan: 'free', city: 'Turin', seats: [1] });
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'pro', city: null, seats: [1], level: null } });
  await fold();
  await call('PATCH', `/contacts/${id}`, { email: 'ada.l@example.org', subscribed: false });
  // Neither changes anything.
  await call('PATCH', `/contacts/${id}`, { subscribed: false });
  await track({ email: 'ada.l@example.org', event: 'login' });
  const by = { kind: 'key', id: null, name: null };
  const cause = { type: 'contact', id: null, by };
  const expected = [
    {
      kind: 'changed',
      created: false,
      cause,
      before: {},
      after: {},
      subscribed: { before: true, after: false },
      email: { before: 'ada@example.org', after: 'ada.l@example.org' },
    },
    {
      kind: 'changed',
      created: false,
      cause,
      before: { plan: 'free', city: 'Turin' },
      after: { plan: 'pro' },
      subscribed: null,
      email: null,
    },
    {
      kind: 'created',
      created: true,
      cause,
      before: {},
      after: { plan: 'free', city: 'Turin', seats: [1] },
      subscribed: { before: null, after: true },
      email: null,
    },
  ].map((change) => ({ ...change, at: expect.any(String) }));
  const unfolded = await historyOf(id);
  expect(unfolded).toEqual(expected);
  await fold();
  expect(await historyOf(id)).toEqual(unfolded);
});

test('is paged by a cursor that a fold in between does not disturb', async () => {
  const { id } = await create('pages@example.org');
  for (let score = 1; score <= 6; score++) await call('PATCH', `/contacts/${id}`, { data: { score } });
  const seen: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: { after: { score?: number } }[]; cursor: string | null } = await call(
      'GET',
      `/contacts/${id}/history?limit=2&cursor=${cursor}`,
    );
    seen.push(...page.data.map(({ after }) => after.score));
    ({ cursor } = page);
    await fold();
  }
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, undefined]);
  expect((await api.call(project.secretKey, 'GET', `/contacts/${id}/history?cursor=bm9uZQ`)).status).toBe(400);
});

describe('as of an instant', () => {
  test('a contact is what it was, however much of its history is folded', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const values = [null, 1, 'a', true, [1, 2], { deep: { x: 1 } }];
    const { id, ...first } = await create('past@example.org', { k0: 'old', k1: 2 });
    const seen = [{ at: '', was: first }];
    for (let round = 0; round < 40; round++) {
      const data = Object.fromEntries(
        Array.from({ length: 1 + random(3) }, () => [`k${random(5)}`, values[random(values.length)]]),
      );
      const change = [
        { data },
        { data, subscribed: random(2) === 0 },
        { email: `past${random(9)}@example.org` },
        { data: null },
      ][random(4)];
      const { id: _, ...was } = await call('PATCH', `/contacts/${id}`, change);
      seen.push({ at: '', was });
      if (random(5) === 0) await fold();
    }
    const history: { at: string }[] = await historyOf(id, '?limit=200');
    const times = history.map(({ at }) => at).reverse();
    // Changes that changed nothing have no time of their own.
    const distinct = seen.filter(
      ({ was }, place) => place === 0 || JSON.stringify(shown(was)) !== JSON.stringify(shown(seen[place - 1]?.was)),
    );
    expect(times).toHaveLength(distinct.length);
    for (const [place, at] of times.entries()) {
      // Of several changes of one millisecond it is the last.
      if (times[place + 1] === at) continue;
      const then = await call('GET', `/contacts/${id}?at=${at}`);
      expect(shown(then)).toEqual(shown(distinct[place]?.was));
      expect(then.updatedAt).toBe(at);
    }
    expect(shown(await call('GET', `/contacts/${id}`))).toEqual(shown(seen.at(-1)?.was));
  });

  test('the time of a creation is not rounded up, so that the history never shows an earlier one', async () => {
    for (let n = 0; n < 20; n += 1)
      await database.db.transaction(async (tx) => {
        const email = `moment${n}@example.org`;
        const contact = { email, subscribed: true, set: {}, remove: [] };
        await upsertContactRow(tx, project.id, contact, writingAs(tx, 'contact'));
        const created = `select created_at <= now() as "isPast" from contacts where email = $1`;
        expect(await tx.row(created, [email])).toEqual({ isPast: true });
      });
  });

  test('it is unknown before it was created, and when the history does not reach back so far', async () => {
    const { id } = await create('late@example.org');
    const at = async (instant: string) => api.call(project.secretKey, 'GET', `/contacts/${id}?at=${instant}`);
    expect(await at('2001-01-01')).toMatchObject({
      status: 404,
      body: {
        error: {
          code: 'CONTACT_NOT_FOUND',
          message: expect.stringMatching(
            /^The contact was created at 20.*Z: at 2001-01-01T00:00:00.000Z there was none$/,
          ),
        },
      },
    });
    await database.db.count(`update contacts set created_at = '2000-01-01' where id = $1`, [id]);
    expect(await at('2001-01-01')).toMatchObject({ status: 410, body: { error: { code: 'TOO_LATE' } } });
    expect((await at('2090-01-01')).body.email).toBe('late@example.org');
    expect((await at('soon')).status).toBe(400);
  });
});

const shown = (contact: { email?: string; subscribed?: boolean; data?: unknown } | undefined) => ({
  email: contact?.email,
  subscribed: contact?.subscribed,
  data: contact?.data,
});

test('a member and a key with scopes are named', async () => {
  const { id } = await create('named@example.org');
  const [userId, keyId] = [newId(), newId()];
  await database.db.count('insert into users (id, email) values ($1, $2)', [userId, `who.${userId}@example.org`]);
  await database.db.count(
    `insert into api_keys (id, project_id, name, prefix, hash, scopes) values ($1, $2, 'Shop', 'ph', $3, '{}')`,
    [keyId, project.id, Buffer.from(keyId)],
  );
  await database.db.count(
    `insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_after, subscribed_before)
     values ($1, now() + interval '1 s', $2, $3, '{}', '{}', true, true), ($1, now() + interval '2 s', $2, $4, '{}', '{}', true, true)`,
    [
      id,
      project.id,
      JSON.stringify({ type: 'contact', by: { kind: 'user', id: userId } }),
      JSON.stringify({ type: 'contact', by: { kind: 'key', id: keyId } }),
    ],
  );
  const [byKey, byUser] = await historyOf(id);
  expect(byUser.cause.by).toEqual({ kind: 'user', id: userId, name: expect.stringMatching(/^who\./) });
  expect(byKey.cause.by).toEqual({ kind: 'key', id: keyId, name: 'Shop' });
});

describe('causes', () => {
  test('tracked events and sent mail say so, alone and when requests share a statement', async () => {
    const people = Array.from({ length: 8 }, (_, place) => `p${place}@example.org`);
    await Promise.all(people.map((email) => track({ email, event: 'seen', data: { plan: email } })));
    const from = project.sender;
    await Promise.all(
      people.map((to) => call('POST', '/v1/send', { to, from, subject: 'Hello', body: 'x', data: { order: to } })),
    );
    await track({ email: 'p0@example.org', event: 'left', subscribed: false });
    const ids = await database.db.rows<{ id: string }>('select id from contacts where project_id = $1 order by email', [
      project.id,
    ]);
    const [first = [], ...others] = await Promise.all(ids.map(({ id }) => causesOf(id)));
    expect(first).toEqual(['track', 'send', 'track']);
    for (const causes of others) expect(causes).toEqual(['send', 'track']);
  });

  test('segments and deleted fields say so', async () => {
    const segment = await call('POST', '/segments', { name: 'Guests', type: 'STATIC' });
    await call('POST', `/segments/${segment.id}/members`, { emails: ['guest@example.org'], createMissing: true });
    await call('POST', '/contacts', { email: 'guest@example.org', data: { shoe: 43 } });
    await call('DELETE', '/contacts/fields/data.shoe');
    const [guest] = await database.db.rows<{ id: string }>('select id from contacts where project_id = $1', [
      project.id,
    ]);
    const history = await historyOf(guest?.id ?? '');
    expect(history.map(({ cause }: { cause: object }) => cause)).toMatchObject([
      { type: 'field' },
      { type: 'contact' },
      { type: 'segment', id: segment.id },
    ]);
  });

  test('one function writes contacts, and one file calls it', async () => {
    const files = new Map<string, string>();
    for await (const file of glob(['src/**/*.ts', 'activities/**/*.ts', 'migrations/functions/*.sql']))
      files.set(file, readFileSync(file, 'utf8'));
    const holding = (text: RegExp) => [...files].filter(([, words]) => text.test(words)).map(([file]) => file);
    expect(holding(/(insert into|update) contacts\b/)).toEqual(['migrations/functions/write_contacts.sql']);
    expect(holding(/write_contacts\(/).toSorted()).toEqual([
      'migrations/functions/settle_mail.sql',
      'migrations/functions/write_contacts.sql',
      'src/contacts/write.ts',
    ]);
  });
});

test('the history of a deleted contact is gone, whatever was folded before', async () => {
  const gone = await create('gone@example.org', { secret: 'needle' });
  const stays = await create('stays@example.org');
  await fold();
  await call('PATCH', `/contacts/${gone.id}`, { data: { secret: 'another needle' } });
  expect((await api.call(project.secretKey, 'DELETE', `/contacts/${gone.id}`)).status).toBe(204);
  await fold();
  expect((await api.call(project.secretKey, 'GET', `/contacts/${gone.id}/history`)).status).toBe(404);
  const left = await database.db.rows('select contact_id from contact_history where project_id = $1', [project.id]);
  expect(left).toEqual([{ contact_id: stays.id }]);
});

test('changes go after their time', async () => {
  const { id } = await create('old@example.org');
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'pro' } });
  await fold();
  await database.db.count(
    `update contact_history set at = at - interval '91 days' where contact_id = $1 and before is null`,
    [id],
  );
  await removeOldHistory(database.db, 90, 1_000);
  expect(await historyOf(id)).toMatchObject([{ created: false, after: { plan: 'pro' } }]);
});
