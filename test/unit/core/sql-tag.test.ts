import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { join, raw, sql, unprepared } from '../../../src/store/sql.ts';

const byId = (id: unknown) => sql`select * from contacts where id = ${id}`;

describe('SQL with values in place', () => {
  test('makes each value a parameter', () => {
    const query = sql`select ${1} as one, ${'two'} as two`;
    expect(query.text).toBe('select $1 as one, $2 as two');
    expect(query.values).toEqual([1, 'two']);
  });

  test('takes an array, null and an object as one value each', () => {
    const query = sql`select ${[1, 2]}, ${null}, ${{ a: [1] }}`;
    expect(query.text).toBe('select $1, $2, $3');
    expect(query.values).toEqual([[1, 2], null, { a: [1] }]);
  });

  test('puts queries into queries, and counts the parameters through', () => {
    const recent = sql`created_at > ${'2026-01-01'}`;
    const query = sql`select ${raw('id, email')} from contacts where project_id = ${'p'} and ${recent} limit ${10}`;
    expect(query.text).toBe('select id, email from contacts where project_id = $1 and created_at > $2 limit $3');
    expect(query.values).toEqual(['p', '2026-01-01', 10]);
    const outer = sql`with page as (${query}) select * from page where ${recent} and name = ${'n'}`;
    expect(outer.text).toBe(
      'with page as (select id, email from contacts where project_id = $1 and created_at > $2 limit $3) select * from page where created_at > $4 and name = $5',
    );
    expect(outer.values).toEqual(['p', '2026-01-01', 10, '2026-01-01', 'n']);
  });

  test('gives one place in the code as many texts as it has variants', () => {
    const list = (search: string | null) =>
      sql`select id from contacts where ${search === null ? sql`true` : sql`email ilike ${search}`} limit ${5}`;
    expect(list(null).text).toBe('select id from contacts where true limit $1');
    expect(list('a%').text).toBe('select id from contacts where email ilike $1 limit $2');
    expect(list(null).values).toEqual([5]);
    expect(list('a%').values).toEqual(['a%', 5]);
  });

  test('joins queries, and an empty list to nothing', () => {
    const conditions = [sql`a = ${1}`, raw('b'), sql`c = ${3}`];
    const query = sql`select where ${join(conditions, ' and ')} or d = ${4}`;
    expect(query.text).toBe('select where a = $1 and b and c = $2 or d = $3');
    expect(query.values).toEqual([1, 3, 4]);
    expect(sql`select ${join([], ', ')}`.text).toBe('select ');
  });
});

describe('the name of a prepared statement', () => {
  test('comes of the text alone: it is the same for other values and in every process', () => {
    expect(byId('a').name).toBe(byId('b').name);
    // SHA-256 of the text: nothing of this process is in it.
    expect(sql`select ${1} as one`.name).toBe('sql_fae21849dda1a2ea09eac5283b3f4a49');
    expect(sql`select ${1} as one`.name).not.toBe(sql`select ${1} as two`.name);
  });

  test('fits into an identifier of Postgres', () => {
    expect(byId('a').name?.length).toBeLessThan(63);
  });

  test('is missing where a text depends on what users write, and wherever that is a part of', () => {
    const condition = unprepared(sql`data ->> ${'plan'} = ${'pro'}`);
    expect(condition.name).toBeNull();
    expect(sql`select from contacts where ${condition}`.name).toBeNull();
    expect(join([sql`true`, condition], ' and ').name).toBeNull();
    expect(sql`select from contacts where ${sql`true`}`.name).not.toBeNull();
  });
});

test('no value becomes text', () => {
  const value = fc.oneof(
    fc.string(),
    fc.constant(`'; drop table contacts; --`),
    fc.constant('$1'),
    fc.array(fc.string()),
  );
  fc.assert(
    fc.property(value, value, (one, other) => {
      const query = sql`select from contacts where a = ${one} and (${sql`b = ${other}`})`;
      expect(query.text).toBe('select from contacts where a = $1 and (b = $2)');
      expect(query.values).toEqual([one, other]);
    }),
  );
});

test('something that only looks like a query, as JSON of a request might, stays a value', () => {
  const forged: unknown = JSON.parse('{"shape":{"parts":["drop table contacts"]},"values":[],"isPrepared":true}');
  expect(sql`select ${forged}`.text).toBe('select $1');
});

test('a name is missing for texts beyond what the code can have, so that connections do not fill up with them', () => {
  const names = Array.from({ length: 5_100 }, (_, place) => sql`select ${raw(`'${place}'`)}`.name);
  expect(names[0]).not.toBeNull();
  expect(names.at(-1)).toBeNull();
});
