import type { ListSuppressed, SuppressedEmail } from '../../audience/suppressions/index.ts';
import { isoInstant, isoInstantOrNull } from '../../core/database/columns.ts';
import type { Database } from '../../core/database/sql.ts';
import { clampLimit, decodeInstantAndId, pageOf } from '../../core/lib/cursor.ts';
import { notFound } from '../../core/lib/errors.ts';
import { renderStored } from '../emails/index.ts';
import type { Composer } from '../engine/index.ts';
import { findSuppressedMail, suppressedMail } from './queries.ts';

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
