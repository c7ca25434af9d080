import { isDeepStrictEqual } from 'node:util';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { dayMs, offsetAt } from '../../lib/time.ts';
import { goalOf } from '../graph/exits.ts';
import type { Graph } from '../graph/graph.ts';
import type { StepRun } from '../runtime/run-queries.ts';
import type {
  collisionKinds,
  DifferingMail,
  mailDifferences,
  SimulatedExecution,
  SimulationCounts,
  simulatedEnds,
} from './schema.ts';
import { type Simulated, templateOfStep } from './world.ts';

type End = (typeof simulatedEnds)[number];
type Collision = (typeof collisionKinds)[number];
type Counts = Record<string, number>;

/** An execution, simulated or recorded. Instants are ISO 8601. */
export interface Execution {
  enteredAt: string;
  end: End;
  reason: string | null;
  endsAt: string;
  steps: readonly StepRun[];
  mails: readonly Mail[];
  goal: Simulated['goal'];
}

interface Mail {
  stepId: string;
  templateId: string | null;
  at: string;
  isHeld: boolean;
}

/** What a contact of a simulation came to, as its row keeps it. */
export interface Outcome {
  here: SimulatedExecution[];
  there: SimulatedExecution[] | null;
}

/** What executions of one side come to, as a job keeps it from share to share. */
export interface Sums {
  executions: number;
  refused: Counts;
  ends: Record<End, number>;
  reasons: Counts;
  failures: Counts;
  steps: Record<string, { reached: number; inside: number; failed: number; paths: Counts }>;
  mails: { count: number; skipped: Counts; days: Record<string, number[]> };
  collisions: Record<Collision, { mails: number; contacts: number }>;
  goal: { met: number; metOnEntry: number };
}

/** Sums of nobody. */
export function noSums(): Sums {
  const none = () => ({ mails: 0, contacts: 0 });
  return {
    ...{
      executions: 0,
      refused: {},
      ends: { COMPLETED: 0, EXITED: 0, FAILED: 0, INSIDE: 0 },
      reasons: {},
      failures: {},
    },
    ...{ steps: {}, mails: { count: 0, skipped: {}, days: {} }, goal: { met: 0, metOnEntry: 0 } },
    collisions: { within24Hours: none(), afterGoal: none(), quietHours: none() },
  };
}

/** An execution as it is summed and listed. */
export function executionOf(
  graph: Graph,
  ended: Pick<Simulated, 'enteredAt' | 'reason' | 'at' | 'goal'> & { end: string; steps: readonly StepRun[] },
): Execution {
  const { enteredAt, end, reason, at: endsAt, steps, goal } = ended;
  const ends: Record<string, End> = { COMPLETED: 'COMPLETED', FAILED: 'FAILED', WAITING: 'INSIDE', RUNNING: 'INSIDE' };
  const mails = steps.flatMap(({ stepType, stepId, status, startedAt, output }): Mail[] => {
    if (stepType !== 'SEND_EMAIL' || status !== 'COMPLETED' || output?.skipped !== undefined) return [];
    const held = typeof output?.heldUntil === 'string' ? output.heldUntil : null;
    return [{ stepId, templateId: templateOfStep(graph, stepId), at: held ?? startedAt, isHeld: held !== null }];
  });
  return { enteredAt, end: ends[end] ?? 'EXITED', reason, endsAt, steps, mails, goal };
}

/** The path that an execution took from a step, as counts of executions name it; null for none. */
function pathOf({ stepType, status, output }: StepRun): string | null {
  const named = output?.branch ?? output?.waitOutcome;
  if (typeof named === 'string') return named;
  if (status !== 'COMPLETED') return null;
  return stepType !== 'WEBHOOK' ? 'next' : output?.success === true ? 'success' : 'failure';
}

const mostTexts = 200;
const other = 'other';

function count(counts: Counts, key: string, by = 1): void {
  const known = Object.hasOwn(counts, key) || Object.keys(counts).length < mostTexts ? key : other;
  counts[known] = (counts[known] ?? 0) + by;
}

/** Adds the executions of one contact. Returns the tags by which its row is found. */
export function addTo(sums: Sums, executions: readonly Execution[], timeZone: string): Set<string> {
  const tags = new Set<string>();
  const collided = new Set<Collision>();
  let before: string | null = null;
  for (const { end, reason, steps, mails, goal } of executions) {
    sums.executions += 1;
    sums.ends[end] += 1;
    tags.add(`end:${end}`);
    if (reason !== null && end !== 'INSIDE') count(sums.reasons, reason);
    for (const step of steps) addStep(sums, step, end, tags);
    for (const { at, isHeld } of [...mails].sort((one, next) => (one.at < next.at ? -1 : 1))) {
      addMail(sums, at, timeZone);
      const kinds = {
        within24Hours: before !== null && Date.parse(at) - Date.parse(before) < dayMs,
        afterGoal: goal?.metAt != null && at >= goal.metAt,
        quietHours: isHeld,
      };
      for (const kind of Object.keys(kinds) as Collision[])
        if (kinds[kind]) {
          sums.collisions[kind].mails += 1;
          collided.add(kind);
        }
      before = at;
    }
    if (goal?.hadMet) sums.goal.metOnEntry += 1;
    else if (goal?.metAt) sums.goal.met += 1;
  }
  for (const kind of collided) {
    sums.collisions[kind].contacts += 1;
    tags.add(`collision:${kind}`);
  }
  return tags;
}

function addStep(sums: Sums, step: StepRun, end: End, tags: Set<string>): void {
  const { stepId, stepType, status, output, error } = step;
  sums.steps[stepId] ??= { reached: 0, inside: 0, failed: 0, paths: {} };
  const counts = sums.steps[stepId];
  counts.reached += 1;
  tags.add(`step:${stepId}`);
  const path = pathOf(step);
  if (path !== null) {
    count(counts.paths, path);
    tags.add(`path:${stepId}:${path}`);
  }
  if (status === 'FAILED') {
    counts.failed += 1;
    count(sums.failures, JSON.stringify([stepId, error]));
  } else if (step.completedAt === null && end === 'INSIDE') counts.inside += 1;
  if (stepType === 'SEND_EMAIL' && typeof output?.skipped === 'string') count(sums.mails.skipped, output.skipped);
}

function addMail(sums: Sums, at: string, timeZone: string): void {
  const instant = Date.parse(at);
  const wall = new Date(instant + offsetAt(instant, timeZone)).toISOString();
  const [day, hour] = [wall.slice(0, 10), Number(wall.slice(11, 13))];
  sums.mails.count += 1;
  sums.mails.days[day] ??= Array.from({ length: 24 }, () => 0);
  sums.mails.days[day][hour] = (sums.mails.days[day][hour] ?? 0) + 1;
}

/** Counts that a contact would have entered and may not. */
export function refuse(sums: Sums, reason: string): void {
  count(sums.refused, reason);
}

const sorted = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).sort(([one], [next]) => (one < next ? -1 : 1)));
const mostFailures = 50;

/** Sums as the API shows them. */
export function countsOf(sums: Sums, { steps }: Graph, timeZone: string): SimulationCounts {
  const none = { reached: 0, inside: 0, failed: 0, paths: {} };
  const counted = steps.map(({ id, name, type }) => {
    const { paths, ...counts } = sums.steps[id] ?? none;
    return { stepId: id, name, type, ...counts, paths: sorted(paths) };
  });
  const failures = Object.entries(sums.failures).map(([key, times]) => {
    const [stepId, error] = key === other ? ['', other] : (JSON.parse(key) as [string, string | null]);
    return { stepId, error: error ?? '', count: times };
  });
  return {
    ...{ executions: sums.executions, refused: sorted(sums.refused), steps: counted },
    neverReached: counted.filter(({ reached }) => reached === 0).map(({ stepId }) => stepId),
    ...{ ends: sums.ends, reasons: sorted(sums.reasons) },
    failures: failures
      .sort((one, next) => next.count - one.count || (one.stepId + one.error < next.stepId + next.error ? -1 : 1))
      .slice(0, mostFailures),
    mails: {
      ...{ count: sums.mails.count, skipped: sorted(sums.mails.skipped), timeZone },
      byDay: Object.entries(sums.mails.days)
        .map(([day, byHour]) => ({ day, count: byHour.reduce((sum, mails) => sum + mails, 0), byHour }))
        .sort((one, next) => (one.day < next.day ? -1 : 1)),
    },
    collisions: sums.collisions,
    goal: goalOf(steps) === null ? null : sums.goal,
  };
}

/** How many contacts get an email in both, only here, and so on, by template; the empty key is that of steps without one. */
export type MailSums = Record<string, Omit<DifferingMail, 'templateId'>>;

// Real executions are seconds late.
const sameMs = 60_000;

/** Compares the emails of a contact here and there. Returns the tags by which its row is found. */
export function addDifferences(sums: MailSums, here: readonly Execution[], there: readonly Execution[]): string[] {
  const [ours, theirs] = [here, there].map((side) =>
    Map.groupBy(
      side.flatMap(({ mails }) => mails),
      ({ templateId }) => templateId ?? '',
    ),
  ) as [Map<string, Mail[]>, Map<string, Mail[]>];
  const tags = new Set<string>();
  for (const template of new Set([...ours.keys(), ...theirs.keys()])) {
    const [mine, others] = [instantsOf(ours.get(template)), instantsOf(theirs.get(template))];
    const kinds = new Set(
      Array.from({ length: Math.max(mine.length, others.length) }, (_, n) => differenceOf(mine[n], others[n])),
    );
    sums[template] ??= { same: 0, onlyHere: 0, onlyThere: 0, earlier: 0, later: 0 };
    for (const kind of kinds) {
      sums[template][kind] += 1;
      if (kind !== 'same') tags.add(`mail:${kind}`);
    }
  }
  return [...tags];
}

function instantsOf(mails: readonly Mail[] = []): number[] {
  return mails.map(({ at }) => Date.parse(at)).sort((one, next) => one - next);
}

function differenceOf(here: number | undefined, there: number | undefined): 'same' | (typeof mailDifferences)[number] {
  if (there === undefined) return 'onlyHere';
  if (here === undefined) return 'onlyThere';
  if (Math.abs(here - there) <= sameMs) return 'same';
  return here < there ? 'earlier' : 'later';
}

/** Differing emails as the API shows them. */
export function differingMails(sums: MailSums): DifferingMail[] {
  return Object.entries(sums)
    .sort(([one], [next]) => (one < next ? -1 : 1))
    .map(([templateId, counts]) => ({ templateId: templateId || null, ...counts }));
}

const mostKept = 10;
const mostMailsKept = 50;

/** Executions of a contact as lists show them. */
export function shownExecutions(executions: readonly Execution[]): SimulatedExecution[] {
  return executions.slice(0, mostKept).map(({ enteredAt, end, reason, endsAt, steps, mails }) => ({
    ...{ enteredAt, end, reason: end === 'INSIDE' ? null : reason, endsAt, stepId: steps.at(-1)?.stepId ?? null },
    mails: mails.slice(0, mostMailsKept).map(({ stepId, templateId, at }) => ({ stepId, templateId, at })),
  }));
}

/** What a step that was simulated and the one that was recorded must have in common. */
function factsOfStep(step: StepRun): Record<string, unknown> {
  const { stepId, stepType, seq, status, outcome, scheduledFor, executeAfter, startedAt, completedAt, error } = step;
  const { emailId: _, ...output } = step.output ?? {};
  // The time of the last change of a contact is that of the statement, which its history has not.
  const isWhen = stepType === 'CONDITION' && output.field === 'contact.updatedAt';
  const { url: _url, method: _method, ...config } = step.input ?? {};
  return {
    ...{ stepId, seq, status, scheduledFor, executeAfter, startedAt, completedAt, error },
    // An event that ends a run has been noted at its wait, which it did not end.
    ...(output.exit === undefined && { outcome, resumeEventId: step.resumeEventId }),
    input: stepType === 'WEBHOOK' ? config : step.input,
    output: step.output === null ? null : isWhen ? { ...output, actualValue: null } : output,
  };
}

/** Where a simulated execution and a recorded one part first, and in what; null where they agree. */
export function firstDifference(
  simulated: Pick<Simulated, 'steps' | 'end' | 'reason'>,
  recorded: { steps: readonly StepRun[]; status: string; exitReason: string | null },
): { stepId: string | null; differs: string[] } | null {
  for (const [n, step] of recorded.steps.entries()) {
    const other = simulated.steps[n];
    if (other === undefined) return { stepId: step.stepId, differs: ['stepId'] };
    const [is, was] = [JSON.parse(JSON.stringify(factsOfStep(other))), factsOfStep(step)] as const;
    const differs = Object.keys(was).filter((key) => !isDeepStrictEqual((is as JsonObjectValue)[key], was[key]));
    if (differs.length > 0) return { stepId: step.stepId, differs };
  }
  const more = simulated.steps[recorded.steps.length];
  if (more !== undefined) return { stepId: more.stepId, differs: ['stepId'] };
  const differs = [
    ...(simulated.end === recorded.status ? [] : ['status']),
    ...(simulated.reason === recorded.exitReason ? [] : ['reason']),
  ];
  return differs.length === 0 ? null : { stepId: null, differs };
}
