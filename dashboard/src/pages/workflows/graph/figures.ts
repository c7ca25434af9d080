import { count, counted, rate } from '../../../words/numbers.ts';
import { pathCountOf } from './graph.ts';
import type { PathCounts, Transition } from './shapes.ts';

/** The share of contacts that took one path out of a step, as a short label and in words. */
export interface PathFigures {
  /** `12 · 60%`, or `0`. */
  text: string;
  /** `−15%`, the part that went on by no way; empty where nobody did, or where several ways leave the step. */
  drop: string;
  words: string;
}

/** The figures of a way, or null where nobody has reached its step. */
export function figuresOf(
  way: Pick<Transition, 'fromStepId' | 'branch' | 'waitOutcome'>,
  siblings: readonly Pick<Transition, 'branch' | 'waitOutcome'>[],
  people: PathCounts | undefined,
  from: string,
): PathFigures | null {
  const step = people?.steps.find(({ stepId }) => stepId === way.fromStepId);
  if (!step || step.reached === 0) return null;
  const { reached, dropped, branches } = step;
  const taken = pathCountOf(way, siblings, branches);
  const sumOf = (some: typeof branches) => some.reduce((sum, one) => sum + one.count, 0);
  const open = reached - dropped - sumOf(branches);
  const left = sumOf(branches.filter(({ branch }) => branch.startsWith('exit:')));
  const failed = taken.failed > 0 ? ` (${count(taken.failed)} failed)` : '';
  return {
    text: `${count(taken.count)}${failed}${taken.count > 0 ? ` · ${shareText(taken.count, reached)}` : ''}`,
    drop: dropped > 0 && siblings.length === 0 ? `−${shareText(dropped, reached)}` : '',
    words: [
      `${count(taken.count)} of ${counted(reached, 'contact')} that reached “${from}” took this path (${shareText(taken.count, reached)}).`,
      taken.failed > 0 ? `For ${count(taken.failed)} of them the request failed.` : '',
      left > 0 ? `${count(left)} left the workflow.` : '',
      dropped > 0 ? `${dropOff(step)} at this step.` : '',
      open > 0 ? `${count(open)} ${open === 1 ? 'is' : 'are'} still there.` : '',
    ]
      .filter(Boolean)
      .join(' '),
  };
}

/** Who of those who reached a step went on by no way: `3 dropped off (15%)`; empty where nobody did. */
export function dropOff({ reached, dropped }: Pick<PathCounts['steps'][number], 'reached' | 'dropped'>): string {
  return dropped > 0 ? `${count(dropped)} dropped off (${shareText(dropped, reached)})` : '';
}

/** A part of a whole in percent: `60%`, or `<1%`. */
export function shareText(part: number, whole: number): string {
  const exact = (part / whole) * 100;
  // Neither nobody nor everybody is what some are rounded to.
  if (exact > 0 && exact < 1) return `<${rate(1)}`;
  if (exact > 99 && exact < 100) return `>${rate(99)}`;
  return rate(Math.round(exact));
}
