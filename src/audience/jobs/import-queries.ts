import { recordingEvents } from '../../core/database/record-events.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { contactDataError, flipEvents, limitedByJob, withinDataLimits } from '../contacts/index.ts';
import type { ImportColumns, ImportRow, PlacedRow, RefusedRow } from './import-rows.ts';
import type { ImportOptions } from './schema.ts';

const consentKey = 'consentSource';

/** How an import subscribes contacts. */
export interface Subscribing {
  /** Whether new contacts are subscribed where their rows do not say. */
  subscribeNew: boolean;
  /** Data that contacts get whom the import subscribes: the source of their consent, or nothing. */
  consent: { [consentKey]?: string };
}

/** How an import with these options subscribes contacts. A column that becomes the field `consentSource` takes the place of the option. */
export function subscribingOf(
  { subscribeNew = true, consentSource }: Partial<Pick<ImportOptions, 'subscribeNew' | 'consentSource'>>,
  { data }: ImportColumns,
): Subscribing {
  const isGiven = consentSource !== undefined && !data.some(({ key }) => key === consentKey);
  return { subscribeNew, consent: isGiven ? { [consentKey]: consentSource } : {} };
}

const flips = flipEvents({
  from: 'upserted flipped',
  where: 'not is_new and subscribed <> subscription_before',
  limitedBy: limitedByJob,
});

/**
 * Creates and updates contacts by one statement and records the flips of their subscriptions. No address may stand twice
 * among the rows. Contacts that are already as the row says are neither created nor updated.
 * @throws ContactDataError, with nothing written, when the data of a contact would exceed a limit
 */
export async function upsertContacts(
  db: Database,
  projectId: string,
  rows: readonly ImportRow[],
  { subscribeNew, consent }: Subscribing,
): Promise<{ created: number; updated: number }> {
  // A row that leaves the subscription alone has different values in the two columns, because the column itself cannot be
  // null; what a new contact had before is never read. Every statement writes addresses in one order, which keeps two
  // imports from a deadlock. Rows that are inserted as subscribed have the source of the consent in their data, which contacts
  // who are there get only if this subscribes them.
  const subscribes = sql`excluded.subscribed and excluded.subscription_before and not c.subscribed`;
  const data = sql`c.data || case when ${subscribes} then excluded.data else excluded.data - ${Object.keys(consent)}::text[] end`;
  const given = sql`
      input as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as r (email text, subscribed boolean, data jsonb)),
      upserted as (
        insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
        select uuidv7(), ${projectId}, email, coalesce(subscribed, ${subscribeNew}::boolean),
          coalesce(subscribed, not ${subscribeNew}::boolean),
          case when coalesce(subscribed, ${subscribeNew}::boolean) then ${JSON.stringify(consent)}::jsonb || data else data end
        from input order by email
        on conflict (project_id, email) do update set
          subscription_before = c.subscribed,
          subscribed = case
            when excluded.subscribed = excluded.subscription_before then excluded.subscribed else c.subscribed end,
          data = ${data},
          updated_at = now()
        where ${data} <> c.data
          or (excluded.subscribed = excluded.subscription_before and excluded.subscribed <> c.subscribed)
        returning id, project_id, subscribed, subscription_before, xmax = 0 as is_new)`;
  const result = sql`
    select count(*) filter (where is_new)::integer as created, count(*) filter (where not is_new)::integer as updated from upserted`;
  const counts = await withinDataLimits(
    db.row<{ created: number; updated: number }>(recordingEvents({ given, events: flips, result })),
  );
  return counts ?? { created: 0, updated: 0 };
}

/** Those of the rows that cannot be written because the data of their contacts would exceed a limit. */
export async function excessiveRows(
  db: Database,
  projectId: string,
  rows: readonly PlacedRow[],
  { subscribeNew, consent }: Subscribing,
): Promise<RefusedRow[]> {
  const found = await db.rows<{ email: string; problem: string }>(sql`
    select r.email, p.problem
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (email text, subscribed boolean, data jsonb)
    left join contacts c on c.project_id = ${projectId} and c.email = r.email,
    lateral (
      select case when coalesce(r.subscribed, ${subscribeNew}::boolean)
        then ${JSON.stringify(consent)}::jsonb || r.data else r.data end as data) i,
    lateral (
      select case when c.id is null or r.subscribed and not c.subscribed then i.data else r.data end as data) w,
    lateral coalesce(contact_data_problem(${projectId}, null, i.data),
      contact_data_problem(${projectId}, c.data, coalesce(c.data, '{}') || w.data)) as p (problem)
    where p.problem is not null`);
  const problems = new Map(found.map(({ email, problem }) => [email, contactDataError(problem)?.problem]));
  return rows.flatMap(({ row, email }) => {
    const problem = problems.get(email);
    return problem === undefined ? [] : [{ row, email, error: `The data of the row ${problem}` }];
  });
}
