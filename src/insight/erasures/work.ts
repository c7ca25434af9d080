import { LockMode } from '@mikro-orm/core';
import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { foldContactChanges } from '../../contacts/catalogue-queries.ts';
import { restartable, type StalledQuery, stalledRows } from '../../store/outbox/recovery.ts';
import { type Database, sql } from '../../store/sql.ts';
import { Erasure } from './entity.ts';
import { type Subject, subjectOf } from './export.ts';
import { findLedgers, hashOfLedger, StillLeaving, settleContact } from './settle.ts';
import { steps } from './steps.ts';

/** How long an activity may work on an erasure, and the callback that reports its progress. */
export interface ErasureShare {
  encryptionKeys: readonly string[];
  longestMs: number;
  stop: AbortSignal;
  onStep(): void;
}

/**
 * How far an erasure is. `leaving`: mail of the contact is with the provider, and its outcome has to be known first. `importing`: a
 * file that was uploaded before may name the contact. `unfinished`: the share is used up. `emptied`: no row is left.
 */
export type ErasureState = 'leaving' | 'importing' | 'unfinished' | 'emptied' | 'gone';

/**
 * Works on an erasure from where it stands, each transaction noting its place, until nothing is left or the share is used up. Safe to
 * repeat, and to be killed at any moment.
 */
export async function eraseRows(db: Database, erasureId: string, share: ErasureShare): Promise<ErasureState> {
  const deadline = performance.now() + share.longestMs;
  for (;;) {
    const erasure = await findErasure(db, erasureId);
    if (erasure === null || erasure.phase === 'DONE') return 'gone';
    if (erasure.phase === 'CERTIFYING') return (await isImporting(db, erasure)) ? 'importing' : 'emptied';
    if (share.stop.aborted || performance.now() > deadline) return 'unfinished';
    try {
      await takeStep(db, erasure, subjectOf(erasure, share.encryptionKeys));
    } catch (error) {
      if (error instanceof StillLeaving) return 'leaving';
      throw error;
    }
    share.onStep();
  }
}

/** An erasure by its ID, or null. */
export function findErasure(db: Database, id: string): Promise<Erasure | null> {
  return db.session().em.findOne(Erasure, { id });
}

/** Changes an erasure that still stands where it was read; nothing happens to one that somebody else has moved. */
export async function moveErasure(
  db: Database,
  { id, phase, place, after }: Erasure,
  change: (tx: Database, erasure: Erasure) => Promise<void> | void,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await tx.em.findOne(Erasure, { id, phase, place, after }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (locked !== null) await change(tx, locked);
  });
}

async function takeStep(db: Database, erasure: Erasure, subject: Subject): Promise<void> {
  if (erasure.phase === 'SETTLING')
    return moveErasure(db, erasure, async (tx, row) => {
      row.counts = added(row.counts, await settleContact(tx, subject));
      row.phase = 'LEDGERS';
    });
  if (erasure.phase === 'LEDGERS') return readLedgers(db, erasure, subject);
  // Reports may have come while it waited.
  if (erasure.phase === 'WAITING') return moveErasure(db, erasure, (_, row) => beginRows(row));
  const step = steps[erasure.place];
  if (step === undefined) return endPass(db, erasure);
  return moveErasure(db, erasure, async (tx, row) => {
    const { rows, after } = await step.take(tx, subject, erasure.after ?? null);
    row.after = after;
    if (after === null) row.place += 1;
    row.foundInPass += rows;
    row.counts = added(row.counts, { [step.key]: rows });
  });
}

async function readLedgers(db: Database, erasure: Erasure, subject: Subject): Promise<void> {
  // First all of them are found, then each is hashed: place 0 finds, place n hashes the n-th.
  if (erasure.place === 0)
    return moveErasure(db, erasure, async (tx, row) => {
      const { last, found } = await findLedgers(tx, subject, row.after ?? null);
      const isNew = ({ campaignId, sendSeq }: (typeof found)[number]) =>
        !row.ledgers.some((known) => known.campaignId === campaignId && known.sendSeq === sendSeq);
      row.ledgers = [...row.ledgers, ...found.filter(isNew)];
      row.after = last;
      if (last === null) row.place = 1;
    });
  const ledger = erasure.ledgers[erasure.place - 1];
  if (ledger === undefined) return moveErasure(db, erasure, (_, row) => beginRows(row));
  const hashBefore = await hashOfLedger(db, ledger);
  return moveErasure(db, erasure, (_, row) => {
    row.ledgers = row.ledgers.map((one, index) => (index === erasure.place - 1 ? { ...one, hashBefore } : one));
    row.place += 1;
  });
}

function beginRows(row: Erasure): void {
  Object.assign(row, { phase: 'ROWS', place: 0, after: null, foundInPass: 0 });
}

// The catalogue of fields lists values of contacts; the fold that takes the deletion takes them out, and the history with them.
async function endPass(db: Database, erasure: Erasure): Promise<void> {
  await foldContactChanges(db, erasure.projectId);
  await moveErasure(db, erasure, (_, row) => {
    if (row.foundInPass === 0) row.phase = 'CERTIFYING';
    else Object.assign(row, { place: 0, after: null, foundInPass: 0 });
  });
}

async function isImporting(db: Database, { projectId, createdAt }: Erasure): Promise<boolean> {
  const open = await db.row(sql`
    select from jobs where project_id = ${projectId} and kind = 'import' and finished_at is null and created_at <= ${createdAt} limit 1`);
  return open !== null;
}

/** Adds counts of rows, by their names. */
export function added(
  counts: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...counts };
  for (const [key, rows] of Object.entries(more)) sum[key] = (sum[key] ?? 0) + rows;
  return sum;
}

/** The command that starts the execution of an erasure. */
export function startOfErasure(id: string, projectId: string): StartCommand {
  return {
    type: 'start',
    workflow: 'eraseContact',
    id: workflowId.erase(id),
    input: { erasureId: id },
    searchAttributes: { Kind: 'erase', ProjectId: projectId },
  };
}

/** Erasures whose execution may be lost. One that waits for a date is asked for once that has passed. */
export const recoverableErasures = restartable('erasures', stalledErasures, ({ id, projectId }) =>
  startOfErasure(id, projectId),
);

function stalledErasures(db: Database, query: StalledQuery) {
  const open = 'finished_at is null and (due_at is null or due_at < now())';
  const columns = 'id, project_id as "projectId"';
  return stalledRows<{ id: string; at: string; projectId: string }>(db, { table: 'erasures', open, columns }, query);
}
