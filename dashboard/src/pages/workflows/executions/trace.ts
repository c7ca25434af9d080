import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import type { Tone } from '../../../ui/Badge.tsx';
import { stepText } from '../../../words/events.ts';
import type { ShownWay } from '../canvas/Canvas.tsx';
import type { ShownStep } from '../canvas/StepNode.tsx';
import { shownWays } from '../designer/shown.ts';
import { stepSize } from '../graph/graph.ts';
import type { automaticLayout } from '../graph/layout.ts';
import type { StepExecution, Version } from '../workflow.ts';

type Email = components['schemas']['Email'];

/** Describes the outcome of a step in words. */
export interface Outcome {
  name: string;
  tone: Tone | undefined;
  /** Why, where it is not what the step is for. */
  reason?: string;
}

const states: Record<StepExecution['status'], Outcome> = {
  PENDING: { name: 'Pending', tone: 'info' },
  SCHEDULED: { name: 'Scheduled', tone: 'info' },
  WAITING: { name: 'Waiting', tone: 'info' },
  RUNNING: { name: 'Running', tone: 'info' },
  COMPLETED: { name: 'Completed', tone: 'good' },
  SKIPPED: { name: 'Skipped', tone: 'warn' },
  FAILED: { name: 'Failed', tone: 'bad' },
};

/** Why an email is not sent, by what the output of its step says. */
export const unsentBecause: Record<string, string> = {
  unsubscribed: 'the contact is unsubscribed',
  holdout: 'the contact is in the control group',
  suppressed: 'the API key that started the run may not reach this address',
};

function skipReason(skipped: string): string {
  if (skipped === 'already sent') return 'Not sent again: the email was sent before the retry, or may have been.';
  const why = unsentBecause[skipped];
  return why ? `Email not sent: ${why}.` : `Nothing was done: ${skipped}.`;
}

const unsent: Partial<Record<Email['status'], Outcome>> = {
  SUPPRESSED: { name: 'Skipped', tone: 'warn', reason: 'Email not sent: the address is suppressed.' },
  FAILED: { name: 'Failed', tone: 'bad', reason: 'Email not sent: delivery failed.' },
  BOUNCED: { name: 'Bounced', tone: 'bad', reason: 'The email bounced.' },
  COMPLAINED: { name: 'Complained', tone: 'warn', reason: 'The recipient reported the email as spam.' },
  PENDING: { name: 'Queued', tone: 'info' },
  SENDING: { name: 'Sending', tone: 'info' },
};

/** Describes the outcome of a step; a step that completed without sending its mail says so. */
export function outcomeOf({ status, output }: StepExecution, email?: Email): Outcome {
  if (status === 'SKIPPED' && output?.exit !== undefined)
    return { ...states.SKIPPED, reason: `The contact left at this step: ${String(output.reason)}.` };
  if (status !== 'COMPLETED') return states[status];
  if (typeof output?.skipped === 'string') return { name: 'Skipped', tone: 'warn', reason: skipReason(output.skipped) };
  const known = email && unsent[email.status];
  if (!known) return states.COMPLETED;
  return email.error === null || !known.reason ? known : { ...known, reason: `${known.reason} ${email.error}` };
}

/** Loads the outcome of each step of an execution, by the step execution's ID, with the state of its mail. */
export function useOutcomes(runs: readonly StepExecution[]): Map<string, Outcome> {
  const project = useProjectId();
  const ids = runs.flatMap(({ output }) =>
    typeof output?.emailId === 'string' && output.skipped === undefined ? [output.emailId] : [],
  );
  const emails = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['emails', project, id, 'outcome'],
      // It may be deleted with its contact; then the step says what it knows itself.
      retry: false,
      refetchInterval: ({ state }: { state: { data: Email | undefined } }) =>
        state.data?.status === 'PENDING' || state.data?.status === 'SENDING' ? 3_000 : (false as const),
      queryFn: () => answer(api.GET('/emails/{id}', { params: { path: { id } } })),
    })),
    combine: (found) => found.flatMap(({ data }) => (data ? [data] : [])),
  });
  return useMemo(() => {
    const byId = new Map(emails.map((email) => [email.id, email]));
    return new Map(runs.map((run) => [run.id, outcomeOf(run, byId.get(String(run.output?.emailId)))]));
  }, [runs, emails]);
}

/** Whether all steps of a version have places of their own; a version without is arranged before it is drawn. */
export const isPlaced = (version: Version) => version.steps.every(({ position }) => position !== null);

/**
 * The version's graph with the path through it; steps of a version that was left meanwhile stand beside it. `arrange` places the
 * steps of a version that is not placed.
 */
export function drawn(
  version: Version,
  arrange: typeof automaticLayout | undefined,
  runs: readonly StepExecution[],
  outcomes: ReadonlyMap<string, Outcome>,
): { steps: ShownStep[]; ways: ShownWay[] } {
  const places = isPlaced(version) ? null : arrange?.(version.steps, version.transitions);
  const placed = version.steps.map((step) => ({
    ...step,
    position: (places ? places.get(step.id) : step.position) ?? { x: 0, y: 0 },
  }));
  const right = Math.max(0, ...placed.map(({ position }) => position.x)) + stepSize.width + 120;
  const gone = new Map(
    runs.filter(({ stepId }) => placed.every(({ id }) => id !== stepId)).map(({ step }) => [step.id, step]),
  );
  const steps = [
    ...placed,
    ...[...gone.values()].map((step, n) => ({
      ...step,
      config: {},
      position: { x: right, y: n * (stepSize.height + 72) },
    })),
  ].map((step) => traced({ step: { ...step, name: stepText(step.name) } }, runs, outcomes));
  return { steps, ways: tracedWays(shownWays(placed, version.transitions), runs) };
}

/** A step that was reached, with what it did. */
type Reached = Pick<StepExecution, 'stepId' | 'output'>;

/** The paths with those that were taken; a move from one version to another is a path of its own. */
export function tracedWays(ways: readonly ShownWay[], runs: readonly Reached[]): ShownWay[] {
  const pairs = runs.slice(1).map((run, n) => ({ from: runs[n]?.stepId ?? '', to: run.stepId }));
  const known = ways.map((way) => ({
    ...way,
    taken: pairs.some(({ from, to }) => from === way.fromStepId && to === way.toStepId) && fits(way, runs),
  }));
  const moves = pairs.filter(
    ({ from, to }) => !known.some((way) => way.taken && way.fromStepId === from && way.toStepId === to),
  );
  return [
    ...known,
    ...moves.map(({ from, to }) => ({
      id: `${from} ${to}`,
      fromStepId: from,
      toStepId: to,
      branch: null,
      waitOutcome: null,
      label: 'migrated',
      taken: true,
    })),
  ];
}

// Two branches may lead to one step: only the one that was taken is shown as the path.
function fits(way: ShownWay, runs: readonly Reached[]): boolean {
  const output = runs.findLast(({ stepId }) => stepId === way.fromStepId)?.output ?? {};
  if (way.branch !== null) return output.branch === way.branch;
  return way.waitOutcome === null || output.waitOutcome === way.waitOutcome;
}

function traced(shown: ShownStep, runs: readonly StepExecution[], outcomes: ReadonlyMap<string, Outcome>): ShownStep {
  const index = runs.findLastIndex(({ stepId }) => stepId === shown.step.id);
  const run = runs[index];
  if (run === undefined) return shown;
  const { name, tone } = outcomes.get(run.id) ?? outcomeOf(run);
  return { ...shown, trace: traceText(index, name, run.output), tone };
}

/** The line of a step that was reached: its place in the order, its outcome and what decided the path, as in `3. Completed: yes`. */
export function traceText(index: number, name: string, output: StepExecution['output']): string {
  const { exit, reason, branch, waitOutcome, statusCode } = output ?? {};
  const skipped = output?.skipped === 'holdout' ? 'control group' : output?.skipped;
  const detail =
    (exit === undefined ? undefined : reason) ??
    branch ??
    (waitOutcome && String(waitOutcome).toLowerCase()) ??
    skipped ??
    statusCode;
  return `${index + 1}. ${name}${detail === undefined ? '' : `: ${String(detail)}`}`;
}
