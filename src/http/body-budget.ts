import { getHeapStatistics } from 'node:v8';
import type { BudgetSize } from './bodies/budget.ts';

const megabyte = 1024 * 1024;
const waitMs = 10_000;
// The largest body is one of 60 MB.
const smallestShare = 64 * megabyte;

/** The budget of bodies that anybody may send. */
export const openBudgetSize: BudgetSize = { total: 16 * megabyte, share: 8 * megabyte, waitMs };

/** The budget of bodies that come with a key, a session or a webhook's credentials, for a heap of this size. */
export function keyedBudgetSize(heapBytes = getHeapStatistics().heap_size_limit): BudgetSize {
  // A body of n bytes takes up to 5n while it is parsed.
  const total = Math.max(smallestShare, Math.min(256 * megabyte, Math.floor(heapBytes / 16)));
  return { total, share: Math.max(smallestShare, total / 2), waitMs };
}
