import { StepLimitError } from '@posthorn/renderer';
import type { ListSuppressed, SuppressedEmail } from '../../audience/suppressions/index.ts';
import { isoInstant, isoInstantOrNull } from '../../core/database/columns.ts';
import type { Sql } from '../../core/database/sql.ts';
import { clampLimit, decodeCursor, encodeCursor, isInstant } from '../../core/lib/cursor.ts';
import { badRequest, notFound } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import type { Composer } from '../engine/index.ts';
import { findSuppressedMail, type SuppressedMailRow, suppressedMail } from './queries.ts';

/** A page of the mail that rules have caught, newest first. @throws 400 for a cursor of another list */
export async function listSuppressed(sql: Sql, compose: Composer, projectId: string, query: ListSuppressed) {
  const limit = clampLimit(query.limit, 20, 100);
  const rows = await suppressedMail(sql, projectId, query.cursor === undefined ? null : place(query.cursor), limit + 1);
  const emails = rows.slice(0, limit);
  const last = emails.at(-1);
  return {
    emails: emails.map((row) => ({
      id: row.id,
      createdAt: isoInstant(row.createdAt),
      recipientAddress: row.recipientAddress,
      subject: row.subject ?? '',
      renderedSubject: rendered(compose, row).subject,
      suppression: row.suppression,
      status: row.status,
    })),
    nextCursor: rows.length > limit && last ? encodeCursor([last.createdAt, last.id]) : null,
  };
}

/** A mail that a rule has caught, as it would have been sent. @throws 404 */
export async function getSuppressed(
  sql: Sql,
  compose: Composer,
  projectId: string,
  id: string,
): Promise<SuppressedEmail> {
  const row = await findSuppressedMail(sql, projectId, id);
  if (row === null) throw notFound('email', id);
  const { messageClass: _, rendered: __, data: ___, event: ____, contact: _____, project: ______, ...record } = row;
  return {
    ...record,
    ...rendered(compose, row),
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

// Mail that was caught when it was accepted has only its sources and a snapshot of its values.
function rendered(compose: Composer, row: SuppressedMailRow): { subject: string; body: string } {
  const { subject, body } = row;
  if (row.rendered || subject === null) return { subject: subject ?? '', body: body ?? '' };
  const message = composedOrNull(compose, {
    subject,
    body: body ?? '',
    messageClass: row.messageClass,
    sourceType: row.sourceType as 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW',
    project: row.project,
    projectId: row.projectId,
    emailId: row.id,
    from: row.from,
    fromName: row.fromName,
    replyTo: row.replyTo,
    to: { address: row.recipientAddress, name: row.toName },
    contact: row.contact,
    requestData: row.data,
    event: row.event,
  });
  if (message === null) return { subject, body: '' };
  // Emptied when it was old enough: what is left of it is the subject.
  return { subject: message.subject, body: body === null || body === '' ? '' : String(message.html) };
}

// It was never sent, so that nobody has seen that it cannot be rendered.
function composedOrNull(compose: Composer, composition: Parameters<Composer>[0]): ReturnType<Composer> | null {
  try {
    return compose(composition);
  } catch (error) {
    if (error instanceof StepLimitError) return null;
    throw error;
  }
}

function place(cursor: string): [string, string] {
  const [at, id] = decodeCursor(cursor, 2);
  if (isInstant(at) && typeof id === 'string' && isUuid(id)) return [at, id];
  throw badRequest('"cursor" is not a cursor of this list: pass the value of the previous page unchanged');
}
