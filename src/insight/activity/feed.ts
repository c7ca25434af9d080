import type { App } from '../../http/context.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { badRequest } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { dayMs, hourMs, spanParameters, sqlSpan } from '../../lib/time.ts';
import { composerOf } from '../../mail/engine/compose.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { isoInstant } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import { type FeedRow, feedPage, longestPage } from './feed-queries.ts';
import { type ActivityItem, type ActivityPage, type ListActivity, positiveInteger } from './schema.ts';
import { totalOf, totalOfContact } from './total-queries.ts';
import {
  type ActivityType,
  boundAfter,
  boundAt,
  cursorAfter,
  earlier,
  readCursor,
  type Source,
  sources,
  typesOf,
} from './types.ts';

/**
 * A page of what happened in a project, newest first (docs/contract/platform.md#4-2).
 * @throws 400 for what is no date, an end before the beginning, a cursor of another list, a contact that is no UUID
 */
export async function listActivity(
  { app, db }: { app: App; db: Database },
  project: ProjectFacts,
  query: ListActivity,
): Promise<ActivityPage> {
  const now = app.clock();
  const limit = positiveInteger(query.limit, 50, longestPage);
  const place = query.cursor === undefined ? null : readCursor(query.cursor);
  const contactId = query.contactId === undefined || query.contactId === '' ? null : query.contactId.toLowerCase();
  if (contactId !== null && !isUuid(contactId)) throw badRequest('"contactId" is not a UUID', { field: 'contactId' });
  const span = spanParameters(place === null ? query : { endDate: query.endDate, startDate: '1970-01-01' }, now, 30);
  const types = typesOf(query.types);
  const asked = sources.map(({ type, rows }) => types.has(type) && (contactId === null || rows !== 'campaigns'));
  if (!asked.includes(true)) return { data: [], hasMore: false, total: 0 };

  const bounds = sources.map(({ prefix, suffix }) => {
    const end = boundAt(span.until);
    return place === null ? end : earlier(end, boundAfter(place, prefix, suffix));
  });
  // From a cursor on, the feed has no first instant.
  const whole = sqlSpan({ from: place === null ? span.from : null, until: span.until }, hourMs);
  const [rows, total] = await Promise.all([
    feedPage(db, project.id, { contactId, from: whole.from, bounds, asked, limit: limit + 1 }),
    place !== null
      ? 0
      : contactId === null
        ? totalOf(db, project.id, whole, types)
        : totalOfContact(db, project.id, contactId, whole, types),
  ]);
  const shown = rows.slice(0, limit);
  const bodies = bodiesOf(app, project, shown);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map((row) => itemOf(row, bodies)),
    ...(hasMore ? { cursor: cursorAfter(Date.parse(isoInstant(last.at)), last.id) } : {}),
    hasMore,
    total,
  };
}

function itemOf(row: FeedRow, bodies: ReadonlyMap<string, string | null>): ActivityItem {
  const { type } = sources[row.source] as Source;
  return {
    id: row.id,
    type,
    timestamp: isoInstant(row.at),
    ...(row.contactEmail === null ? {} : { contactEmail: row.contactEmail }),
    ...(row.contactId === null ? {} : { contactId: row.contactId }),
    metadata: metadataOf(row, type, bodies),
  };
}

const hasError = new Set<ActivityType>(['email.bounced', 'email.complaint', 'email.failed']);

function metadataOf({ uuid, mail, facts }: FeedRow, type: ActivityType, bodies: ReadonlyMap<string, string | null>) {
  if (facts !== null) {
    const { exitReason: _, ...started } = facts;
    return type === 'workflow.started' ? started : facts;
  }
  if (mail === null) return {};
  const { subject, from, fromName, replyTo, toName, sourceType, campaignName, workflowName } = mail;
  const shown: JsonObjectValue = {
    subject,
    body: bodies.get(uuid) ?? null,
    from,
    fromName,
    replyTo,
    toName,
    sourceType,
    ...(campaignName === null ? {} : { campaignName }),
    ...(workflowName === null ? {} : { workflowName }),
  };
  if (type === 'email.suppressed') return { ...shown, suppressedBy: mail.suppressedBy };
  if (type === 'email.opened') return { ...shown, totalOpens: mail.opens };
  if (type === 'email.clicked') return { ...shown, totalClicks: mail.clicks };
  return hasError.has(type) ? { ...shown, error: mail.error, errorCode: mail.errorCode } : shown;
}

/** The body of each mail on a page, rendered once for all of its items. */
function bodiesOf(app: App, project: ProjectFacts, rows: readonly FeedRow[]): Map<string, string | null> {
  const bodies = new Map<string, string | null>();
  for (const row of rows)
    if (row.mail !== null && !bodies.has(row.uuid)) bodies.set(row.uuid, bodyOf(app, project, row));
  return bodies;
}

// The ledger keeps no body for each recipient of a campaign: it is rendered again from the campaign, and differs only where
// the contact's data has changed. It is not shown once it is as old as bodies that retention empties.
function bodyOf(app: App, project: ProjectFacts, { uuid, mail, contactId, contactEmail }: FeedRow) {
  if (mail === null || mail.body === null || mail.body === '') return null;
  const { subject, body, sourceType, data, contact } = mail;
  if (mail.rendered || sourceType === 'INBOUND') return body;
  const age = app.clock().getTime() - Date.parse(mail.createdAt);
  if (age > app.config.EMAIL_BODY_RETENTION_DAYS * dayMs || contactId === null || contactEmail === null) return null;
  try {
    const message = composerOf(app)({
      subject: subject ?? '',
      body,
      messageClass: mail.messageClass,
      sourceType,
      project,
      projectId: project.id,
      emailId: uuid,
      from: mail.from,
      fromName: mail.fromName,
      replyTo: mail.replyTo,
      to: { address: mail.toAddress, name: mail.toName },
      contact: { id: contactId, email: contactEmail, ...contact },
      requestData: data,
    });
    return String(message.html);
  } catch {
    return null;
  }
}
