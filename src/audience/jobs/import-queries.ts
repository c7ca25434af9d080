import { type Sql, statement } from '../../core/database/sql.ts';
import { contactDataError, flipEvents, withinDataLimits } from '../contacts/index.ts';
import type { ImportRow, PlacedRow, RefusedRow } from './import-rows.ts';

// A row that leaves the subscription alone is told by the two columns being different, for the column itself cannot be
// null; of a new contact nothing ever asks what stood there before. Addresses are written in one order by everybody, so
// that two imports cannot wait for each other.
const upsert = statement(
  'imports.upsert',
  `with input as (
     select * from jsonb_to_recordset($2::jsonb) as r (email text, subscribed boolean, data jsonb)),
   upserted as (
     insert into contacts as c (id, project_id, email, subscribed, subscription_before, data)
     select uuidv7(), $1, email, coalesce(subscribed, true), coalesce(subscribed, false), data from input order by email
     on conflict (project_id, email) do update set
       subscription_before = c.subscribed,
       subscribed = case when excluded.subscribed = excluded.subscription_before then excluded.subscribed else c.subscribed end,
       data = c.data || excluded.data,
       updated_at = now()
     where c.data || excluded.data <> c.data
       or (excluded.subscribed = excluded.subscription_before and excluded.subscribed <> c.subscribed)
     returning id, project_id, subscribed, subscription_before, xmax = 0 as is_new),
   flip as (
     ${flipEvents({ from: 'upserted flipped', where: 'not is_new and subscribed <> subscription_before' })})
   select count(*) filter (where is_new)::integer as created, count(*) filter (where not is_new)::integer as updated
   from upserted`,
);

/**
 * Creates and updates contacts by one statement and records the flips of their subscriptions. No address may stand twice
 * among the rows. Contacts that are already as the row says are neither created nor updated.
 * @throws ContactDataError, with nothing written, when the data of a contact would exceed a limit
 */
export async function upsertContacts(
  sql: Sql,
  projectId: string,
  rows: readonly ImportRow[],
): Promise<{ created: number; updated: number }> {
  const values = [projectId, JSON.stringify(rows)];
  const counts = await withinDataLimits(sql.row<{ created: number; updated: number }>(upsert, values));
  if (counts === null) throw new Error('Postgres did not answer');
  return counts;
}

const excessive = statement(
  'imports.excessive',
  `select r.email, p.problem
   from jsonb_to_recordset($2::jsonb) as r (email text, data jsonb)
   left join contacts c on c.project_id = $1 and c.email = r.email,
   lateral coalesce(contact_data_problem($1, null, r.data),
     contact_data_problem($1, c.data, coalesce(c.data, '{}') || r.data)) as p (problem)
   where p.problem is not null`,
);

/** Those of the rows that cannot be written because the data of their contacts would exceed a limit. */
export async function excessiveRows(sql: Sql, projectId: string, rows: readonly PlacedRow[]): Promise<RefusedRow[]> {
  const found = await sql.rows<{ email: string; problem: string }>(excessive, [projectId, JSON.stringify(rows)]);
  const problems = new Map(found.map(({ email, problem }) => [email, contactDataError(problem)?.problem]));
  return rows.flatMap(({ row, email }) => {
    const problem = problems.get(email);
    return problem === undefined ? [] : [{ row, email, error: `The data of the row ${problem}` }];
  });
}
