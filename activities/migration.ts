import { cancellationSignal } from '@temporalio/activity';
import { cancelMigrationRow, type MigrationDeps, type MigrationShare, moveContacts } from '../src/automations/index.ts';
import { alive } from './alive.ts';

/** The activities that migrate contacts between versions, as workflows call them. */
export type MigrationActivities = ReturnType<typeof migrationActivities>;

const heartbeatMs = 5_000;
// Long enough to be worth an activity, short enough that the Web UI shows progress.
const shareMs = 30_000;

/** Builds the activities of migrations. Each may be repeated: the row says where the work stands. */
export function migrationActivities(deps: MigrationDeps & { stopping: AbortSignal }) {
  return {
    /** Migrates contacts until none is left or its share of time is over. */
    movePeopleOfAutomation: (migrationId: string): Promise<MigrationShare> =>
      alive(heartbeatMs, (onChunk) => {
        const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
        return moveContacts(deps, migrationId, { stop, longestMs: shareMs, onChunk });
      }),

    /** Ends a migration whose execution was cancelled; contacts that it has migrated stay migrated. */
    async cancelMigration(migrationId: string): Promise<void> {
      await cancelMigrationRow(deps.db, migrationId);
    },
  };
}
