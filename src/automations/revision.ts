import { isoInstant } from '../core/database/columns.ts';
import { type Sql, statement } from '../core/database/sql.ts';
import { hasSeen, stale } from '../core/lib/revision.ts';
import type { AutomationRow } from './rows.ts';

/** Who edits an automation, and which revision of it they have seen. */
export interface Editor {
  /** Null for a key. */
  userId: string | null;
  /** The header `If-Match`; empty edits whatever is there. */
  ifMatch: string;
}

/** An answer to an edit, with the revision that it made. */
export interface Edited<Body> {
  body: Body;
  revision: number;
}

/** The editor of a request. */
export function editorOf(
  actor: { kind: 'key' } | { kind: 'user'; userId: string },
  header: (name: string) => string,
): Editor {
  return { userId: actor.kind === 'user' ? actor.userId : null, ifMatch: header('if-match') };
}

/** Who made an edit. */
type EditedBy = { kind: 'user'; id: string; email: string } | { kind: 'key' };

/** The last edit of an automation; both are null where it was never edited. */
export interface LastEdit {
  at: string | null;
  by: EditedBy | null;
}

const lastEdit = statement(
  'automations.last_edit',
  `select a.edited_at::text as at, a.edited_by as id, u.email from automations a left join users u on u.id = a.edited_by
   where a.id = $1`,
);

/** When an automation was edited last, and by whom. */
export async function lastEditOf(sql: Sql, automationId: string): Promise<LastEdit> {
  const row = await sql.row<{ at: string | null; id: string | null; email: string | null }>(lastEdit, [automationId]);
  if (!row?.at) return { at: null, by: null };
  const by: EditedBy = row.id && row.email ? { kind: 'user', id: row.id, email: row.email } : { kind: 'key' };
  return { at: isoInstant(row.at), by };
}

const path = '/workflows/{id}';

/**
 * Refuses an edit by somebody who has seen another revision; the automation's row must be locked. The revision is that of
 * everything in the automation: a step or a transition has none of its own, because what it means depends on the others.
 * @throws 412 PRECONDITION_FAILED that says who changed it and when, 400 for an `If-Match` that is no list of tags
 */
export async function checkRevision(sql: Sql, automation: AutomationRow, ifMatch: string): Promise<void> {
  const { id, revision } = automation;
  if (hasSeen(revision, ifMatch, path)) return;
  const { at, by } = await lastEditOf(sql, id);
  const who = by === null ? '' : by.kind === 'user' ? ` by ${by.email}` : ' with an API key';
  const when = at === null ? '' : ` (${at})`;
  throw stale(`This workflow was changed${who} since you read it${when}`, path, revision, {
    resource: 'workflow',
    id,
    revision,
    changedAt: at,
    changedBy: by,
  });
}
