import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { type DeliveryDeps, type DeliveryReport, deliverPending, type Pace } from '../src/sending/engine/index.ts';
import { alive } from './alive.ts';

/** What the activities of mail delivery are built from. */
export interface EmailActivityDeps extends DeliveryDeps {
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  pace?: Pace;
}

/** The activities of mail delivery, as workflows call them. */
export type EmailActivities = ReturnType<typeof emailActivities>;

const heartbeatMs = 2000;

/** Builds the activities of mail delivery. */
export function emailActivities(deps: EmailActivityDeps) {
  return {
    /**
     * Hands over the project's mail until none is due (see `src/sending/engine/pending.ts`). Safe to repeat: claims begin with
     * the ids of this run and activity, and a retry settles those of earlier attempts before it claims anything.
     */
    deliverPending(projectId: string): Promise<DeliveryReport> {
      const { workflowExecution, activityId, attempt } = activityInfo();
      const prefix = `${workflowExecution?.runId ?? ''}/${activityId}/`;
      const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
      return alive(heartbeatMs, () => deliverPending(deps, { projectId, prefix, attempt, stop }, deps.pace));
    },
  };
}
