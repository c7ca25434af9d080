import { type Sql, statement } from '../../core/database/sql.ts';
import { firstIdAt } from '../../core/lib/ids.ts';

/** A mail to report, with the instant at which the provider took it. */
export interface ReportedMail {
  id: string;
  at: string;
  /** 2 with attachments, else 1 (contract page 3, 6.7). */
  credits: number;
}

const begin = statement(
  'usage_reports.begin',
  'insert into usage_reports (project_id, reported_through) values ($1, $2) on conflict do nothing',
);

/** Begins to report the mail of a project from now on. */
export async function beginReports(sql: Sql, projectId: string): Promise<void> {
  await sql.count(begin, [projectId, firstIdAt(new Date())]);
}

/** A project whose mail is paid for. */
export interface ReportedProject {
  projectId: string;
  customer: string;
  through: string;
}

const next = statement(
  'usage_reports.projects',
  `select r.project_id as "projectId", p.customer, r.reported_through as through from usage_reports r
   join projects p on p.id = r.project_id
   where p.customer is not null and p.deleted_at is null and r.project_id > $1 order by r.project_id limit $2`,
);

/** Projects whose mail is reported, after one in the order of their ids. */
export function reportedProjects(sql: Sql, after: string, limit: number): Promise<ReportedProject[]> {
  return sql.rows<ReportedProject>(next, [after, limit]);
}

// Rows carry the time of the process that made them and appear when their transaction ends: the walk keeps behind both.
const horizon = statement(
  'usage_reports.horizon',
  `select greatest(now() - interval '1 hour', least(now() - interval '2 minutes', min(xact_start) - interval '1 minute'))::text as at
   from pg_stat_activity
   where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
);

/** The instant before which no further mail appears in the ledger. */
export async function reportHorizon(sql: Sql): Promise<Date> {
  const row = await sql.row<{ at: string | null }>(horizon);
  return row?.at ? new Date(row.at) : new Date(Date.now() - 120_000);
}

const counts = `e.sent_at is not null or e.status = 'RECEIVED'`;
const waits = `e.sent_at is null and e.status in ('PENDING', 'SENDING')`;
const mail = `e.id, coalesce(e.sent_at, e.created_at)::text as at,
  case when jsonb_typeof(e.attachments) = 'array' and jsonb_array_length(e.attachments) > 0 then 2 else 1 end as credits`;

const page = statement(
  'usage_reports.page',
  `select ${mail}, ${counts} as counts, ${waits} as waits from emails e
   where e.project_id = $1 and e.id > $2 and e.id < $3 order by e.id limit $4`,
);

/** The next mail of a project in the order of its ids. `waits`: it has no verdict yet. */
export function mailToReport(
  sql: Sql,
  { projectId, through }: ReportedProject,
  until: Date,
  limit: number,
): Promise<(ReportedMail & { counts: boolean; waits: boolean })[]> {
  return sql.rows(page, [projectId, through, firstIdAt(until), limit]);
}

const move = statement(
  'usage_reports.move',
  `with moved as (
     update usage_reports set reported_through = $3, updated_at = now()
     where project_id = $1 and reported_through = $2 returning project_id)
   insert into usage_reports_waiting (project_id, email_id)
   select m.project_id, w.id from moved m, unnest($4::uuid[]) as w(id) on conflict do nothing`,
);

/** Notes how far a project's mail is reported, and which of it still waits for its verdict. */
export async function reportedThrough(
  sql: Sql,
  { projectId, through }: ReportedProject,
  to: string,
  waiting: readonly string[],
): Promise<void> {
  await sql.count(move, [projectId, through, to, waiting]);
}

const settled = statement(
  'usage_reports.settled',
  `select w.email_id as id, coalesce(e.sent_at, e.created_at, now())::text as at,
     case when jsonb_typeof(e.attachments) = 'array' and jsonb_array_length(e.attachments) > 0 then 2 else 1 end as credits,
     coalesce(${counts}, false) as counts
   from usage_reports_waiting w left join emails e on e.id = w.email_id
   where w.project_id = $1 and (e.id is null or not (${waits})) order by w.email_id limit $2`,
);

/** Mail that waited for its verdict and has it now; deleted mail counts as nothing. */
export function settledSince(
  sql: Sql,
  projectId: string,
  limit: number,
): Promise<(ReportedMail & { counts: boolean })[]> {
  return sql.rows(settled, [projectId, limit]);
}

const drop = statement(
  'usage_reports.drop_waiting',
  'delete from usage_reports_waiting where project_id = $1 and email_id = any ($2::uuid[])',
);

/** Forgets mail that waited. */
export async function dropWaiting(sql: Sql, projectId: string, ids: readonly string[]): Promise<void> {
  await sql.count(drop, [projectId, ids]);
}
