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
