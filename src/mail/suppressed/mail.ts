import type { ListSuppressed, SuppressedEmail } from '../../contacts/suppressions/schema.ts';
import { notFound } from '../../lib/errors.ts';
import { clampLimit, decodeInstantAndId, pageOf } from '../../lib/pages.ts';
import { isoInstant, isoInstantOrNull } from '../../store/columns.ts';
import { type Database, sql } from '../../store/sql.ts';
import { renderStored, type StoredMail, storedMailColumns, storedMailJoins } from '../emails/stored-mail.ts';
import type { Composer } from '../engine/compose.ts';

/** A suppressed mail with what rendering it needs; nothing rendered it, because nobody was to get it. */
interface SuppressedMailRow extends Omit<SuppressedEmail, 'subject' | 'body'>, StoredMail {}

const columns = sql`${storedMailColumns(true)}, e.contact_id as "contactId", e.headers, e.attachments,
  e.template_id as "templateId", e.campaign_id as "campaignId", e.workflow_execution_id as "workflowExecutionId",
  e.workflow_step_execution_id as "workflowStepExecutionId", e.message_id as "messageId", e.status, e.sent_at::text as "sentAt",
  e.delivered_at::text as "deliveredAt", e.opened_at::text as "openedAt", e.clicked_at::text as "clickedAt",
  e.bounced_at::text as "bouncedAt", e.complained_at::text as "complainedAt", e.opens, e.clicks,
  mail_reason_text(e.reason) as error, e.suppression, e.created_at::text as "createdAt", e.updated_at::text as "updatedAt"`;

/** Suppressed mail of a project, newest first, after a place. */
function suppressedMail(
  db: Database,
  projectId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<SuppressedMailRow[]> {
  const [at = null, id = null] = after ?? [];
  return db.rows<SuppressedMailRow>(sql`
    select ${columns} from ${storedMailJoins}
    where e.project_id = ${projectId} and e.suppression is not null and e.status = 'SUPPRESSED'
      and (${at}::timestamptz is null or (e.created_at, e.id) < (${at}::timestamptz, ${id}::uuid))
    order by e.created_at desc, e.id desc limit ${limit}`);
}

/** One suppressed mail of a project, or null. */
function findSuppressedMail(db: Database, projectId: string, id: string): Promise<SuppressedMailRow | null> {
  return db.row<SuppressedMailRow>(sql`
    select ${columns} from ${storedMailJoins}
    where e.project_id = ${projectId} and e.id = ${id} and e.suppression is not null and e.status = 'SUPPRESSED'`);
}

/** A page of suppressed mail, newest first. @throws 400 for a cursor of another list */
export async function listSuppressed(db: Database, compose: Composer, projectId: string, query: ListSuppressed) {
  const limit = clampLimit(query.limit, 20, 100);
  const rows = await suppressedMail(
    db,
    projectId,
    query.cursor === undefined ? null : decodeInstantAndId(query.cursor),
    limit + 1,
  );
  const { page, cursor } = pageOf(rows, limit, (last) => [last.createdAt, last.id]);
  return {
    emails: page.map((row) => ({
      id: row.id,
      createdAt: isoInstant(row.createdAt),
      recipientAddress: row.recipientAddress,
      subject: row.subject ?? '',
      renderedSubject: renderStored(compose, row).subject,
      suppression: row.suppression,
      status: row.status,
    })),
    nextCursor: cursor,
  };
}

/** A suppressed mail, as it would have been sent. @throws 404 */
export async function getSuppressed(
  db: Database,
  compose: Composer,
  projectId: string,
  id: string,
): Promise<SuppressedEmail> {
  const row = await findSuppressedMail(db, projectId, id);
  if (row === null) throw notFound('email', id);
  const { messageClass: _, rendered: __, data: ___, event: ____, isLiteral: _____, text: ______, ...kept } = row;
  const { contact: _______, project: ________, ...record } = kept;
  const { subject, body } = renderStored(compose, row);
  return {
    ...record,
    subject,
    body,
    sentAt: isoInstantOrNull(row.sentAt),
    deliveredAt: isoInstantOrNull(row.deliveredAt),
    openedAt: isoInstantOrNull(row.openedAt),
    clickedAt: isoInstantOrNull(row.clickedAt),
    bouncedAt: isoInstantOrNull(row.bouncedAt),
    complainedAt: isoInstantOrNull(row.complainedAt),
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}
