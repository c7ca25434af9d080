import { isoText } from '../core/database/columns.ts';
import { type Database, raw, sql } from '../core/database/sql.ts';
import { hasSeen, stale } from '../core/lib/revision.ts';
import type { AutomationRow } from './rows.ts';
import type { WorkflowWithGraph } from './schema.ts';

/** The workflow that a request edits. */
export interface EditTarget {
  db: Database;
  projectId: string;
  id: string;
  /** Whose session it is; null for a key. */
  userId: string | null;
  /** The header `If-Match`, which says what revision the editor has seen; empty edits whatever is there. */
  ifMatch: string;
}

/** An answer to an edit, with the revision that it made. */
export interface Edited<Body> {
  body: Body;
  revision: number;
}

/** What a request edits, and who sends it. */
export function editOf(call: {
  db: Database;
  project: { id: string };
  params: { id: string };
  actor: { kind: 'key' } | { kind: 'user'; userId: string };
  header(name: string): string;
}): EditTarget {
  const { db, project, params, actor, header } = call;
  const userId = actor.kind === 'user' ? actor.userId : null;
  return { db, projectId: project.id, id: params.id, userId, ifMatch: header('if-match') };
}

/** When an automation was edited last, and by whom; both are null where it was never edited. */
export async function lastEditOf(
  db: Database,
  automationId: string,
): Promise<Pick<WorkflowWithGraph, 'editedAt' | 'editedBy'>> {
  const row = await db.row<{ editedAt: string | null; id: string | null; email: string | null }>(sql`
    select ${raw(isoText('a.edited_at'))} as "editedAt", a.edited_by as id, u.email
    from automations a left join users u on u.id = a.edited_by where a.id = ${automationId}`);
  if (!row?.editedAt) return { editedAt: null, editedBy: null };
  const { editedAt, id, email } = row;
  return { editedAt, editedBy: id && email ? { kind: 'user', id, email } : { kind: 'key' } };
}

const path = '/workflows/{id}';

/**
 * Refuses an edit by somebody who has seen another revision; the automation's row must be locked. The revision is that of
 * everything in the automation: a step or a transition has none of its own, because what it means depends on the others.
 * @throws 412 PRECONDITION_FAILED that says who changed it and when, 400 for an `If-Match` that is no list of tags
 */
export async function checkRevision(tx: Database, automation: AutomationRow, ifMatch: string): Promise<void> {
  const { id, revision } = automation;
  if (hasSeen(revision, ifMatch, path)) return;
  const { editedAt: changedAt, editedBy: changedBy } = await lastEditOf(tx, id);
  const who = changedBy === null ? '' : changedBy.kind === 'user' ? ` by ${changedBy.email}` : ' with an API key';
  const when = changedAt === null ? '' : ` (${changedAt})`;
  const details = { resource: 'workflow', id, revision, changedAt, changedBy };
  throw stale(`This workflow was changed${who} since you read it${when}`, path, revision, details);
}
