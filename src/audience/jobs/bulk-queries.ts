import { type Sql, statement } from '../../core/database/sql.ts';
import { type ContactFilter, filterSql, flipEvents, matchesNobody } from '../contacts/index.ts';

/** What a step did to the contacts it was given. */
export interface BulkStep {
  changed: number;
  /** Those that exist, changed or not. */
  existing: string[];
}

// Contacts are locked in the order of their addresses, as by everybody who writes many of them.
const change = statement(
  'bulk.change',
  `with wanted as materialized (
     select id, subscribed from contacts where project_id = $1 and id = any($2::uuid[]) order by email for update),
   changed as (
     update contacts c set subscription_before = c.subscribed, subscribed = $3, updated_at = now()
     from wanted where c.id = wanted.id and wanted.subscribed <> $3
     returning c.id, c.project_id, c.subscribed),
   flip as (
     ${flipEvents({ from: 'changed flipped' })})
   select (select count(*) from changed)::integer as changed, array(select id from wanted) as existing`,
);

const remove = statement(
  'bulk.delete',
  `with wanted as materialized (
     select id from contacts where project_id = $1 and id = any($2::uuid[]) order by email for update),
   gone as (delete from contacts c using wanted where c.id = wanted.id returning c.id)
   select (select count(*) from gone)::integer as changed, array(select id from wanted) as existing`,
);

/** Subscribes or unsubscribes those of the contacts that are not yet so, and records each change as an event. */
export async function subscribeSome(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
  subscribed: boolean,
): Promise<BulkStep> {
  return answered(await sql.row<BulkStep>(change, [projectId, ids, subscribed]));
}

/** Deletes contacts with everything of them. */
export async function deleteSome(sql: Sql, projectId: string, ids: readonly string[]): Promise<BulkStep> {
  return answered(await sql.row<BulkStep>(remove, [projectId, ids]));
}

function answered(step: BulkStep | null): BulkStep {
  if (step === null) throw new Error('Postgres did not answer');
  return step;
}

/**
 * The next `limit` contacts that a filter leaves, in the order of their ids. Contacts that were created after the job
 * are not meant by it.
 */
export async function matchingContacts(
  sql: Sql,
  job: { id: string; projectId: string },
  filter: ContactFilter,
  excludeIds: readonly string[],
  after: string,
  limit: number,
): Promise<string[]> {
  if (matchesNobody(filter)) return [];
  const { where, values } = filterSql(job.projectId, filter);
  values.push(job.id, excludeIds, after, limit);
  const [jobId, excluded, from, most] = [4, 3, 2, 1].map((fromEnd) => `$${values.length + 1 - fromEnd}`);
  const rows = await sql.rows<{ id: string }>(
    `select id from contacts where ${where.join(' and ')}
       and created_at <= (select created_at from jobs where jobs.id = ${jobId})
       and not (id = any(${excluded}::uuid[])) and id > ${from}::uuid
     order by id limit ${most}`,
    values,
  );
  return rows.map(({ id }) => id);
}
