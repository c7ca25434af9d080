import type { Readable } from 'node:stream';
import { takeAttempt } from '../../accounts/queries.ts';
import { pseudonymOf } from '../../contacts/erased.ts';
import { eventData } from '../../contacts/events/queries.ts';
import { getContact } from '../../contacts/service.ts';
import { leastId } from '../../lib/ids.ts';
import { unseal } from '../../lib/seal.ts';
import { streamOf } from '../../lib/text.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import type { Erasure } from './entity.ts';

/** Who is erased, as the steps need it. */
export interface Subject {
  erasureId: string;
  projectId: string;
  contactId: string;
  /** Replaces the addresses. */
  pseudonym: string;
  /** The addresses that the contact had; none once the certificate was issued. */
  addresses: readonly string[];
  /** A regular expression of Postgres, for `~*`, that finds the addresses in text and JSON; null without addresses. */
  pattern: string | null;
  keepSuppressed: boolean;
  requestedAt: Date;
}

/** The subject of an erasure. @throws UnsealError */
export function subjectOf(erasure: Erasure, encryptionKeys: readonly string[]): Subject {
  const sealed = erasure.addressesSealed;
  const addresses = !sealed ? [] : (JSON.parse(unseal(sealed, encryptionKeys)) as string[]);
  return {
    erasureId: erasure.id,
    projectId: erasure.projectId,
    contactId: erasure.contactId,
    pseudonym: pseudonymOf(erasure.subject),
    addresses,
    pattern: addresses.length === 0 ? null : patternOf(addresses),
    keepSuppressed: erasure.keepSuppressed,
    requestedAt: erasure.createdAt,
  };
}

/**
 * Finds addresses as a whole: `ada@example.com` is neither part of `nada@example.com` nor of `ada@example.com.au`. In JSON a line
 * break before it is the letter of an escape, and in a URL its `@` is `%40`.
 */
function patternOf(addresses: readonly string[]): string {
  const spellings = [...new Set(addresses.flatMap((address) => [address, encodeURIComponent(address)]))];
  const escaped = spellings.map((text) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`));
  return String.raw`(?:(?<![\w.+-])|(?<=\\[nrtbf])|(?<=%[0-9A-F][0-9A-F]))(?:${escaped.join('|')})(?![\w-]|\.\w)`;
}

const mostPerMinute = 10;

/** One list of an export: its rows as JSON, in the order of a key after which the next page begins. */
interface Section {
  name: string;
  /** Rows that are read together; few where each may be large. */
  rows: number;
  first: string;
  page(projectId: string, contactId: string, after: string, limit: number): Query;
}

/**
 * Everything known of a contact, as the text of a JSON object that is read while it is sent: however much there is, a page of it is in
 * memory at a time.
 * @throws 404 CONTACT_NOT_FOUND; 429 after 10 exports of the project in a minute
 */
export async function exportContact(db: Database, projectId: string, contactId: string): Promise<Readable> {
  const contact = await getContact(db, projectId, contactId);
  const attempt = { scope: 'export', subject: projectId, limit: mostPerMinute, seconds: 60 } as const;
  await takeAttempt(db, attempt, `A project gets ${mostPerMinute} exports of contacts a minute`);
  return streamOf(exportText(db, projectId, contactId, contact));
}

async function* exportText(
  db: Database,
  projectId: string,
  contactId: string,
  contact: object,
): AsyncGenerator<string> {
  const head = { format: 'fernpost-contact/1', exportedAt: new Date().toISOString(), contact };
  let begun = JSON.stringify(head).slice(0, -1);
  for (const { name, first, rows: limit, page } of sections) {
    begun += `,\n${JSON.stringify(name)}: [`;
    let separator = '\n';
    for (let after = first; ; ) {
      const rows = await db.rows<{ key: string; item: unknown }>(page(projectId, contactId, after, limit));
      for (const { item } of rows) {
        yield `${begun}${separator}${JSON.stringify(item)}`;
        begun = '';
        separator = ',\n';
      }
      const last = rows.at(-1);
      if (rows.length < limit || last === undefined) break;
      after = last.key;
    }
    begun += ']';
  }
  yield `${begun}}\n`;
}

// Postgres names the columns of the item: what is added to a table later is exported as well, where it is the contact's.
const sections: readonly Section[] = [
  {
    name: 'segments',
    rows: 500,
    first: leastId,
    page: (_, contact, after, limit) => sql`
      select m.segment_id::text as key, jsonb_build_object('id', s.id, 'name', s.name, 'enteredAt', m.entered_at, 'exitedAt', m.exited_at) as item
      from segment_memberships m join segments s on s.id = m.segment_id
      where m.contact_id = ${contact} and m.segment_id > ${after}::uuid order by m.segment_id limit ${limit}`,
  },
  {
    name: 'emails',
    rows: 20,
    first: leastId,
    page: (project, contact, after, limit) => sql`
      select e.id::text as key, (to_jsonb(e) - '{project_id,contact_id}'::text[]) || jsonb_build_object('tags',
        (select coalesce(jsonb_object_agg(t.name, t.value), '{}') from email_tags t where t.email_id = e.id)) as item
      from emails e where e.project_id = ${project} and e.contact_id = ${contact} and e.id > ${after}::uuid
      order by e.id limit ${limit}`,
  },
  {
    name: 'events',
    rows: 200,
    first: `-infinity/${leastId}`,
    page: (project, contact, after, limit) => sql`
      select e.created_at::text || '/' || e.id as key, (to_jsonb(e) - '{project_id,contact_id}'::text[]) || jsonb_build_object('data', ${raw(eventData('e'))}) as item
      from events e where e.project_id = ${project} and e.contact_id = ${contact}
        and (e.created_at, e.id) > (split_part(${after}, '/', 1)::timestamptz, split_part(${after}, '/', 2)::uuid)
      order by e.created_at, e.id limit ${limit}`,
  },
  {
    name: 'history',
    rows: 200,
    first: '-infinity',
    page: (project, contact, after, limit) => sql`
      select h.at::text as key, to_jsonb(h) - '{project_id,contact_id}'::text[] as item
      from contact_history h where h.project_id = ${project} and h.contact_id = ${contact} and h.at > ${after}::timestamptz
      order by h.at limit ${limit}`,
  },
  {
    name: 'workflowExecutions',
    rows: 50,
    first: leastId,
    page: (project, contact, after, limit) => sql`
      select r.id::text as key, (to_jsonb(r) - '{project_id,contact_id}'::text[]) || jsonb_build_object('steps',
        (select coalesce(jsonb_agg(to_jsonb(x) - '{project_id,contact_id,run_id}'::text[] order by x.seq), '[]')
          from automation_step_runs x where x.run_id = r.id)) as item
      from automation_runs r where r.project_id = ${project} and r.contact_id = ${contact} and r.id > ${after}::uuid
      order by r.id limit ${limit}`,
  },
  {
    name: 'imports',
    rows: 200,
    first: '',
    page: (project, contact, after, limit) => sql`
      select j.id as key, jsonb_build_object('id', j.id, 'kind', j.kind, 'createdAt', j.created_at, 'finishedAt', j.finished_at) as item
      from jobs j where j.project_id = ${project} and j.id > ${after} and j.id in (
        select h.cause ->> 'id' from contact_history h where h.project_id = ${project} and h.contact_id = ${contact})
      order by j.id limit ${limit}`,
  },
];
