import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Database } from '../src/core/database/sql.ts';
import { endWipe, findWipe, type WipeReport, wipeRows } from '../src/platform/wipes/index.ts';
import { alive } from './alive.ts';

/** What the activities of resets and removals of projects are built from. */
export interface WipeActivityDeps {
  db: Database;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Ends every open execution of a project; answers how many were found. */
  endExecutions(projectId: string): Promise<number>;
  /** Cancels a payment subscription. */
  cancelSubscription(subscription: string): Promise<void>;
  /** Milliseconds after which an activity hands the rest of the work to the next one. */
  shareMs?: number;
}

/** The activities of resets and removals of projects, as workflows call them. */
export type WipeActivities = ReturnType<typeof wipeActivities>;

const defaultShareMs = 60_000;
const heartbeatMs = 2_000;

/** Builds the activities of resets and removals of projects. All may be repeated: the row says where the work stands. */
export function wipeActivities({
  db,
  log,
  stopping,
  endExecutions,
  cancelSubscription,
  shareMs = defaultShareMs,
}: WipeActivityDeps) {
  return {
    /** Ends what runs for the project; answers how many executions that were. */
    async endProjectExecutions(wipeId: string): Promise<number> {
      const wipe = await findWipe(db, wipeId);
      return wipe === null ? 0 : endExecutions(wipe.projectId);
    },

    /** Removes rows until none is left or its share of time is over. */
    wipeProjectRows: (wipeId: string): Promise<WipeReport> =>
      alive(heartbeatMs, (onStep) => {
        const stop = AbortSignal.any([stopping, cancellationSignal()]);
        return wipeRows(db, wipeId, { longestMs: shareMs, stop, onStep });
      }),

    /** Ends the wipe: the project may be written to again, or is no more. */
    async finishProjectWipe(wipeId: string): Promise<void> {
      const finished = await endWipe(db, wipeId, async (subscription) => {
        await cancelSubscription(subscription).catch((error: Error) =>
          log.error({ err: error, wipeId }, 'the payment subscription of a deleted project could not be cancelled'),
        );
      });
      if (finished) log.info({ wipeId }, 'a project was wiped');
    },
  };
}
