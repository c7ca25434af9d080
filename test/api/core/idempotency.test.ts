import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { aProject } from '../../support/api.ts';
import {
  aKey,
  anAddress,
  type KeyedWorld,
  keyedWorld,
  mailsOf,
  one,
  three,
  track,
} from '../../support/idempotent-requests.ts';
import { mortalApi } from '../../support/mortal-api.ts';

let world: KeyedWorld;

beforeAll(async () => {
  world = await keyedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

test('of two processes that race with one key exactly one does the work', async () => {
  await using other = await mortalApi(world.settings);
  for (const kind of [track, one, three]) {
    for (let round = 0; round < 10; round++) {
      const [address, key] = [anAddress(), aKey()];
      const answers = await Promise.all(
        [world.api.url, other.url, world.api.url, other.url].map((url) => world.ask(url, kind, address, key)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      for (const { status, body } of answers)
        if (status === 409) expect(body.error.details.originalStatusCode).toBe(200);
      expect(await kind.written(world.database, address)).toEqual(kind.expected);
    }
  }
});

describe('a database that fails after the work', () => {
  type Query = (this: Client, ...parts: unknown[]) => Promise<unknown>;
  const textOf = (parts: unknown[]) => (typeof parts[0] === 'string' ? parts[0] : (parts[0] as { text?: string }).text);

  /** What becomes of each commit of this process, until it answers null. */
  async function commits(next: () => 'lost before' | 'lost after' | null): Promise<void> {
    // The ORM has a copy of the driver of its own: its clients are reached by one of them.
    const client = await world.api.app.db.pool.connect();
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
    await world.database.db.count(`create function refuse_commit() returns trigger language plpgsql as $$
      begin raise exception 'the disk is full'; end $$`);
    await world.database.db.count(`create constraint trigger refuse_commit after insert on idempotency_keys
      deferrable initially deferred for each row execute function refuse_commit()`);
    const failed = await world.ask(world.api.url, kind, address, key);
    await world.database.db.count('drop function refuse_commit cascade');
    expect([failed.status, failed.body.error.code]).toEqual([500, 'DATABASE_ERROR']);
    expect(await kind.written(world.database, address)).toEqual([0, 0]);
    expect((await world.ask(world.api.url, kind, address, key)).status).toBe(200);
    expect(await kind.written(world.database, address)).toEqual(kind.expected);
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
    const answer = await world.ask(world.api.url, kind, address, key);
    expect([answer.status, left]).toEqual([200, -1]);
    expect(await kind.written(world.database, address)).toEqual(kind.expected);
    const again = await world.ask(world.api.url, kind, address, key);
    expect([again.status, again.body.error.details.originalStatusCode]).toEqual([409, 200]);
    if (kind === track) {
      const row = await world.database.db.row<{ id: string }>('select id from events where id = $1', [
        answer.body.data.event,
      ]);
      expect(row).not.toBeNull();
    }
  });

  test('when nobody can tell, the answer says so, and the repetition finds it', async () => {
    const [address, key] = [anAddress(), aKey()];
    await commits(() => 'lost after');
    const answer = await world.ask(world.api.url, one, address, key);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(answer.body.error.suggestion).toContain('same Idempotency-Key');
    vi.restoreAllMocks();
    expect((await world.ask(world.api.url, one, address, key)).body.error.details.originalStatusCode).toBe(200);
    expect(await mailsOf(world.database, address)).toEqual([1, 1]);
  });
});

describe('what a key is kept for', () => {
  test('a key that was used is told before the body is, and stays used', async () => {
    const key = aKey();
    expect((await world.ask(world.api.url, track, anAddress(), key)).status).toBe(200);
    const other = await world.api.call(world.project.secretKey, 'POST', '/v1/send', {}, { 'idempotency-key': key });
    expect(other.status).toBe(409);
    expect(other.body.error.suggestion).not.toMatch(/new key for a new request/i);
    expect(other.body.error.suggestion).toContain('nothing to send again');
  });

  test('work that Postgres undid to end a deadlock is done again with its answer, which a repetition gets', async () => {
    const [address, key] = [anAddress(), aKey()];
    // A rolled back sequence keeps its value, so that only the first attempt fails.
    await world.database.db.count('create sequence deadlock_attempts');
    await world.database.db.count(`create function end_deadlock() returns trigger language plpgsql as $$
      begin if nextval('deadlock_attempts') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if; return null; end $$`);
    await world.database.db.count(`create constraint trigger end_deadlock after insert on idempotency_keys
      deferrable initially deferred for each row execute function end_deadlock()`);
    const headers = { 'idempotency-key': key, 'idempotency-mode': 'replay' };
    const mail = { from: world.project.sender, to: address, subject: 's', body: 'b' };
    const call = () => world.api.call(world.project.secretKey, 'POST', '/v1/send', mail, headers);
    const first = await call();
    await world.database.db.count('drop function end_deadlock cascade');
    const attempts = await world.database.db.row<{ at: number }>('select last_value::int as at from deadlock_attempts');
    await world.database.db.count('drop sequence deadlock_attempts');
    expect([first.status, attempts?.at]).toEqual([200, 2]);
    expect(await mailsOf(world.database, address)).toEqual([1, 1]);
    const again = await call();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.body.data).toEqual(first.body.data);
  });

  test('a request to nobody uses its key', async () => {
    const key = aKey();
    const nobody = { from: world.project.sender, to: [], subject: 's', body: 'b' };
    const call = () => world.api.call(world.project.secretKey, 'POST', '/v1/send', nobody, { 'idempotency-key': key });
    expect([(await call()).status, (await call()).status]).toEqual([200, 409]);
  });

  test('a request beyond the monthly limit releases its key and keeps the count that it began', async () => {
    const limited = await aProject(world.database);
    await world.database.db.count('update projects set billing_limit_transactional = 0 where id = $1', [limited.id]);
    const key = aKey();
    const address = anAddress();
    const call = () => world.ask(world.api.url, one, address, key, limited);
    expect((await call()).status).toBe(402);
    expect((await call()).status).toBe(402);
    const counter = await world.database.db.row<{ reserved: number }>(
      `select reserved from usage_counters where project_id = $1 and category = 'TRANSACTIONAL'`,
      [limited.id],
    );
    expect(counter?.reserved).toBe(0);
    expect(await world.database.db.rows('select 1 from idempotency_keys where project_id = $1', [limited.id])).toEqual(
      [],
    );
    expect(await mailsOf(world.database, address)).toEqual([0, 0]);
  });
});

describe('Idempotency-Mode: replay', () => {
  const replayed = { 'idempotency-mode': 'replay' };

  test.each([track, one, three])('$name: 50 equal requests at once do it once and get one answer', async (kind) => {
    const address = anAddress();
    const owner = await aProject(world.database);
    const { key, path, body } = kind.request(owner, address);
    const headers = { ...replayed, 'idempotency-key': aKey() };
    const ask = () => world.api.call(key, 'POST', path, body, headers);
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(answers.map(({ status, body: answer }) => `${status} ${JSON.stringify(answer)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    const marks = answers.map(({ headers: answered }) => String(answered.get('idempotency-replayed')));
    expect(marks.toSorted()).toEqual(['null', ...Array.from({ length: 49 }, () => 'true')]);
    expect(await kind.written(world.database, address)).toEqual(kind.expected);
    // What would be refused by now was answered then, and is answered so again.
    await world.database.db.count('update projects set billing_limit_transactional = 0 where id = $1', [owner.id]);
    expect((await ask()).body).toEqual(answers[0]?.body);
  });

  test('another body, another path, no mode and a first request without it are refused', async () => {
    const [key, address] = [aKey(), anAddress()];
    const ask = (subject: string, headers: Record<string, string> = replayed, path = '/v1/send') => {
      const body = { from: world.project.sender, to: address, subject, body: '<p>x</p>' };
      return world.api.call(world.project.secretKey, 'POST', path, body, { 'idempotency-key': key, ...headers });
    };
    expect((await ask('a')).status).toBe(200);
    expect((await ask('a')).headers.get('idempotency-replayed')).toBe('true');
    for (const refused of [await ask('b'), await ask('a', {}), await ask('a', replayed, '/v1/send?x=1')])
      expect([refused.status, refused.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    const plain = { 'idempotency-key': aKey() };
    expect((await ask('a', plain)).status).toBe(200);
    expect((await ask('a', { ...replayed, ...plain })).status).toBe(409);
    expect((await ask('a', { 'idempotency-mode': 'again' })).status).toBe(400);
    const keyless = await world.api.call(world.project.secretKey, 'POST', '/v1/send', {}, replayed);
    expect([keyless.status, keyless.body.error.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
  });

  test('a refused request leaves its key unused, and an answer above 64 kB is not kept', async () => {
    const owner = await aProject(world.database);
    const headers = { ...replayed, 'idempotency-key': aKey() };
    const ask = (more: object) => {
      const body = { from: owner.sender, to: anAddress(), subject: 'a', body: '<p>x</p>', ...more };
      return world.api.call(owner.secretKey, 'POST', '/v1/send', body, headers);
    };
    expect((await ask({ subject: '' })).status).toBe(422);
    const many = { to: Array.from({ length: 600 }, (_, n) => `${'a'.repeat(40)}-${n}@example.com`) };
    expect((await ask(many)).status).toBe(200);
    expect((await ask(many)).status).toBe(409);
  });
});
