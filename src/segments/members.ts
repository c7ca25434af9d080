import { writeContacts, writingAs } from '../contacts/write.ts';
import { normalizeEmail } from '../lib/validation/email-address.ts';
import { recordingEvents } from '../store/record-events.ts';
import { type Database, limitingKey, type Query, raw, sql, unprepared } from '../store/sql.ts';
import { memberEvent } from './pages.ts';
import type { LockedSegment } from './queries.ts';

/** Addresses of a request: stored forms, each with the spelling it came in; spellings that are no addresses apart. */
export interface WantedAddresses {
  spellings: Map<string, string>;
  malformed: string[];
}

/** Reads a caller's list of addresses; of several spellings of one address the first counts. */
export function wantedAddresses(emails: readonly string[]): WantedAddresses {
  const spellings = new Map<string, string>();
  const malformed = new Map<string, string>();
  for (const spelling of emails) {
    const email = normalizeEmail(spelling);
    const [list, key] = email === null ? [malformed, spelling.trim().toLowerCase()] : [spellings, email];
    if (!list.has(key)) list.set(key, spelling);
  }
  return { spellings, malformed: [...malformed.values()] };
}

/** Creates contacts for those addresses of the project that have none, to be members of the segment. Returns how many. */
export async function createContacts(
  tx: Database,
  { id, projectId }: LockedSegment,
  emails: readonly string[],
  subscribed: boolean,
): Promise<number> {
  const rows = emails.map((email) => ({ email }));
  const { created } = await writeContacts(tx, projectId, rows, {
    ...writingAs(tx, 'segment', id),
    subscribedWhenNew: subscribed,
  });
  return created;
}

/**
 * Makes the contacts of these addresses members, with their events where tracked. `limitedBy` is the key whose limits hold for what these start. Returns the addresses that are members now, and
 * whether they were none before.
 */
export async function enterMembers(
  db: Database,
  segment: LockedSegment,
  emails: readonly string[],
  limitedBy: string | null,
): Promise<Map<string, boolean>> {
  const entered = sql`
    insert into segment_memberships as m (segment_id, contact_id) select ${segment.id}, id from found
    on conflict (segment_id, contact_id) do update set entered_at = excluded.entered_at, exited_at = null
      where m.exited_at is not null
    returning contact_id`;
  const found = await changing(db, segment, emails, 'entry', { limitedBy, changed: entered });
  return new Map(found.map(({ email, isChanged }) => [email, isChanged]));
}

/** Ends the memberships of the contacts of these addresses, with their events where tracked. Returns how many ended. */
export async function endMemberships(db: Database, segment: LockedSegment, emails: readonly string[]): Promise<number> {
  const ended = sql`
    update segment_memberships m set exited_at = now() from found
    where m.segment_id = ${segment.id} and m.contact_id = found.id and m.exited_at is null
    returning m.contact_id`;
  const found = await changing(db, segment, emails, 'exit', { limitedBy: limitingKey(db), changed: ended });
  return found.filter(({ isChanged }) => isChanged).length;
}

// Contacts are locked before memberships are, as a deletion does it, which keeps the two from a deadlock. Returns the contacts of the
// addresses, and whether `changed` has changed their memberships.
function changing(
  db: Database,
  segment: LockedSegment,
  emails: readonly string[],
  kind: 'entry' | 'exit',
  { changed, limitedBy }: { changed: Query; limitedBy: string | null },
): Promise<{ email: string; isChanged: boolean }[]> {
  const { id, projectId, trackMembership } = segment;
  const { name, data } = memberEvent(segment, kind);
  const given = sql`
    found as materialized (
      select c.id, c.email from contacts c where c.project_id = ${projectId} and c.email = any(${emails}::text[])
      order by c.id for key share),
    changed as (${changed}),
    counted as (
      update segments set member_count = (
          select count(*) from segment_memberships where segment_id = ${id} and exited_at is null
        ) ${raw(kind === 'entry' ? '+' : '-')} (select count(*) from changed), listed_through = null
      where id = ${id})`;
  const from = sql`changed where ${trackMembership}::boolean`;
  const events = [{ projectId, contactId: sql`contact_id`, name, data, limitedBy, from }];
  const result = sql`select email, id in (select contact_id from changed) as "isChanged" from found`;
  return db.rows(unprepared(recordingEvents({ given, events, result })));
}
