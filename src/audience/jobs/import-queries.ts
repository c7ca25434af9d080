import { type Database, raw, sql } from '../../core/database/sql.ts';
import { contactDataError, flipEvents, limitedByJob, withinDataLimits } from '../contacts/index.ts';
import type { ImportRow, PlacedRow, RefusedRow } from './import-rows.ts';

const flip = raw(
  flipEvents({
    from: 'upserted flipped',
    where: 'not is_new and subscribed <> subscription_before',
    limitedBy: limitedByJob,
  }),
);

/**
 * Creates and updates contacts by one statement and records the flips of their subscriptions. No address may stand twice
 * among the rows. Contacts that are already as the row says are neither created nor updated.
 * @throws ContactDataError, with nothing written, when the data of a contact would exceed a limit
 */
export async function upsertContacts(
  db: Database,
  projectId: string,
  rows: readonly ImportRow[],
): Promise<{ created: number; updated: number }> {
  // A row that leaves the subscription alone has different values in the two columns, because the column itself cannot be
  // null; what a new contact had before is never read. Every statement writes addresses in one order, which keeps two
  // imports from a deadlock.
  const counts = await withinDataLimits(
    db.row<{ created: number; updated: number }>(sql`
      with input as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as r (email text, subscribed boolean, data jsonb)),
      upserted as (
        insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
        select uuidv7(), ${projectId}, email, coalesce(subscribed, true), coalesce(subscribed, false), data
        from input order by email
        on conflict (project_id, email) do update set
          subscription_before = c.subscribed,
          subscribed = case
            when excluded.subscribed = excluded.subscription_before then excluded.subscribed else c.subscribed end,
          data = c.data || excluded.data,
          updated_at = now()
        where c.data || excluded.data <> c.data
          or (excluded.subscribed = excluded.subscription_before and excluded.subscribed <> c.subscribed)
        returning id, project_id, subscribed, subscription_before, xmax = 0 as is_new),
      flip as (${flip})
      select count(*) filter (where is_new)::integer as created, count(*) filter (where not is_new)::integer as updated
      from upserted`),
  );
  return counts ?? { created: 0, updated: 0 };
}

/** Those of the rows that cannot be written because the data of their contacts would exceed a limit. */
export async function excessiveRows(
  db: Database,
  projectId: string,
  rows: readonly PlacedRow[],
): Promise<RefusedRow[]> {
  const found = await db.rows<{ email: string; problem: string }>(sql`
    select r.email, p.problem
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (email text, data jsonb)
    left join contacts c on c.project_id = ${projectId} and c.email = r.email,
    lateral coalesce(contact_data_problem(${projectId}, null, r.data),
      contact_data_problem(${projectId}, c.data, coalesce(c.data, '{}') || r.data)) as p (problem)
    where p.problem is not null`);
  const problems = new Map(found.map(({ email, problem }) => [email, contactDataError(problem)?.problem]));
  return rows.flatMap(({ row, email }) => {
    const problem = problems.get(email);
    return problem === undefined ? [] : [{ row, email, error: `The data of the row ${problem}` }];
  });
}
