import { type SignalCommand, signals, workflowId } from '../../../temporal/commands.ts';
import { isoInstant } from '../../core/database/columns.ts';
import type { Database, Sql } from '../../core/database/sql.ts';
import { enqueueAll, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import { pinnedVersion } from '../versions.ts';
import {
  advanceMigration,
  lockMigration,
  lockOpenSteps,
  lockRunsToMove,
  type MigrationRow,
  type MoveCounts,
  type MovedRun,
  type OpenStep,
  type RunToMove,
  retimeSteps,
  skipSteps,
  writeMovedRuns,
} from './queries.ts';
import { moveOf, ruleAt, type WaitTimes } from './rules.ts';

/** What moving people needs. */
export interface MigrationDeps {
  db: Database;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** How a share of a migration ended. */
export interface MigrationShare {
  /** `over`: it was cancelled, or its automation is gone. */
  state: 'unfinished' | 'completed' | 'over';
  /** People that were looked at in this share. */
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
 * Moves people by a migration from where it stands, chunk by chunk: each chunk moves the rows of some people, wakes their
 * executions through the outbox and records its counts and its place, in one transaction. May be repeated and cut off at
 * any moment: nobody is moved twice by it, and nobody is left between two versions.
 */
export async function movePeople(deps: MigrationDeps, id: string, options: ShareOptions): Promise<MigrationShare> {
  const endsAt = performance.now() + options.longestMs;
  let people = 0;
  do {
    const chunk = await deps.db.transaction((sql) => moveChunk(sql, id, options.peoplePerChunk ?? defaultChunk));
    deps.dispatchSoon(...chunk.tickets);
    people += chunk.people;
    options.onChunk(people);
    if (chunk.state !== 'unfinished') return { state: chunk.state, people };
  } while (!options.stop.aborted && performance.now() < endsAt);
  return { state: 'unfinished', people };
}

interface Chunk extends MigrationShare {
  tickets: OutboxTicket[];
}

async function moveChunk(sql: Sql, id: string, limit: number): Promise<Chunk> {
  const migration = await lockMigration(sql, id);
  if (migration === null || (migration.state !== 'waiting' && migration.state !== 'active'))
    return { state: 'over', people: 0, tickets: [] };
  const version = await pinnedVersion(sql, migration.toVersionId);
  if (version === null) return { state: 'over', people: 0, tickets: [] };
  const runs = await lockRunsToMove(sql, migration.automationId, migration.toVersionId, migration.through, limit);
  const open = new Map(
    (
      await lockOpenSteps(
        sql,
        runs.map((run) => run.id),
      )
    ).map((step) => [step.runId, step]),
  );
  const changes = emptyChanges();
  for (const run of runs) moveOne(migration, version.graph, run, open.get(run.id) ?? null, changes);
  await writeMovedRuns(sql, changes.runs);
  await skipSteps(sql, changes.skipped);
  await retimeSteps(sql, changes.retimed);
  const tickets = await enqueueAll(sql, changes.signals);
  const isLast = runs.length < limit;
  await advanceMigration(sql, id, isLast ? 'completed' : 'active', runs.at(-1)?.id ?? null, changes.counts);
  return { state: isLast ? 'completed' : 'unfinished', people: runs.length, tickets };
}

interface Changes {
  runs: MovedRun[];
  skipped: { id: string; output: object }[];
  retimed: ({ id: string } & WaitTimes)[];
  signals: SignalCommand[];
  counts: MoveCounts;
}

function emptyChanges(): Changes {
  const counts = { finished: 0, movedAtNextStep: 0, movedNow: 0, exited: 0, passedOver: 0 };
  return { runs: [], skipped: [], retimed: [], signals: [], counts };
}

function moveOne(
  { id, automationId, toVersionId, toVersion, rules }: MigrationRow,
  target: Parameters<typeof moveOf>[2],
  run: RunToMove,
  open: OpenStep | null,
  changes: Changes,
): void {
  const rule = ruleAt(rules, run.currentStepId);
  const move = moveOf(
    { currentStepId: run.currentStepId, open: open && { ...open, startedAt: isoInstant(open.startedAt) } },
    rule,
    target,
  );
  const unchanged: MovedRun = {
    id: run.id,
    versionId: null,
    nextVersionId: null,
    stepId: null,
    status: null,
    reason: null,
    redue: false,
    dueAt: null,
  };
  // The number of the next step stays, so that the execution takes the signal for its own.
  const wake = () =>
    changes.signals.push({
      type: 'signal',
      id: workflowId.automation(automationId, run.contactId, run.entry),
      signal: signals.resume,
      input: { seq: run.seq },
      dedupeKey: `migration-${id}`,
    });
  const leave = (output: object) => open !== null && changes.skipped.push({ id: open.id, output });
  switch (move.kind) {
    case 'finished':
    case 'passedOver':
      changes.counts[move.kind] += 1;
      // What an earlier migration has set does not hold any more.
      changes.runs.push(unchanged);
      return;
    case 'movedAtNextStep':
      changes.counts.movedAtNextStep += 1;
      changes.runs.push(
        move.atOnce ? { ...unchanged, versionId: toVersionId } : { ...unchanged, nextVersionId: toVersionId },
      );
      return;
    case 'movedNow':
      changes.counts.movedNow += 1;
      leave({ movedTo: move.to, version: toVersion });
      changes.runs.push({ ...unchanged, versionId: toVersionId, stepId: move.to, status: 'RUNNING' });
      wake();
      return;
    case 'retimed': {
      changes.counts.movedNow += 1;
      const { times } = move;
      const dueAt = times.scheduledFor ?? times.executeAfter;
      changes.runs.push({ ...unchanged, versionId: toVersionId, redue: true, dueAt });
      if (open !== null) changes.retimed.push({ id: open.id, ...times });
      wake();
      return;
    }
    case 'exited':
      changes.counts.exited += 1;
      leave({ exited: true, reason: move.reason });
      changes.runs.push({ ...unchanged, status: 'EXITED', reason: move.reason });
      wake();
  }
}
