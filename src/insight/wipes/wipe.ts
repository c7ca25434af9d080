import { LockMode } from '@mikro-orm/core';
import { removeSome } from '../../store/columns.ts';
import { restartable } from '../../store/outbox/recovery.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { findWipe, finishWipe, ProjectWipe, stalledWipes, startOfWipe } from './queries.ts';

interface WipedTable {
  table: string;
  /** `id`: page by page along an index of (project_id, id), for tables of millions; `any`: in any order. */
  by: 'id' | 'any';
  /** Rows in one transaction: fewer where other rows go with each. */
  rows: number;
}

// Queued mail goes first, then rows that refer to others, so that little is left for foreign keys to take along.
// Catalogues come last, for deleting contacts and events writes to them.
const content: readonly WipedTable[] = [
  { table: 'email_queue', by: 'any', rows: 10_000 },
  { table: 'automation_runs', by: 'any', rows: 2_000 },
  { table: 'events', by: 'id', rows: 10_000 },
  { table: 'emails', by: 'id', rows: 5_000 },
  { table: 'restored_mail', by: 'any', rows: 10_000 },
  { table: 'campaigns', by: 'any', rows: 20 },
  { table: 'dry_runs', by: 'any', rows: 1 },
  { table: 'contacts', by: 'id', rows: 2_000 },
  { table: 'automations', by: 'any', rows: 5 },
  { table: 'segments', by: 'any', rows: 20 },
  { table: 'templates', by: 'any', rows: 1_000 },
  { table: 'content_versions', by: 'any', rows: 1_000 },
  { table: 'jobs', by: 'any', rows: 200 },
  { table: 'event_counts', by: 'any', rows: 10_000 },
  { table: 'contact_changes', by: 'any', rows: 10_000 },
  { table: 'contacts_trash', by: 'any', rows: 10_000 },
  { table: 'contact_history', by: 'any', rows: 10_000 },
  { table: 'contact_losses', by: 'any', rows: 10_000 },
  { table: 'activity_counts', by: 'any', rows: 10_000 },
  { table: 'mail_count_changes', by: 'any', rows: 10_000 },
  { table: 'mail_counts', by: 'any', rows: 10_000 },
  { table: 'contact_fields', by: 'any', rows: 1_000 },
  { table: 'contact_totals', by: 'any', rows: 1_000 },
  { table: 'full_catalogues', by: 'any', rows: 1_000 },
];

// A reset keeps these (docs/contract/platform.md#2-5): usage, so that it does not refill the monthly allowance; idempotency keys,
// so that a retry cannot send twice; settings; erasures, which prove what was done and keep addresses out; uploads, whose files
// stay in either case for the mail that shows them.
const settings: readonly WipedTable[] = [
  { table: 'suppression_rules', by: 'any', rows: 1_000 },
  { table: 'uploads', by: 'any', rows: 1_000 },
  { table: 'saved_blocks', by: 'any', rows: 200 },
  { table: 'contact_views', by: 'any', rows: 200 },
  { table: 'idempotency_keys', by: 'any', rows: 10_000 },
  { table: 'rate_windows', by: 'any', rows: 1_000 },
  { table: 'usage_counters', by: 'any', rows: 1_000 },
  { table: 'daily_usage', by: 'any', rows: 1_000 },
  { table: 'usage_notices', by: 'any', rows: 1_000 },
  { table: 'usage_reports', by: 'any', rows: 1_000 },
  { table: 'usage_reports_waiting', by: 'any', rows: 10_000 },
  { table: 'webhook_endpoints', by: 'any', rows: 1 },
  { table: 'mcp_plans', by: 'any', rows: 1_000 },
  { table: 'api_keys', by: 'any', rows: 1_000 },
  { table: 'smtp_clients', by: 'any', rows: 1_000 },
  { table: 'erasures', by: 'any', rows: 1_000 },
  { table: 'erased_addresses', by: 'any', rows: 10_000 },
  { table: 'audit_log', by: 'any', rows: 10_000 },
  { table: 'audit_heads', by: 'any', rows: 1 },
];

/** The tables that a reset empties for a project, and those that the removal of a project empties, in order. */
export const wipedTables = { RESET: content, DELETE: [...content, ...settings] } as const;

/** Tables whose rows go along with those of another table, by a foreign key that has an index. */
export const alongTables = [
  'automation_arrivals',
  'automation_migrations',
  'automation_step_runs',
  'automation_watches',
  'campaign_sends',
  'contact_field_values',
  'email_resends',
  'email_tags',
  'failed_attachments',
] as const;

/** Tables of a project that go with its row or when it is marked, or that tell of the wipe itself. */
export const leftTables = ['brands', 'domains', 'memberships', 'project_invitations', 'project_wipes'] as const;

/** How long an activity may work on a wipe, and the callback that reports its progress. */
interface WipeShare {
  longestMs: number;
  stop: AbortSignal;
  onStep(removed: number): void;
}

/** How far a wipe is. `gone`: it was finished before. */
export interface WipeReport {
  state: 'unfinished' | 'emptied' | 'gone';
  /** Rows removed so far, without those that went along. */
  removed: number;
}

/**
 * Removes rows of a project, some thousands in a transaction that also notes the place, until a whole pass over the
 * tables finds nothing or the share is used up. What was written meanwhile, by a report of the provider or by work that
 * was not yet stopped, is found by the next pass.
 */
export async function wipeRows(db: Database, wipeId: string, share: WipeShare): Promise<WipeReport> {
  const deadline = performance.now() + share.longestMs;
  for (;;) {
    const wipe = await findWipe(db, wipeId);
    if (wipe === null) return { state: 'gone', removed: 0 };
    const tables = wipedTables[wipe.kind];
    const table = tables[wipe.place];
    if (table === undefined && wipe.removedInPass === 0) return { state: 'emptied', removed: wipe.removed };
    if (share.stop.aborted || performance.now() > deadline) return { state: 'unfinished', removed: wipe.removed };
    await db.transaction((tx) => takeStep(tx, wipe, table));
    share.onStep(wipe.removed);
  }
}

async function takeStep(
  tx: Database,
  { id, pass, place, after }: ProjectWipe,
  table: WipedTable | undefined,
): Promise<void> {
  const stillThere = { id, finishedAt: null, pass, place, after };
  const wipe = await tx.em.findOne(ProjectWipe, stillThere, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (wipe === null) return;
  if (table === undefined) {
    Object.assign(wipe, { place: 0, after: null, pass: pass + 1, removedInPass: 0 });
    return;
  }
  const page = await removePage(tx, table, wipe);
  const stays = page.seen === table.rows;
  wipe.place = stays ? place : place + 1;
  wipe.after = stays ? page.last : null;
  wipe.removedInPass += page.removed;
  wipe.removed += page.removed;
}

interface Page {
  seen: number;
  removed: number;
  last: string | null;
}

// Names of tables come from our own list, never from a request.
async function removePage(
  tx: Database,
  { table, by, rows }: WipedTable,
  { projectId, after }: ProjectWipe,
): Promise<Page> {
  if (by === 'any') {
    const removed = await removeSome(tx, table, sql`project_id = ${projectId}`, rows);
    return { seen: removed, removed, last: null };
  }
  const name = raw(table);
  // Along the index and from the last id on: rows that are gone already would otherwise be passed again by each page.
  const page = await tx.row<Page>(sql`
    with page as materialized (
      select id from ${name} where project_id = ${projectId} and (${after}::uuid is null or id > ${after}::uuid)
        order by id limit ${rows}),
    gone as (delete from ${name} where project_id = ${projectId} and id in (select id from page) returning 1)
    select (select count(*) from page)::int as seen, (select count(*) from gone)::int as removed,
      (select id from page order by id desc limit 1) as last`);
  return page ?? { seen: 0, removed: 0, last: null };
}

/** Ends a wipe whose rows are gone. It stays open where `cancelSubscription` rejects. */
export async function endWipe(
  db: Database,
  wipeId: string,
  cancelSubscription: (subscription: string) => Promise<void>,
): Promise<boolean> {
  const wipe = await findWipe(db, wipeId);
  if (wipe === null) return false;
  if (wipe.subscription) await cancelSubscription(wipe.subscription);
  return db.transaction((tx) => finishWipe(tx, wipe));
}

/** Resets and removals of projects whose execution may be lost. */
export const recoverableWipes = restartable('wipes', stalledWipes, ({ id }) => startOfWipe(id));
