import type { PathCondition } from './paths.ts';

/** Whether two JSON values say the same, whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown): boolean {
  return ordered(one) === ordered(other);
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A path as a text: two that mean the same have the same, whatever their ids. */
export function pathMeaning({
  fromStepId,
  toStepId,
  branch,
  waitOutcome,
  priority,
}: PathCondition & { fromStepId: string; toStepId: string; priority: number }): string {
  return JSON.stringify([fromStepId, toStepId, branch, waitOutcome, priority]);
}
