import { LRUCache } from 'lru-cache';
import { foldContactChanges, hasUnfolded } from '../contacts/catalogue-queries.ts';
import { AppError } from '../lib/errors.ts';
import { leastId } from '../lib/ids.ts';
import type { Database } from '../store/sql.ts';
import { previewDeletions, previewPage, type Undone, type UndoPreview } from './undo-queries.ts';

/** How much of a preview one request may do. */
export interface PreviewLimits {
  /** Milliseconds after which no further statement is begun. */
  longestMs: number;
  /** Contacts of one statement. */
  page: number;
}

// A statement for all contacts of a large job would take longer than a request's statements may.
const limitsOfRequest: PreviewLimits = { longestMs: 10_000, page: 25_000 };

/** How far a preview is; `after` is null when it is complete. */
interface Progress {
  after: string | null;
  contacts: number;
  deletes: number;
  restores: number;
  conflicts: ReadonlyMap<string, number>;
  keeps: ReadonlyMap<string, number>;
}

// Previews that took more than one request: those go on where the last one stopped, and the undo that follows takes the result.
const keptMs = 2 * 60_000;
const begun = new LRUCache<string, Progress>({ max: 200, ttl: keptMs });

/**
 * Returns what the undo of a job would do now. The preview of a job of millions takes several requests, and is as old as the last of them,
 * two minutes at most.
 * @throws 409 PREVIEW_UNFINISHED with the contacts so far, when the time of a request is over: the same request goes on
 */
export async function previewUndo(db: Database, undone: Undone, limits = limitsOfRequest): Promise<UndoPreview> {
  const { longestMs, page } = limits;
  const deadline = performance.now() + longestMs;
  const key = keyOf(undone);
  const before = begun.get(key);
  if (before?.after === null) return previewOf(before);
  // Whoever asks at the same time begins anew, so that nothing is counted twice.
  begun.delete(key);
  if (before === undefined) {
    const stop = AbortSignal.timeout(longestMs);
    await foldContactChanges(db, undone.projectId, stop);
    if (stop.aborted && (await hasUnfolded(db, undone.projectId))) throw unfinished(0);
  }
  let progress = before ?? (await beginning(db, undone));
  while (progress.after !== null) {
    progress = await further(db, undone, progress, progress.after, page);
    if (progress.after !== null && performance.now() >= deadline) {
      begun.set(key, progress);
      throw unfinished(progress.contacts);
    }
  }
  if (before !== undefined) begun.set(key, progress);
  return previewOf(progress);
}

/** Forgets what was found about a job, because it is undone now. */
export function forgetPreview(jobId: string): void {
  for (const restoresConflicts of [false, true]) begun.delete(keyOf({ jobId, restoresConflicts }));
}

const keyOf = ({ jobId, restoresConflicts }: Omit<Undone, 'projectId'>) => JSON.stringify([jobId, restoresConflicts]);

async function beginning(db: Database, undone: Undone): Promise<Progress> {
  const { restores, taken } = await previewDeletions(db, undone);
  const keeps = new Map(taken > 0 ? [['address is taken', taken]] : []);
  return { after: leastId, contacts: 0, deletes: 0, restores, conflicts: new Map(), keeps };
}

async function further(
  db: Database,
  undone: Undone,
  progress: Progress,
  after: string,
  limit: number,
): Promise<Progress> {
  const page = await previewPage(db, undone, after, limit);
  return {
    after: page.last,
    contacts: progress.contacts + page.contacts,
    deletes: progress.deletes + page.deletes,
    restores: progress.restores + page.restores,
    conflicts: added(
      progress.conflicts,
      page.conflicts.map(({ key, count }) => [key, count]),
    ),
    keeps: added(
      progress.keeps,
      page.keeps.map(({ reason, count }) => [reason, count]),
    ),
  };
}

function added(counts: ReadonlyMap<string, number>, more: readonly [string, number][]): Map<string, number> {
  const sum = new Map(counts);
  for (const [name, count] of more) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

function previewOf({ deletes, restores, conflicts, keeps }: Progress): UndoPreview {
  const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    deletes,
    restores,
    conflicts: sorted(conflicts).map(([key, count]) => ({ key, count })),
    keeps: sorted(keeps).map(([reason, count]) => ({ reason, count })),
  };
}

function unfinished(contacts: number): AppError {
  return new AppError(
    409,
    'PREVIEW_UNFINISHED',
    `What the undo would do is not known yet, after checking ${contacts} contacts: nothing was changed`,
    { details: { contacts }, suggestion: 'Send the same request again: it continues where this one stopped.' },
  );
}
