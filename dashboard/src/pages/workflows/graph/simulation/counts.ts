import { count, counted } from '../../../../words/numbers.ts';
import { shareText } from '../figures.ts';
import { pathCountOf, waysOut } from '../graph.ts';
import type { Step, StepType, Transition } from '../shapes.ts';

/** How many executions of one side reached a step, and which paths they took from it. */
export interface StepCounts {
  stepId: string;
  name: string;
  type: StepType;
  reached: number;
  inside: number;
  failed: number;
  paths: Readonly<Record<string, number>>;
}

type Collision = keyof typeof collisionWords;

/** What the executions of one side come to, of what the service says. */
export interface SideCounts {
  executions: number;
  steps: readonly StepCounts[];
  mails: { byDay: readonly { day: string; count: number }[] };
  collisions: Readonly<Record<Collision, { mails: number; contacts: number }>>;
}

/** Both sides; without a comparison there is one. */
export interface BothCounts extends SideCounts {
  comparison: { counts: SideCounts } | null;
}

/** How the two sides of a simulation are called. */
export interface Sides {
  here: string;
  there: string;
}

/** A step, or a path out of it, with how many runs reached or took it on each side; null on a side without the step. */
export interface CountedRow {
  key: string;
  step: Pick<StepCounts, 'stepId' | 'name' | 'type'>;
  /** The path in words; null for the step itself. */
  path: string | null;
  here: Part | null;
  there: Part | null;
}

/** Some of all runs that they are a part of. */
export interface Part {
  count: number;
  of: number;
  inside: number;
  failed: number;
}

/** A step as it is known to the page, which has the names of its branches. */
type KnownStep = Pick<Step, 'id' | 'type' | 'config'>;

/** The steps of both sides, those of the draft first, each with the paths out of it. */
export function rowsOf(result: BothCounts, known: ReadonlyMap<string, KnownStep>): CountedRow[] {
  const there = result.comparison?.counts ?? null;
  const theirs = new Map(there?.steps.map((step) => [step.stepId, step]));
  const mine = new Set(result.steps.map(({ stepId }) => stepId));
  const both: [StepCounts | null, StepCounts | null][] = [
    ...result.steps.map((step): [StepCounts, StepCounts | null] => [step, theirs.get(step.stepId) ?? null]),
    ...(there?.steps ?? []).flatMap((step): [null, StepCounts][] => (mine.has(step.stepId) ? [] : [[null, step]])),
  ];
  const exits = exitNames(known);
  return both.flatMap(([ours, other]) => {
    const step = ours ?? other;
    if (step === null) return [];
    const part = (side: StepCounts | null, all: number): Part | null =>
      side && { count: side.reached, of: all, inside: side.inside, failed: side.failed };
    const head: CountedRow = {
      key: step.stepId,
      step,
      path: null,
      here: part(ours, result.executions),
      there: part(other, there?.executions ?? 0),
    };
    const paths = [...new Set([...Object.keys(ours?.paths ?? {}), ...Object.keys(other?.paths ?? {})])];
    // Of a step with one path out the path says what the next step does.
    if (paths.every((path) => path === 'next' || path === 'success')) return [head];
    const taken = (side: StepCounts | null, path: string): Part | null =>
      side && { count: side.paths[path] ?? 0, of: side.reached, inside: 0, failed: 0 };
    return [
      head,
      ...paths.map((path) => ({
        key: `${step.stepId} ${path}`,
        step,
        path: pathText(path, known.get(step.stepId), exits),
        here: taken(ours, path),
        there: taken(other, path),
      })),
    ];
  });
}

const pathNames: Record<string, string> = {
  next: 'Continued',
  success: 'Request succeeded',
  failure: 'Request failed',
  EVENT: 'Event happened',
  TIMEOUT: 'Timed out',
};

function exitNames(known: ReadonlyMap<string, KnownStep>): ReadonlyMap<string, string> {
  const configs = [...known.values()].flatMap(({ type, config }) => (type === 'TRIGGER' ? [config] : []));
  const exits = configs.flatMap(({ exits: own }) =>
    Array.isArray(own) ? (own as { id: string; reason: string }[]) : [],
  );
  return new Map([...exits.map(({ id, reason }) => [id, reason] as const), ['goal', 'reached the goal'] as const]);
}

function pathText(path: string, step: KnownStep | undefined, exits: ReadonlyMap<string, string>): string {
  if (path.startsWith('exit:')) return `Left: ${exits.get(path.slice(5)) ?? 'an exit'}`;
  const own = step && waysOut(step).find(({ key, branch }) => branch !== null && key === path);
  return own?.label || pathNames[path] || path;
}

/** A part with its share: `12 (60%)`; a dash where the side has no such step. */
export function partText(part: Part | null): string {
  if (part === null) return '–';
  return part.of === 0 || part.count === 0
    ? count(part.count)
    : `${count(part.count)} (${shareText(part.count, part.of)})`;
}

/** What else is to say about the runs that reached a step: who is still there, and who failed. */
export function partDetail(part: Part | null): string {
  if (part === null) return '';
  const said = [
    part.inside > 0 ? `${count(part.inside)} still there` : '',
    part.failed > 0 ? `${count(part.failed)} failed` : '',
  ];
  return said.filter(Boolean).join(', ');
}

/** A difference between both sides as it is read in a line: `12 emails to 9 contacts … (live: 3 to 2)`. */
export function collisionTexts({ collisions, comparison }: BothCounts, { there }: Sides): string[] {
  return (Object.keys(collisionWords) as (keyof typeof collisionWords)[]).flatMap((kind) => {
    const { mails, contacts } = collisions[kind];
    const other = comparison?.counts.collisions[kind];
    if (mails + (other?.mails ?? 0) === 0) return [];
    const beside = other ? ` (${there.toLowerCase()}: ${count(other.mails)} to ${count(other.contacts)})` : '';
    return [`${counted(mails, 'email')} to ${counted(contacts, 'contact')} ${collisionWords[kind]}${beside}`];
  });
}

const collisionWords = {
  within24Hours: 'within 24 hours of another email of this workflow',
  afterGoal: 'after the contact had reached the goal',
  quietHours: 'wait for the end of quiet hours',
} as const;

/** A day of emails on both sides; null for a side that there is not. */
export interface MailDay {
  day: string;
  here: number;
  there: number | null;
}

/** The days on which emails are sent on either side, in their order. */
export function mailDays({ mails, comparison }: BothCounts): MailDay[] {
  const there = comparison?.counts.mails.byDay;
  const days = [...new Set([...mails.byDay, ...(there ?? [])].map(({ day }) => day))].sort();
  const countOn = (list: SideCounts['mails']['byDay'], day: string) =>
    list.find((each) => each.day === day)?.count ?? 0;
  return days.map((day) => ({ day, here: countOn(mails.byDay, day), there: there ? countOn(there, day) : null }));
}

type Transitioned = Pick<Transition, 'id' | 'fromStepId' | 'branch' | 'waitOutcome'>;

/** The graph with the counts of a simulation in the place of those of contacts. */
export function withCounts<Shown extends { step: { id: string }; people?: unknown }, Way extends Transitioned>(
  { steps, ways }: { steps: readonly Shown[]; ways: readonly Way[] },
  result: BothCounts,
  sides: Sides,
) {
  const here = new Map(result.steps.map((step) => [step.stepId, step]));
  const there = new Map(result.comparison?.counts.steps.map((step) => [step.stepId, step]));
  const beside = (number: number | undefined) =>
    number === undefined ? '' : ` · ${sides.there.toLowerCase()} ${count(number)}`;
  return {
    steps: steps.map(({ people: _, ...shown }) => {
      const counts = here.get(shown.step.id);
      if (counts === undefined) return { ...shown, trace: undefined, tone: undefined };
      const { reached, failed } = counts;
      const tone = failed > 0 ? ('bad' as const) : reached === 0 ? ('warn' as const) : undefined;
      return { ...shown, trace: `${sides.here} ${count(reached)}${beside(there.get(shown.step.id)?.reached)}`, tone };
    }),
    ways: ways.map((way) => {
      const from = here.get(way.fromStepId);
      if (from === undefined) return { ...way, figures: null };
      const siblings = ways.filter(({ id, fromStepId }) => fromStepId === way.fromStepId && id !== way.id);
      const taken = (counts: StepCounts) => pathCountOf(way, siblings, branchesOf(counts)).count;
      const other = there.get(way.fromStepId);
      const number = taken(from);
      const words = [
        `${sides.here}: ${count(number)} of ${counted(from.reached, 'run')} that reached the step took this path${shareOf(number, from.reached)}.`,
        other
          ? `${sides.there}: ${count(taken(other))} of ${counted(other.reached, 'run')}${shareOf(taken(other), other.reached)}.`
          : '',
      ];
      const text = `${count(number)}${beside(other && taken(other))}`;
      return { ...way, figures: { text, drop: '', words: words.filter(Boolean).join(' ') } };
    }),
  };
}

const branchesOf = ({ paths }: StepCounts) =>
  Object.entries(paths).map(([branch, number]) => ({ branch, count: number }));
const shareOf = (part: number, whole: number) => (whole === 0 ? '' : ` (${shareText(part, whole)})`);
