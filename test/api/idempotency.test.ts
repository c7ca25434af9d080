import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type MortalApi, mortalApi } from '../support/mortal-api.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});
afterEach(() => vi.restoreAllMocks());

/** A request that reads a key: what it writes can be told by an address that nobody else uses. */
interface Kind {
  name: string;
  request(owner: TestProject, address: string): { key: string; path: string; body: Record<string, unknown> };
  /** Events or mails of the address, and places of mails in the queue. */
  written(address: string): Promise<[number, number]>;
  expected: [number, number];
}

const eventsOf = async (address: string): Promise<[number, number]> => {
  const row = await database.db.row<{ n: number }>(
    `select count(*)::int as n from events e join contacts c on c.id = e.contact_id where c.email = $1 and e.name = 'bought'`,
    [address],
  );
  return [row?.n ?? 0, 0];
};
const mailsOf = async (address: string): Promise<[number, number]> => {
  const row = await database.db.row<{ mails: number; queued: number }>(
    `select count(*)::int as mails, count(q.email_id)::int as queued
     from emails e left join email_queue q on q.email_id = e.id where starts_with(e.to_address, $1)`,
    [address],
  );
  return [row?.mails ?? 0, row?.queued ?? 0];
};
const mail = (owner: TestProject, to: unknown) => ({
  key: owner.secretKey,
  path: '/v1/send',
  body: { from: owner.sender, to, subject: 'Receipt', body: '<p>Thank you</p>' },
});
const track: Kind = {
  name: 'an event',
  request: ({ publicKey }, email) => ({ key: publicKey, path: '/v1/track', body: { email, event: 'bought' } }),
  written: eventsOf,
  expected: [1, 0],
};
const one: Kind = { name: 'a mail', request: mail, written: mailsOf, expected: [1, 1] };
const three: Kind = {
  name: 'mail to three, two of them the same',
  request: (owner, address) => mail(owner, [address, `${address}.de`, address]),
  written: mailsOf,
  expected: [3, 3],
};

function ask(url: string, kind: Kind, address: string, idempotencyKey: string, owner = project): Promise<Answer> {
  const { key, path, body } = kind.request(owner, address);
  const headers = { 'idempotency-key': idempotencyKey };
  if (url === api.url) return api.call(key, 'POST', path, body, headers);
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).then(async (answer) => ({ status: answer.status, headers: answer.headers, body: await answer.json() }));
}

const settings = () => ({
  NODE_ENV: 'test',
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  TEMPORAL_TASK_QUEUE: 'test-idempotency',
  RATE_LIMIT_PER_MINUTE: '0',
  UPLOAD_DIR: join(tmpdir(), 'posthorn-test-uploads'),
});
const aKey = () => `key-${randomUUID()}`;
const anAddress = () => `a-${randomUUID()}@example.com`;

describe('a process that is killed', () => {
  test.each([track, three])(
    'between any two steps of $name: the repetition finds it done or does it',
    { timeout: 300_000 },
    async (kind) => {
      // The next process starts while this one is being killed.
      let next = mortalApi(settings());
      const outcomes: string[] = [];
      for (let moment = 0; ; moment++) {
        await using child: MortalApi = await next;
        next = mortalApi(settings());
        // What a process asks once, such as whose a key is, is in its memory then.
        expect((await ask(child.url, kind, anAddress(), aKey())).status).toBe(200);
        const address = anAddress();
        const key = aKey();
        await child.arm(moment);
        const answer = await ask(child.url, kind, address, key).catch(() => null);
        if (answer !== null) {
          expect(answer.status).toBe(200);
          await (await next)[Symbol.asyncDispose]();
          break;
        }
        await child.ended;
        const again = await ask(api.url, kind, address, key);
        if (again.status === 409) expect(again.body.error.details.originalStatusCode).toBe(200);
        else expect(again.status).toBe(200);
        expect(await kind.written(address), `killed at ${moment}, then ${again.status}`).toEqual(kind.expected);
        outcomes.push(String(again.status));
        const third = await ask(api.url, kind, address, key);
        expect(third.status).toBe(409);
      }
      // begin, the key, the work, commit: two moments each.
      expect(outcomes.length).toBeGreaterThanOrEqual(8);
      expect(outcomes[0]).toBe('200');
      expect(outcomes.at(-1)).toBe('409');
    },
  );
});

test('of two processes that race with one key exactly one does the work', { timeout: 60_000 }, async () => {
  await using other = await mortalApi(settings());
  for (const kind of [track, one, three]) {
    for (let round = 0; round < 10; round++) {
      const [address, key] = [anAddress(), aKey()];
      const answers = await Promise.all(
        [api.url, other.url, api.url, other.url].map((url) => ask(url, kind, address, key)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      for (const { status, body } of answers)
        if (status === 409) expect(body.error.details.originalStatusCode).toBe(200);
      expect(await kind.written(address)).toEqual(kind.expected);
    }
  }
});

describe('a database that fails after the work', () => {
  type Query = (this: Client, ...parts: unknown[]) => Promise<unknown>;
  const textOf = (parts: unknown[]) => (typeof parts[0] === 'string' ? parts[0] : (parts[0] as { text?: string }).text);

  /** What becomes of each commit of this process, until it answers null. */
  async function commits(next: () => 'lost before' | 'lost after' | null): Promise<void> {
    // The ORM has a copy of the driver of its own: its clients are reached by one of them.
    const client = await api.app.db.pool.connect();
    const prototype = Object.getPrototypeOf(client) as { query: Query };
    client.release();
    const { query } = prototype;
    vi.spyOn(prototype, 'query').mockImplementation(function (this: Client, ...parts) {
      const fate = textOf(parts) === 'commit' ? next() : null;
      if (fate === null) return query.apply(this, parts);
      const lost = async () => {
        if (fate === 'lost after') await query.apply(this, parts);
        (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      };
      return lost();
    });
  }

  test.each([track, one, three])('$name is rolled back with its key, and the repetition does it', async (kind) => {
    const [address, key] = [anAddress(), aKey()];
    await database.db.count(`create function refuse_commit() returns trigger language plpgsql as $$
      begin raise exception 'the disk is full'; end $$`);
    await database.db.count(`create constraint trigger refuse_commit after insert on idempotency_keys
      deferrable initially deferred for each row execute function refuse_commit()`);
    const failed = await ask(api.url, kind, address, key);
    await database.db.count('drop function refuse_commit cascade');
    expect([failed.status, failed.body.error.code]).toEqual([500, 'DATABASE_ERROR']);
    expect(await kind.written(address)).toEqual([0, 0]);
    expect((await ask(api.url, kind, address, key)).status).toBe(200);
    expect(await kind.written(address)).toEqual(kind.expected);
  });

  test.each([
    { kind: track, fate: 'lost after' as const },
    { kind: track, fate: 'lost before' as const },
    { kind: one, fate: 'lost after' as const },
    { kind: three, fate: 'lost before' as const },
  ])('$kind.name whose commit is $fate its answer is accepted all the same, once', async ({ kind, fate }) => {
    const [address, key] = [anAddress(), aKey()];
    let left = 1;
    await commits(() => (left-- > 0 ? fate : null));
    const answer = await ask(api.url, kind, address, key);
    expect([answer.status, left]).toEqual([200, -1]);
    expect(await kind.written(address)).toEqual(kind.expected);
    const again = await ask(api.url, kind, address, key);
    expect([again.status, again.body.error.details.originalStatusCode]).toEqual([409, 200]);
    if (kind === track) {
      const row = await database.db.row<{ id: string }>('select id from events where id = $1', [
        answer.body.data.event,
      ]);
      expect(row).not.toBeNull();
    }
  });

  test('when nobody can tell, the answer says so, and the repetition finds it', { timeout: 20_000 }, async () => {
    const [address, key] = [anAddress(), aKey()];
    await commits(() => 'lost after');
    const answer = await ask(api.url, one, address, key);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(answer.body.error.suggestion).toContain('same Idempotency-Key');
    vi.restoreAllMocks();
    expect((await ask(api.url, one, address, key)).body.error.details.originalStatusCode).toBe(200);
    expect(await mailsOf(address)).toEqual([1, 1]);
  });
});

describe('what a key is kept for', () => {
  test('a key that was used is told before the body is, and stays used', async () => {
    const key = aKey();
    expect((await ask(api.url, track, anAddress(), key)).status).toBe(200);
    const other = await api.call(project.secretKey, 'POST', '/v1/send', {}, { 'idempotency-key': key });
    expect(other.status).toBe(409);
    expect(other.body.error.suggestion).not.toMatch(/new key for a new request/i);
    expect(other.body.error.suggestion).toContain('nothing has to be sent again');
  });

  test('a request to nobody uses its key', async () => {
    const key = aKey();
    const nobody = { from: project.sender, to: [], subject: 's', body: 'b' };
    const call = () => api.call(project.secretKey, 'POST', '/v1/send', nobody, { 'idempotency-key': key });
    expect([(await call()).status, (await call()).status]).toEqual([200, 409]);
  });

  test('a request beyond the monthly limit releases its key and keeps the count that it began', async () => {
    const limited = await aProject(database);
    await database.db.count('update projects set billing_limit_transactional = 0 where id = $1', [limited.id]);
    const key = aKey();
    const address = anAddress();
    const call = () => ask(api.url, one, address, key, limited);
    expect((await call()).status).toBe(402);
    expect((await call()).status).toBe(402);
    const counter = await database.db.row<{ reserved: number }>(
      `select reserved from usage_counters where project_id = $1 and category = 'TRANSACTIONAL'`,
      [limited.id],
    );
    expect(counter?.reserved).toBe(0);
    expect(await database.db.rows('select 1 from idempotency_keys where project_id = $1', [limited.id])).toEqual([]);
    expect(await mailsOf(address)).toEqual([0, 0]);
  });
});
