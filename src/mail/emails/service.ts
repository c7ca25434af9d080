import { notFound } from '../../lib/errors.ts';
import { instantOf, isUuid } from '../../lib/ids.ts';
import { clampLimit, decodeId, decodeInstantAndId, encodeCursor, pageOf } from '../../lib/pages.ts';
import { isoInstant, isoInstantOrNull } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import type { Composer } from '../engine/compose.ts';
import { MailStatus } from '../status.ts';
import { emailSearch, findEmails } from './list-queries.ts';
import {
  type EmailRow,
  eventsOfEmail,
  findEmail,
  findScheduled,
  type TimelineRow,
  type WholeEmailRow,
} from './queries.ts';
import type { EmailRecord, EmailSummary, EmailsPage, ListEmails, TimelineItem } from './schema.ts';
import { renderStored } from './stored-mail.ts';

/**
 * A page of mail, the latest first (docs/contract/reach.md#1); scheduled mail by when it is due. Mail of one person or tag is
 * searched whole, other mail in a span of at most 31 days.
 * @throws 400 for a search without a person, tag or span, a cursor of another list, or what is no date
 */
export async function listEmails(
  db: Database,
  compose: Composer,
  projectId: string,
  query: ListEmails,
  now: Date,
): Promise<EmailsPage> {
  const search = await emailSearch(db, projectId, query, now, query.scheduled === 'true');
  if (query.scheduled === 'true')
    return search === null ? noEmails : listScheduled(db, compose, projectId, search.contactId, query);
  if (search === null) return noEmails;
  const before = query.cursor === undefined ? search.before : decodeId(query.cursor);
  const { rows, lookedUpTo } = await findEmails(db, { ...search, before }, { limit: clampLimit(query.limit, 20, 100) });
  return {
    data: rows.map((row) => listedEmail(compose, row)),
    cursor: lookedUpTo === null ? null : encodeCursor([lookedUpTo]),
    hasMore: lookedUpTo !== null,
    lookedBackTo: lookedUpTo === null ? null : instantOf(lookedUpTo).toISOString(),
  };
}

const noEmails: EmailsPage = { data: [], cursor: null, hasMore: false, lookedBackTo: null };

async function listScheduled(
  db: Database,
  compose: Composer,
  projectId: string,
  contactId: string | null,
  query: ListEmails,
): Promise<EmailsPage> {
  const limit = clampLimit(query.limit, 20, 100);
  const [dueAt, id] = query.cursor === undefined ? [] : decodeInstantAndId(query.cursor);
  const after = dueAt === undefined || id === undefined ? null : { dueAt, id };
  const rows = await findScheduled(db, { projectId, contactId, after, limit: limit + 1 });
  const { page, cursor } = pageOf(rows, limit, (last) => [isoInstant(last.dueAt), last.id]);
  return { data: page.map((row) => listedEmail(compose, row)), cursor, hasMore: cursor !== null, lookedBackTo: null };
}

/** One mail with its timeline, and with its HTML where that is asked for. @throws 404 */
export async function getEmail(
  db: Database,
  compose: Composer,
  projectId: string,
  id: string,
  withBody: boolean,
): Promise<EmailRecord> {
  const row = isUuid(id) ? await findEmail(db, projectId, id, withBody) : null;
  if (row === null) throw notFound('email', id);
  const { subject, body, text } = renderStored(compose, row);
  return {
    ...summaryOf(row, subject),
    fromName: row.fromName,
    replyTo: row.replyTo,
    headers: row.headers,
    messageId: row.messageId,
    provider: row.provider,
    attempts: row.attempts,
    lastRefusal: row.lastRefusal,
    suppression: row.suppression,
    deliveredAt: isoInstantOrNull(row.deliveredAt),
    openedAt: isoInstantOrNull(row.openedAt),
    clickedAt: isoInstantOrNull(row.clickedAt),
    bouncedAt: isoInstantOrNull(row.bouncedAt),
    complainedAt: isoInstantOrNull(row.complainedAt),
    tags: row.tags,
    campaignVersion: row.campaignVersion,
    resendOf: row.resendOf,
    resends: row.resends,
    timeline: timelineOf(row, await eventsOfEmail(db, row)),
    ...(withBody ? { body: body === '' ? null : body, text } : {}),
  };
}

/** A mail of a list; of its texts the subject alone is rendered. */
export function listedEmail(compose: Composer, row: EmailRow): EmailSummary {
  return summaryOf(row, renderStored(compose, row).subject);
}

function summaryOf(row: EmailRow, subject: string): EmailSummary {
  return {
    id: row.id,
    contact: { id: row.contact.id, email: row.contact.email },
    to: row.recipientAddress,
    from: row.from,
    sender: row.sender,
    subject,
    status: row.status,
    source: row.sourceType as EmailSummary['source'],
    templateId: row.templateId,
    campaignId: row.campaignId,
    workflowExecutionId: row.workflowExecutionId,
    error: row.error,
    errorCode: row.errorCode,
    opens: row.opens,
    clicks: row.clicks,
    scheduledFor: isoInstantOrNull(row.scheduledFor),
    heldUntil: isoInstantOrNull(row.heldUntil),
    heldBy: row.heldUntil === null ? null : (row.workflowExecutionId ?? row.campaignId) ? 'quietHours' : 'request',
    createdAt: isoInstant(row.createdAt),
    sentAt: isoInstantOrNull(row.sentAt),
  };
}

// Nothing happens to mail that a rule has caught but that.
function timelineOf(row: WholeEmailRow, events: readonly TimelineRow[]): TimelineItem[] {
  const accepted = { at: isoInstant(row.createdAt), type: 'accepted', detail: null };
  if (row.status === MailStatus.SUPPRESSED)
    return [accepted, { ...accepted, type: 'suppressed', detail: row.suppression }];
  // What is cancelled changes no more.
  const cancelled = { at: isoInstant(row.updatedAt), type: 'cancelled', detail: null };
  // A report may be recorded before the answer to the call that handed the mail over.
  const isSent = ({ name }: TimelineRow) => name === 'email.sent';
  const inOrder = [...events.filter(isSent), ...events.filter((event) => !isSent(event))];
  return [
    accepted,
    ...(row.status === MailStatus.CANCELLED ? [cancelled] : []),
    ...inOrder.map(({ at, name, data }) => ({ at: isoInstant(at), type: name.slice('email.'.length), detail: data })),
  ];
}
