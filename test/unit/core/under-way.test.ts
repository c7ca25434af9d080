import { expect, test } from 'vitest';
import { UnderWay } from '../../../src/store/outbox/wake.ts';

/** A count of at most eight whose items end when the test says so, by a clock of the test. */
function aCount() {
  const open = new Set<number>();
  const asked: number[][] = [];
  const clock = { now: 0 };
  const underWay = new UnderWay<number>({
    most: 8,
    forgetMs: 1_000,
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

test('what is held up for too long does not hold up the others', async () => {
  const { underWay, clock, begin } = aCount();
  begin(1, 2, 3, 4);
  clock.now = 600;
  begin(5, 6, 7, 8);
  expect(await underWay.remaining()).toBe(0);
  clock.now = 1_100;
  expect(await underWay.remaining()).toBe(4);
});
