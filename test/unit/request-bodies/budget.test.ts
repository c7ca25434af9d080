import { expect, test } from 'vitest';
import { BodyBudget } from '../../../src/http/bodies/budget.ts';

test('a budget lets others in while the share of one is used up, and the waiting when there is room again', async () => {
  const budget = new BodyBudget({ total: 100, share: 60, waitMs: 60_000 });
  const first = await budget.take('a', 50);
  let admitted = false;
  const second = budget.take('a', 20).then((hold) => {
    admitted = true;
    return hold;
  });
  const other = await budget.take('b', 40);
  await Promise.resolve();
  expect([admitted, budget.held]).toEqual([false, 90]);
  expect([other.growTo(50), other.growTo(51)]).toEqual([true, false]);
  first.release();
  first.release();
  const hold = await second;
  expect(budget.held).toBe(70);
  hold.release();
  other.release();
  expect(budget.held).toBe(0);
});

test('who waits too long is refused, and takes nothing', async () => {
  const budget = new BodyBudget({ total: 10, share: 10, waitMs: 1 });
  const hold = await budget.take('a', 10);
  await expect(budget.take('b', 1)).rejects.toMatchObject({ fault: { kind: 'busy' } });
  hold.release();
  expect(budget.held).toBe(0);
});
