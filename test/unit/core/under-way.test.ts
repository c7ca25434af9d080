import { expect, test } from 'vitest';
import { UnderWay } from '../../../src/store/outbox/wake.ts';

/** A count of at most eight whose items end when the test says so, by a clock of the test. */
function aCount() {
  const open = new Set<number>();
  const asked: number[][] = [];
  const clock = { now: 0 };
  const underWay = new UnderWay<number>({
    most: 8,
    patienceMs: 1_000,
    now: () => clock.now,
    async still(items) {
      asked.push([...items]);
      return items.filter((item) => open.has(item));
    },
  });
  const begin = (...items: number[]) => {
    for (const item of items) {
      open.add(item);
      underWay.add(item);
    }
  };
  const end = (...items: number[]) => {
    for (const item of items) open.delete(item);
  };
  return { underWay, asked, clock, begin, end };
}

test('there is room for so many and no more, and again when some have come to something', async () => {
  const { underWay, begin, end } = aCount();
  expect(await underWay.remaining()).toBe(8);
  begin(1, 2, 3, 4, 5, 6, 7, 8);
  expect(await underWay.remaining()).toBe(0);
  end(1, 2, 3);
  expect(await underWay.remaining()).toBe(3);
  begin(9, 10, 11);
  expect(await underWay.remaining()).toBe(0);
});

test('a little room is none, so that batches stay large', async () => {
  const { underWay, begin, end } = aCount();
  begin(1, 2, 3, 4, 5, 6, 7, 8);
  end(1);
  expect(await underWay.remaining()).toBe(0);
  end(2);
  expect(await underWay.remaining()).toBe(2);
});

test('nobody is asked while there is room enough', async () => {
  const { underWay, asked, begin } = aCount();
  begin(1, 2, 3, 4, 5, 6);
  expect(await underWay.remaining()).toBe(2);
  expect(asked).toEqual([]);
  begin(7);
  await underWay.remaining();
  expect(asked).toEqual([[1, 2, 3, 4, 5, 6, 7]]);
});

test('what is held up by something of its own does not hold up the others: what was begun long after it has come to something', async () => {
  const { underWay, clock, begin, end } = aCount();
  begin(1, 2, 3, 4, 5, 6);
  clock.now = 900;
  begin(7, 8);
  end(7, 8);
  // The six may only be slow.
  expect(await underWay.remaining()).toBe(2);
  clock.now = 1_100;
  begin(9, 10);
  end(9, 10);
  expect(await underWay.remaining()).toBe(8);
});

test('while workers are behind, a few are begun now and then, and not all over again', async () => {
  const { underWay, clock, begin } = aCount();
  let begun = 0;
  for (; clock.now <= 60_000; clock.now += 100) {
    const room = await underWay.remaining();
    begin(...Array.from({ length: room }, () => ++begun));
  }
  // Eight, and two of each second in which nothing came to anything.
  expect(begun).toBe(8 + 2 * 60);
});

test('workers that are slow are given as much as they take', async () => {
  const { underWay, clock, begin, end } = aCount();
  let [begun, ended] = [0, 0];
  // One in eight tenths of a second, which is shorter than anything may stand still.
  for (; clock.now <= 60_000; clock.now += 100) {
    const room = await underWay.remaining();
    begin(...Array.from({ length: room }, () => ++begun));
    if (clock.now % 800 === 0 && clock.now > 0) end(++ended);
    expect(begun - ended).toBeLessThanOrEqual(9);
  }
  expect(ended).toBe(75);
});

test('once workers are back, what they take makes room as before', async () => {
  const { underWay, clock, begin, end } = aCount();
  begin(1, 2, 3, 4, 5, 6, 7, 8);
  clock.now = 1_000;
  expect(await underWay.remaining()).toBe(2);
  begin(9, 10);
  clock.now = 1_500;
  end(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  expect(await underWay.remaining()).toBe(8);
});

test('what is begun while it is asked is counted', async () => {
  const open = [1, 2, 3];
  const underWay: UnderWay<number> = new UnderWay({
    most: 4,
    still: async (items) => {
      underWay.add(9);
      return items.filter((item) => open.includes(item));
    },
  });
  for (const item of [1, 2, 3, 4]) underWay.add(item);
  // Of four that were asked about one has ended, and another one has begun meanwhile.
  expect(await underWay.remaining()).toBe(0);
});
