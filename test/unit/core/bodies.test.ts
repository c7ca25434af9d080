import { expect, test } from 'vitest';
import { bodyLimits } from '../../../src/core/http/body.ts';
import { keyedBudgetSize } from '../../../src/core/http/body-budget.ts';

test('the largest body fits into a share, however small the heap', () => {
  const largest = Math.max(...Object.values(bodyLimits).map(({ bytes }) => bytes));
  for (const heap of [64, 512, 4_096, 65_536])
    expect(keyedBudgetSize(heap * 1024 * 1024).share).toBeGreaterThanOrEqual(largest);
});
