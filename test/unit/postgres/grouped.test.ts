import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { type GroupingHandle, groupCalls } from '../../../src/store/postgres/grouped.ts';

interface Call {
  unique: string;
}

const database = () => ({ pool: {} as Pool, author: null }) as GroupingHandle;
const refusal = (code: string) => Object.assign(new Error(code), { severity: 'ERROR', code });

function recorded(work: (calls: readonly Call[]) => Promise<(string | null)[]>) {
  const statements: string[][] = [];
  const group = groupCalls<Call, string, GroupingHandle>((_, projectId, calls) => {
    statements.push([projectId, ...calls.map(({ unique }) => unique)]);
    return work(calls);
  });
  return { statements, group };
}
const named = async (calls: readonly Call[]) => calls.map(({ unique }) => `done ${unique}`);

test('calls of one moment share a statement, those of another project and of the same name do not', async () => {
  const { statements, group } = recorded(named);
  const db = database();
  const results = await Promise.all([
    group(db, 'one', { unique: 'a' }),
    group(db, 'one', { unique: 'b' }),
    group(db, 'one', { unique: 'a' }),
    group(db, 'two', { unique: 'a' }),
  ]);
  expect(results).toEqual(['done a', 'done b', 'done a', 'done a']);
  expect(statements).toEqual([
    ['one', 'a', 'b'],
    ['one', 'a'],
    ['two', 'a'],
  ]);
});

test('while two statements are under way, what comes waits and is the next one', async () => {
  const ends: (() => void)[] = [];
  const { statements, group } = recorded(async (calls) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return named(calls);
  });
  const db = database();
  const results: Promise<string | null>[] = [];
  for (const unique of ['a', 'b', 'c', 'd']) {
    results.push(group(db, 'one', { unique }));
    await new Promise(setImmediate);
  }
  expect(statements).toEqual([
    ['one', 'a'],
    ['one', 'b'],
  ]);
  ends[0]?.();
  await results[0];
  await new Promise(setImmediate);
  expect(statements[2]).toEqual(['one', 'c', 'd']);
  for (const end of ends) end();
  expect(await Promise.all(results)).toEqual(['done a', 'done b', 'done c', 'done d']);
});

test('after a refusal or a conflict every call is made by itself; when nobody knows what became of it, every call fails', async () => {
  const refused = recorded(() => Promise.reject(refusal('23514')));
  const db = database();
  expect(await Promise.all(['a', 'b'].map((unique) => refused.group(db, 'one', { unique })))).toEqual([null, null]);
  const conflict = recorded(() => Promise.reject(refusal('55P03')));
  expect(await Promise.all(['a', 'b'].map((unique) => conflict.group(db, 'one', { unique })))).toEqual([null, null]);
  expect(await Promise.allSettled([conflict.group(db, 'one', { unique: 'c' })])).toMatchObject([
    { status: 'rejected' },
  ]);
  const lost = recorded(() => Promise.reject(new Error('Connection terminated unexpectedly')));
  const results = await Promise.allSettled(['a', 'b'].map((unique) => lost.group(db, 'one', { unique })));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.allSettled([lost.group(db, 'one', { unique: 'c' })])).toMatchObject([{ status: 'rejected' }]);
});
