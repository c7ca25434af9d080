import { type SignalCommand, signals, workflowId } from '../../../temporal/commands.ts';
import { enqueueAll } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { type PinnedVersion, pinnedVersion } from '../versions.ts';
import {
  type AutomationMigration,
  lockMigration,
  lockOpenSteps,
  lockRunsToMove,
  type MoveCounts,
  type MovedRun,
  type OpenStep,
  type RunToMove,
  retimeSteps,
  skipSteps,
  writeMovedRuns,
} from './queries.ts';
import { moveOf, ruleAt, type WaitTimes } from './rules.ts';

/** The dependencies of migrating contacts. */
export interface MigrationDeps {
  db: Database;
}

/** How a share of a migration ended. */
export interface MigrationShare {
  /** `over`: it was cancelled, or its automation is gone. */
  state: 'unfinished' | 'completed' | 'over';
  /** Contacts that this share has read. */
  people: number;
}

/** When a share ends. */
export interface ShareOptions {
  stop: AbortSignal;
  longestMs: number;
  onChunk(people: number): void;
  peoplePerChunk?: number;
}

const defaultChunk = 500;

/**
 * Migrates contacts from where the migration stands, chunk by chunk: each chunk moves the rows of some contacts, wakes their
 * executions through the outbox and records its counts and its place, in one transaction. May be repeated and cut off at
 * any moment: nobody is moved twice by it, and nobody is left between two versions.
 */
export async function moveContacts(deps: MigrationDeps, id: string, options: ShareOptions): Promise<MigrationShare> {
  const endsAt = performance.now() + options.longestMs;
  let people = 0;
  do {
    const chunk = await deps.db.transaction((tx) => moveChunk(tx, id, options.peoplePerChunk ?? defaultChunk));
    people += chunk.people;
    options.onChunk(people);
    if (chunk.state !== 'unfinished') return { state: chunk.state, people };
  } while (!options.stop.aborted && performance.now() < endsAt);
  return { state: 'unfinished', people };
}

async function moveChunk(tx: Database, id: string, limit: number): Promise<MigrationShare> {
  const migration = await lockMigration(tx, id);
  if (migration === null || (migration.state !== 'waiting' && migration.state !== 'active'))
    return { state: 'over', people: 0 };
  const version = await pinnedVersion(tx, migration.toVersionId);
  if (version === null) return { state: 'over', people: 0 };
  const runs = await lockRunsToMove(tx, migration, limit);
  const steps = await lockOpenSteps(
    tx,
    runs.map((run) => run.id),
  );
  const open = new Map(steps.map((step) => [step.runId, step]));
  const counts = { finished: 0, movedAtNextStep: 0, movedNow: 0, exited: 0, passedOver: 0 };
  const changes: Changes = { runs: [], skipped: [], retimed: [], signals: [], counts };
  for (const run of runs) moveOne(migration, version, run, open.get(run.id) ?? null, changes);
  await writeMovedRuns(tx, changes.runs);
  await skipSteps(tx, changes.skipped);
  await retimeSteps(tx, changes.retimed);
  // A relay makes them, at the pace at which executions take them.
  await enqueueAll(tx, changes.signals);
  const isLast = runs.length < limit;
  advance(migration, counts, runs.at(-1)?.id, isLast);
  return { state: isLast ? 'completed' : 'unfinished', people: runs.length };
}

/** Moves the place of a locked migration on and adds to its counts, which are written at the end of the transaction. */
function advance(
  migration: AutomationMigration,
  counts: MoveCounts,
  through: string | undefined,
  isLast: boolean,
): void {
  migration.state = isLast ? 'completed' : 'active';
  if (isLast) migration.completedAt = new Date();
  if (through !== undefined) migration.through = through;
  for (const [kind, count] of Object.entries(counts)) migration[kind as keyof MoveCounts] += count;
}

interface Changes {
  runs: MovedRun[];
  skipped: { id: string; output: object }[];
  retimed: ({ id: string } & WaitTimes)[];
  signals: SignalCommand[];
  counts: MoveCounts;
}

function moveOne(
  { id: migrationId, automationId, toVersionId, rules }: AutomationMigration,
  { version: toVersion, graph: target }: PinnedVersion,
  { id, contactId, entry, seq, currentStepId }: RunToMove,
  open: OpenStep | null,
  { runs, skipped, retimed, signals: wakes, counts }: Changes,
): void {
  const move = moveOf({ currentStepId, open }, ruleAt(rules, currentStepId), target);
  // The number of the next step stays, so that the execution takes the signal for its own.
  const wake = () =>
    wakes.push({
      type: 'signal',
      id: workflowId.automation(automationId, contactId, entry),
      signal: signals.resume,
      input: { seq },
      dedupeKey: `migration-${migrationId}`,
    });
  const leave = (output: object) => open !== null && skipped.push({ id: open.id, output });
  counts[move.kind === 'retimed' ? 'movedNow' : move.kind] += 1;
  switch (move.kind) {
    case 'finished':
    case 'passedOver':
      // The target of an earlier migration no longer applies.
      runs.push({ id });
      return;
    case 'movedAtNextStep':
      runs.push(move.atOnce ? { id, versionId: toVersionId } : { id, nextVersionId: toVersionId });
      return;
    case 'movedNow':
      leave({ movedTo: move.to, version: toVersion });
      runs.push({ id, versionId: toVersionId, stepId: move.to, status: 'RUNNING' });
      wake();
      return;
    case 'retimed': {
      const { times } = move;
      runs.push({ id, versionId: toVersionId, redue: true, dueAt: times.scheduledFor ?? times.executeAfter });
      if (open !== null) retimed.push({ id: open.id, ...times });
      wake();
      return;
    }
    case 'exited':
      leave({ exited: true, reason: move.reason });
      runs.push({ id, status: 'EXITED', reason: move.reason });
      wake();
  }
}
