import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { User } from '../../src/accounts/entity.ts';
import { openStore } from '../../src/store/orm.ts';
import { databaseOf, raw, sql, unprepared, withSavepoint } from '../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const emails = async () =>
  (await database.db.rows<{ email: string }>(sql`select email from users order by email`)).map(({ email }) => email);
const user = (email: string) => ({ email, passwordHash: null, emailVerified: true });

describe('queries', () => {
  test('hand over texts, numbers, arrays, null, objects and instants', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const row = await database.db.row<{ text: string; list: string[]; nothing: null; json: object; same: boolean }>(
      sql`select ${"it's; --"}::text as text, ${['a', "b','c"]}::text[] as list, ${null}::int as nothing,
        ${{ a: [1, null] }}::jsonb as json, ${at}::timestamptz = '2026-01-02T03:04:05.678Z' as same`,
    );
    expect(row).toEqual({ text: "it's; --", list: ['a', "b','c"], nothing: null, json: { a: [1, null] }, same: true });
  });

  test('answer rows, the first row or how many were changed', async () => {
    const numbers = sql`select n from generate_series(1, ${3}::int) n`;
    expect(await database.db.rows<{ n: number }>(numbers)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await database.db.row<{ n: number }>(numbers)).toEqual({ n: 1 });
    expect(await database.db.row(sql`select from users where email = ${'nobody'}`)).toBeNull();
    expect(await database.db.count(sql`update users set email = email where email = any(${['nobody']})`)).toBe(0);
  });
});

test('nothing is left of a store that was closed: a command ends when it is done', async () => {
  const store = await openStore({ url: database.url, poolSize: 2, applicationName: 'fernpost-test-closed' }, []);
  await Promise.all([1, 2].map((n) => store.db.row(sql`select ${n}::int`)));
  await store.close();
  expect([store.db.pool.ended, store.db.pool.totalCount]).toEqual([true, 0]);
});

test('four idle connections of a store stay open, so that a request seldom waits for a new one', async () => {
  await using store = await openStore({ url: database.url, poolSize: 6, applicationName: 'fernpost-test-kept' }, []);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await Promise.all(Array.from({ length: 6 }, () => store.db.row(sql`select pg_sleep(${0.05}::float8)`)));
    expect(store.db.pool.totalCount).toBe(6);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.db.pool.totalCount).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

describe('prepared statements', () => {
  const names = `select name from pg_prepared_statements where statement like '%prepared_probe%' order by name`;

  test('are prepared once for each text, with a name that says nothing of the values', async () => {
    const probe = (value: number) => sql`select ${value}::int as prepared_probe`;
    await database.db.transaction(async (tx) => {
      for (const value of [1, 2, 3]) await tx.rows(probe(value));
      await tx.rows(sql`select * from (${probe(4)}) inner_one`);
      await tx.rows(unprepared(sql`select ${5}::int as prepared_probe, 2 as dynamic`));
      const prepared = await tx.rows<{ name: string }>(names);
      expect(prepared.map(({ name }) => name).filter((name) => name === probe(9).name)).toHaveLength(1);
      expect(prepared).toHaveLength(2);
    });
  });

  test('are left out where a pooler does not pass on their names', async () => {
    const plain = databaseOf(database.db.pool, { prepares: false, em: null });
    await plain.transaction(async (tx) => {
      expect(await tx.row(sql`select ${7}::int as unprepared_probe`)).toEqual({ unprepared_probe: 7 });
      expect(await tx.rows(`select from pg_prepared_statements where statement like '%unprepared_probe%int%'`)).toEqual(
        [],
      );
    });
  });
});

describe('a transaction', () => {
  test('gives entities and SQL together, each of which sees what the other wrote, and writes both at its end', async () => {
    await database.db.transaction(async (tx) => {
      tx.em.create(User, user('entity@both.test'));
      await tx.em.flush();
      expect(await tx.row(sql`select 1 as found from users where email = ${'entity@both.test'}`)).toEqual({ found: 1 });
      await tx.count(
        sql`insert into users (id, email, email_verified) values (gen_random_uuid(), ${'sql@both.test'}, true)`,
      );
      expect(await tx.em.findOne(User, { email: 'sql@both.test' })).toMatchObject({ emailVerified: true });
      expect(await emails()).not.toContain('entity@both.test');
      // Written by the commit, without a flush of its own.
      tx.em.create(User, user('late@both.test'));
    });
    expect(await emails()).toEqual(expect.arrayContaining(['entity@both.test', 'late@both.test', 'sql@both.test']));
  });

  test('takes back what entities and SQL wrote when its work rejects', async () => {
    const work = database.db.transaction(async (tx) => {
      tx.em.create(User, user('entity@back.test'));
      await tx.em.flush();
      await tx.count(sql`update users set email_verified = false where email = ${'entity@back.test'}`);
      throw new Error('on purpose');
    });
    await expect(work).rejects.toThrow('on purpose');
    expect(await emails()).not.toContain('entity@back.test');
  });

  test('rejects with what the last entities broke, and frees its connection', async () => {
    const twice = database.db.transaction(async (tx) => {
      tx.em.create(User, user('twice@broken.test'));
      tx.em.create(User, user('twice@broken.test'));
    });
    await expect(twice).rejects.toBeInstanceOf(UniqueConstraintViolationException);
    expect(await emails()).not.toContain('twice@broken.test');
    expect(database.db.pool.idleCount).toBe(database.db.pool.totalCount);
  });

  test('is joined by whoever opens one inside', async () => {
    const work = database.db.transaction(async (tx) => {
      await tx.transaction(async (inner) => {
        inner.em.create(User, user('inner@joined.test'));
        await inner.em.flush();
      });
      expect(await tx.em.count(User, { email: 'inner@joined.test' })).toBe(1);
      throw new Error('on purpose');
    });
    await expect(work).rejects.toThrow('on purpose');
    expect(await emails()).not.toContain('inner@joined.test');
  });

  test('goes on without a part that failed, of which nothing stays', async () => {
    await database.db.transaction(async (tx) => {
      const add = (email: string) => tx.count(sql`insert into users (id, email) values (gen_random_uuid(), ${email})`);
      const part = (...parts: string[]) =>
        withSavepoint(tx, async () => {
          for (const email of parts) await add(email);
          return parts.length;
        });
      await add('before@savepoint.test');
      await expect(part('lost@savepoint.test', 'before@savepoint.test')).rejects.toThrow(/duplicate key/);
      expect(await part('after@savepoint.test')).toBe(1);
    });
    const kept = (await emails()).filter((email) => email.endsWith('@savepoint.test'));
    expect(kept).toEqual(['after@savepoint.test', 'before@savepoint.test']);
  });

  // The setup of tests refuses the warning of `pg` about a connection that is asked twice at once.
  test('answers those who ask side by side', async () => {
    await database.db.transaction(async (tx) => {
      const asked = [
        tx.row(sql`select 1 as n`),
        tx.em.count(User, { email: 'nobody@aside.test' }),
        tx.row('select 2 as n'),
      ];
      expect(await Promise.all(asked)).toEqual([{ n: 1 }, 0, { n: 2 }]);
    });
  });

  test('says so when its entity manager is to open another', async () => {
    const work = database.db.transaction((tx) => tx.em.transactional(async () => undefined));
    await expect(work).rejects.toThrow('A transaction is open already');
  });

  test('locks rows by entities until it ends', async () => {
    await database.db.count(sql`insert into users (id, email) values (gen_random_uuid(), ${'locked@lock.test'})`);
    await database.db.transaction(async (tx) => {
      await tx.em.findOneOrFail(User, { email: 'locked@lock.test' }, { lockMode: 4 });
      const other = sql`select 1 as free from users where email = ${'locked@lock.test'} for update skip locked`;
      expect(await database.db.row(other)).toBeNull();
      expect(await tx.row(other)).toEqual({ free: 1 });
    });
  });
});

test('each session has an entity manager of its own; the handle of the process has none to use', async () => {
  const [one, other] = [database.db.session(), database.db.session()];
  expect(one.em).toBe(one.em);
  expect(one.em).not.toBe(other.em);
  expect(await one.em.count(User, { email: 'nobody@session.test' })).toBe(0);
  await expect(async () => database.db.em.count(User)).rejects.toThrow(/global/i);
  expect(() => database.db.em.create(User, user('global@em.test'))).toThrow(/global/i);
});

test('an identifier comes of a constant of the code', async () => {
  expect(
    await database.db.row(sql`select ${raw('count(*)::int')} as n from ${raw('pg_class')} where oid = ${0}`),
  ).toEqual({
    n: 0,
  });
});
