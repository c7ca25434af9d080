/*
 * The types that the pure parts of the designer take from the service's types. They know neither page nor service, so that they can be
 * tested by themselves; whatever the service answers is checked against these wherever it is handed to them.
 */

import type { WaitOutcome } from '@fernpost/workflow-graph';

/** The types of steps. */
export type StepType =
  | 'TRIGGER'
  | 'SEND_EMAIL'
  | 'DELAY'
  | 'WAIT_FOR_EVENT'
  | 'WAIT_UNTIL'
  | 'CONDITION'
  | 'SPLIT'
  | 'WEBHOOK'
  | 'UPDATE_CONTACT'
  | 'EXIT';

/** A step of a graph. */
export interface Step {
  id: string;
  type: StepType;
  name: string;
  position: { x: number; y: number };
  config: Record<string, unknown>;
  templateId: string | null;
  template?: { id: string; name: string } | null;
  /** For the people who edit the workflow; absent in drafts that were kept before there were notes. */
  note?: string | null;
}

/** A way between two steps. */
export interface Transition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  waitOutcome: WaitOutcome | null;
  priority: number;
}

/** The outcome of contacts at steps: how often each path was taken, and how many took none. */
export interface PathCounts {
  steps: readonly {
    stepId: string | null;
    reached: number;
    dropped: number;
    invalidZones: number;
    branches: readonly { branch: string; count: number }[];
  }[];
}
