import { type Database, sql } from '../../core/database/sql.ts';
import { normaliseEmail } from '../../core/lib/email-address.ts';
import { newId } from '../../core/lib/ids.ts';
import { segmentSlug } from './slug.ts';

/** A STATIC segment whose row is locked. */
export interface StaticSegment {
  id: string;
  projectId: string;
  name: string;
  trackMembership: boolean;
}

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
    const email = normaliseEmail(spelling);
    const [list, key] = email === null ? [malformed, spelling.trim().toLowerCase()] : [spellings, email];
    if (!list.has(key)) list.set(key, spelling);
  }
  return { spellings, malformed: [...malformed.values()] };
}

/** Creates contacts for those addresses of the project that have none. Answers how many. */
export function createContacts(
  db: Database,
  projectId: string,
  emails: readonly string[],
  subscribed: boolean,
): Promise<number> {
  return db.count(
    sql`
      insert into contacts (id, project_id, email, subscribed, subscription_before)
      select id, ${projectId}, email, ${subscribed}, ${subscribed} from unnest(${emails.map(() => newId())}::uuid[], ${emails}::text[]) as new (id, email) order by email
      on conflict (project_id, email) do nothing`,
  );
}

// Contacts are locked before memberships are, as a deletion does it, which keeps the two from a deadlock.
const foundContacts = `found as materialized (
  select c.id, c.email from contacts c where c.project_id = $1 and c.email = any($3::text[]) order by c.id for key share)`;

// `changed` is the expression that names the table of changed memberships, `by` how the count moves with them.
const toldAndCounted = (changed: string, kind: 'entry' | 'exit', by: '+' | '-') => `
  told as (
    insert into events (id, project_id, contact_id, name, data)
    select uuidv7(), $1, contact_id, $4 || '.${kind}', $5::jsonb from ${changed} where $6::boolean),
  counted as (
    update segments set member_count = (
        select count(*) from segment_memberships where segment_id = $2 and exited_at is null
      ) ${by} (select count(*) from ${changed}), listed_through = null
    where id = $2)`;

const valuesOf = (segment: StaticSegment, emails: readonly string[]) => [
  segment.projectId,
  segment.id,
  emails,
  `segment.${segmentSlug(segment)}`,
  JSON.stringify({ segmentId: segment.id, segmentName: segment.name }),
  segment.trackMembership,
];

/** Makes the contacts of these addresses members, with their events where tracked. Answers the addresses that are members now. */
export async function enterMembers(
  db: Database,
  segment: StaticSegment,
  emails: readonly string[],
): Promise<Set<string>> {
  const rows = await db.rows<{ email: string }>(
    `with ${foundContacts},
     entered as (
       insert into segment_memberships as m (segment_id, contact_id) select $2, id from found
       on conflict (segment_id, contact_id) do update set entered_at = excluded.entered_at, exited_at = null
         where m.exited_at is not null
       returning contact_id),
     ${toldAndCounted('entered', 'entry', '+')}
     select email from found`,
    valuesOf(segment, emails),
  );
  return new Set(rows.map((row) => row.email));
}

/** Ends the memberships of the contacts of these addresses, with their events where tracked. Answers how many ended. */
export async function endMemberships(db: Database, segment: StaticSegment, emails: readonly string[]): Promise<number> {
  const row = await db.row<{ removed: number }>(
    `with ${foundContacts},
     ended as (
       update segment_memberships m set exited_at = now() from found
       where m.segment_id = $2 and m.contact_id = found.id and m.exited_at is null
       returning m.contact_id),
     ${toldAndCounted('ended', 'exit', '-')}
     select count(*)::int as removed from ended`,
    valuesOf(segment, emails),
  );
  return row?.removed ?? 0;
}
