import type { RunStatus } from '../../lib/enums.ts';

/** A failure of a step for a reason of its own: the run ends FAILED, and nothing is repeated. The text is shown to users. */
export class StepFailure extends Error {
  override name = 'StepFailure';
}

/** The step that a run is at, for the Temporal Web UI. Names are the author's, never a contact's. */
export interface StepAt {
  id: string;
  type: string;
  name: string;
  /** ISO instant at which it began. */
  since: string;
}

/** A wait as the search attributes of an execution show it: for `timer` or an event, until an ISO instant or without end. */
export type ShownWait = { waitingFor: string; dueAt: string | null };

/**
 * The next action of an execution, as `advance` returns it; small values only. `seq` is the number that the next `advance` is
 * called with. Instants are ISO 8601, by the clock of the database.
 */
export type Directive =
  /** More cheap steps than one transaction allows. */
  | { next: 'goOn'; seq: number }
  /** A webhook is to be called; the call writes its answer into the step execution. */
  | { next: 'http'; seq: number; stepRunId: string; step: StepAt; summary: string }
  /** A delay: nothing but time, or a change of the row, moves the run. */
  | { next: 'sleep'; seq: number; until: string; step: StepAt; summary: string }
  /** An event is awaited, until an instant or without end. */
  | { next: 'wait'; seq: number; until: string | null; event: string; step: StepAt; summary: string }
  /** The run has ended, or its row is gone. */
  | { next: 'done'; seq: number; status: RunStatus | 'GONE'; reason: string | null; stepId: string | null };

// An execution begins within milliseconds of its entry; in a burst others begin first.
const shownWithinMs = 60_000;

/** Whether what an execution does next is the wait that it was started with in its search attributes, but for a minute. */
export function isShown(directive: Directive, { waitingFor, dueAt }: ShownWait): boolean {
  if (directive.next !== 'sleep' && directive.next !== 'wait') return false;
  if (waitingFor !== (directive.next === 'wait' ? directive.event : 'timer')) return false;
  const { until } = directive;
  if (until === null || dueAt === null) return until === dueAt;
  return Math.abs(Date.parse(until) - Date.parse(dueAt)) <= shownWithinMs;
}
