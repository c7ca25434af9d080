import { contactDataError } from '../contacts/limit-queries.ts';
import { type WrittenCounts, writeContacts } from '../contacts/write.ts';
import { type Database, sql } from '../store/sql.ts';
import type { ImportColumns, ImportRow, PlacedRow, RefusedRow } from './import-rows.ts';
import type { JobRow } from './queries.ts';
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

/**
 * Creates and updates contacts on behalf of a job. No address may stand twice among the rows. Contacts that are already as the row says
 * are neither created nor updated.
 * @throws ContactDataError, with nothing written, when the data of a contact would exceed a limit
 */
export function upsertContacts(
  db: Database,
  { id, projectId, limitedBy }: JobRow,
  rows: readonly ImportRow[],
  { subscribeNew, consent }: Subscribing,
): Promise<WrittenCounts> {
  const extra = Object.keys(consent).length > 0 ? { consent } : {};
  const given = rows.map(({ email, subscribed, data }) => ({ email, subscribed, set: data, ...extra }));
  return writeContacts(db, projectId, given, { cause: id, limitedBy, subscribedWhenNew: subscribeNew });
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
    lateral contact_data_problem(${projectId}, c.data, coalesce(c.data, '{}') || w.data) as p (problem)
    where p.problem is not null`);
  const problems = new Map(found.map(({ email, problem }) => [email, contactDataError(problem)?.problem]));
  return rows.flatMap(({ row, email }) => {
    const problem = problems.get(email);
    return problem === undefined ? [] : [{ row, email, error: `The data of the row ${problem}` }];
  });
}
