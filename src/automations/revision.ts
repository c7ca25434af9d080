import { domainOf } from '@fernpost/validation';
import { isoText } from '../core/database/columns.ts';
import { type Database, limitingKey, raw, sql } from '../core/database/sql.ts';
import { forbidden } from '../core/lib/errors.ts';
import { hasSeen, stale } from '../core/lib/revision.ts';
import { checkKeySender } from '../platform/domains/index.ts';
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
 * Checks that a key with limits changes no workflow whose mail reaches others: only one that the key itself enabled, or that is disabled
 * with nobody inside. The automation's row must be locked.
 * @throws 403 for a workflow that somebody else runs
 */
export async function keepLimits(tx: Database, id: string): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const row = await tx.row<{ isOpen: boolean }>(sql`
    select a.limited_by is distinct from ${key}::uuid and (a.enabled or exists (
        select from automation_runs r where r.automation_id = a.id and r.status in ('RUNNING', 'WAITING'))) as "isOpen"
      from automations a where a.id = ${id}`);
  if (row?.isOpen)
    throw forbidden(
      'This key may not send to everybody: it can only change workflows that it enabled itself, or disabled ones with no active executions',
      { reason: 'recipient' },
      'Use a key without limits, or sign in.',
    );
}

/**
 * Checks that a key which may send from some domains only lets no workflow send from another one.
 * @throws 403 for a workflow with mail from such a domain
 */
export async function keepSenders(tx: Database, id: string): Promise<void> {
  if (!tx.author?.senderDomains) return;
  const rows = await tx.rows<{ from: string }>(sql`
    select distinct t."from" from automation_steps s join templates t on t.id = s.template_id
    where s.automation_id = ${id} and s.type = 'SEND_EMAIL'`);
  for (const { from } of rows) checkKeySender(tx.author, domainOf(from));
}

/** Notes the key whose limits hold for the mail of an automation that was enabled or changed; null for none. */
export async function noteLimits(tx: Database, id: string): Promise<void> {
  const key = limitingKey(tx);
  await tx.count(sql`
    update automations set limited_by = ${key}::uuid where id = ${id} and limited_by is distinct from ${key}::uuid`);
}

/**
 * Refuses an edit by somebody who has seen another revision, and one that `keepLimits` refuses; the automation's row must be locked. The revision is that of
 * everything in the automation: a step or a transition has none of its own, because what it means depends on the others.
 * @throws 412 PRECONDITION_FAILED that says who changed it and when, 400 for an `If-Match` that is no list of tags
 */
export async function checkRevision(tx: Database, automation: AutomationRow, ifMatch: string): Promise<void> {
  const { id, revision } = automation;
  await keepLimits(tx, id);
  if (hasSeen(revision, ifMatch, path)) return;
  const { editedAt: changedAt, editedBy: changedBy } = await lastEditOf(tx, id);
  const who = changedBy === null ? '' : changedBy.kind === 'user' ? ` by ${changedBy.email}` : ' with an API key';
  const when = changedAt === null ? '' : ` (${changedAt})`;
  const details = { resource: 'workflow', id, revision, changedAt, changedBy };
  throw stale(`This workflow was changed${who} since you read it${when}`, path, revision, details);
}
