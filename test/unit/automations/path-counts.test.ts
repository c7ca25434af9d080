import { expect, test } from 'vitest';
import { PathCountCache } from '../../../src/automations/runs/queries.ts';

/** Counts that take as long as they are told to; `asked` says how often. */
function slowCounts() {
  let now = 0;
  let asked = 0;
  const counts = new PathCountCache(() => now);
  const look = (took: number) =>
    counts.get('welcome', async () => {
      asked += 1;
      now += took;
      return [{ stepId: 'mail', branch: 'next', count: asked, open: 0, invalidZones: 0 }];
    });
  return { look, pass: (ms: number) => (now += ms), asked: () => asked, counts };
}

test('counts that take no time are made at every look', async () => {
  const { look, asked, pass } = slowCounts();
  await look(3);
  pass(1);
  await look(3);
  expect(asked()).toBe(2);
});

test('counts that take long are kept for twenty times as long', async () => {
  const { look, asked, pass } = slowCounts();
  await look(500);
  pass(9_900);
  expect(await look(500)).toEqual([{ stepId: 'mail', branch: 'next', count: 1, open: 0, invalidZones: 0 }]);
  pass(200);
  await look(500);
  expect(asked()).toBe(2);
});

test('who asks while it is counted shares the count, and a count that fails is not kept', async () => {
  const { look, asked, counts } = slowCounts();
  const [one, other] = await Promise.all([look(100), look(100)]);
  expect([asked(), one === other]).toEqual([1, true]);
  const failing = () => Promise.reject(new Error('gone'));
  await expect(counts.get('other', failing)).rejects.toThrow('gone');
  expect(await counts.get('other', async () => [])).toEqual([]);
});
