import { expect, test } from 'vitest';
import { RecentResults } from '../../../src/lib/keyed-turns.ts';

const setUp = (entries = 3) => {
  const clock = { at: 1_000 };
  const results = new RecentResults<number>({ entries, now: () => clock.at });
  const asked: string[] = [];
  const get = (key: string, result: number) =>
    results.get(
      key,
      async () => {
        asked.push(key);
        return result;
      },
      (found) => (found > 10_000 ? 30_000 : 0),
    );
  return { clock, results, asked, get };
};

test('a large result is kept for its time and found again after it', async () => {
  const { clock, asked, get } = setUp();
  expect(await get('berlin', 20_000)).toBe(20_000);
  clock.at += 30_000;
  expect(await get('berlin', 30_000)).toBe(20_000);
  clock.at += 1;
  expect(await get('berlin', 30_000)).toBe(30_000);
  expect(asked).toEqual(['berlin', 'berlin']);
});

test('a result not worth keeping is found each time', async () => {
  const { asked, get } = setUp();
  expect([await get('rome', 5), await get('rome', 6)]).toEqual([5, 6]);
  expect(asked).toHaveLength(2);
});

test('callers at the same time share one answer', async () => {
  const { asked, get } = setUp();
  expect(await Promise.all([get('oslo', 1), get('oslo', 2), get('oslo', 3)])).toEqual([1, 1, 1]);
  expect(asked).toEqual(['oslo']);
});

test('a failure is told to all who waited, and not kept', async () => {
  const { results, get } = setUp();
  const broken = () => Promise.reject(new Error('connection lost'));
  const waiting = [results.get('bonn', broken, () => 1_000), results.get('bonn', broken, () => 1_000)];
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await get('bonn', 12_000)).toBe(12_000);
});

test('a result that was changed is forgotten', async () => {
  const { results, get } = setUp();
  await get('kyiv', 20_000);
  results.forget('kyiv');
  expect(await get('kyiv', 0)).toBe(0);
});

test('no more results are kept than there is room for, the oldest go first', async () => {
  const { asked, get } = setUp(2);
  for (const key of ['a', 'b', 'c']) await get(key, 20_000);
  expect(await get('c', 1)).toBe(20_000);
  expect(await get('a', 1)).toBe(1);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
