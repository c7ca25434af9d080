import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { firstIdAt, leastId } from '../lib/ids.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import type { Payments } from './payments/payments.ts';

/** A mail to report, with the instant at which the provider took it. */
interface ReportedMail {
  id: string;
  at: string;
  /** 2 with attachments, else 1 (docs/contract/platform.md#6-7). */
  credits: number;
  /** Whether it is charged for. */
  counts: boolean;
}

/** Begins to report the mail of a project from now on. */
export async function beginReports(db: Database, projectId: string): Promise<void> {
  await db.count(sql`
    insert into usage_reports (project_id, reported_through) values (${projectId}, ${firstIdAt(new Date())})
      on conflict do nothing`);
}

/** A project whose mail is paid for. */
interface ReportedProject {
  projectId: string;
  customer: string;
  through: string;
}

/** Projects whose mail is reported, after one in the order of their ids. */
function reportedProjects(db: Database, after: string, limit: number): Promise<ReportedProject[]> {
  return db.rows(sql`
    select r.project_id as "projectId", p.customer, r.reported_through as through from usage_reports r
      join projects p on p.id = r.project_id
      where p.customer is not null and p.deleted_at is null and r.project_id > ${after}
      order by r.project_id limit ${limit}`);
}

/** The instant before which no further mail appears in the ledger. */
async function reportHorizon(db: Database): Promise<Date> {
  // Rows carry the time of the process that made them and appear when their transaction ends: the walk keeps behind both.
  const row = await db.row<{ at: string | null }>(sql`
    select greatest(now() - interval '1 hour',
        least(now() - interval '2 minutes', min(xact_start) - interval '1 minute'))::text as at
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
  return row?.at ? new Date(row.at) : new Date(Date.now() - 120_000);
}

const waits = raw(`e.sent_at is null and e.status in ('PENDING', 'SENDING')`);
const reported = raw(`coalesce(e.sent_at, e.created_at, now())::text as at,
  case when jsonb_typeof(e.attachments) = 'array' and jsonb_array_length(e.attachments) > 0 then 2 else 1 end as credits,
  coalesce(e.sent_at is not null or e.status = 'RECEIVED', false) as counts`);

/** The next mail of a project in the order of its ids. `waits`: its outcome is not known yet. */
function mailToReport(
  db: Database,
  { projectId, through }: ReportedProject,
  until: Date,
  limit: number,
): Promise<(ReportedMail & { waits: boolean })[]> {
  return db.rows(sql`
    select e.id, ${reported}, ${waits} as waits from emails e
      where e.project_id = ${projectId} and e.id > ${through} and e.id < ${firstIdAt(until)} order by e.id limit ${limit}`);
}

/** Notes how far a project's mail is reported, and which of it still waits for its outcome. */
async function reportedThrough(
  db: Database,
  { projectId, through }: ReportedProject,
  to: string,
  waiting: readonly string[],
): Promise<void> {
  await db.count(sql`
    with moved as (
      update usage_reports set reported_through = ${to}, updated_at = now()
        where project_id = ${projectId} and reported_through = ${through} returning project_id)
    insert into usage_reports_waiting (project_id, email_id)
      select m.project_id, w.id from moved m, unnest(${waiting}::uuid[]) as w(id) on conflict do nothing`);
}

/** Mail that waited for its outcome and has it now; deleted mail counts as nothing. */
function settledSince(db: Database, projectId: string, limit: number): Promise<ReportedMail[]> {
  return db.rows(sql`
    select w.email_id as id, ${reported} from usage_reports_waiting w left join emails e on e.id = w.email_id
      where w.project_id = ${projectId} and (e.id is null or not (${waits})) order by w.email_id limit ${limit}`);
}

/** Forgets mail that waited. */
async function dropWaiting(db: Database, projectId: string, ids: readonly string[]): Promise<void> {
  await db.count(
    sql`delete from usage_reports_waiting where project_id = ${projectId} and email_id = any(${ids}::uuid[])`,
  );
}

export interface ReportDeps {
  db: Database;
  /** Null where billing is not enabled. */
  payments: Payments | null;
  log: Pick<Logger, 'warn'>;
}

const projectsAtOnce = 100;
const mailsAtOnce = 500;
const callsInFlight = 16;

/**
 * Reports the mail that the provider took to the payment processor (docs/contract/platform.md#6-7), project by project. What is
 * noted as reported was reported; what a crash leaves open is reported again under the same identifier, which counts once.
 * Stops when `mayGoOn` says so. Answers how many mails. Rejects after all projects when one of them failed.
 */
export async function reportUsage(deps: ReportDeps, mayGoOn: () => boolean): Promise<number> {
  const { db, payments, log } = deps;
  if (payments === null) return 0;
  const until = await reportHorizon(db);
  let reported = 0;
  let failures = 0;
  for (let after = leastId; mayGoOn(); ) {
    const projects = await reportedProjects(db, after, projectsAtOnce);
    for (const project of projects) {
      after = project.projectId;
      try {
        reported += await reportProject(db, payments, project, until, mayGoOn);
      } catch (error) {
        failures += 1;
        log.warn({ err: error, projectId: project.projectId }, 'usage could not be reported; it is tried again');
      }
    }
    if (projects.length < projectsAtOnce) break;
  }
  if (failures > 0) throw new Error(`The usage of ${failures} projects could not be reported`);
  return reported;
}

async function reportProject(
  db: Database,
  payments: Payments,
  project: ReportedProject,
  until: Date,
  mayGoOn: () => boolean,
): Promise<number> {
  let reported = 0;
  for (let place = project; mayGoOn(); ) {
    const mails = await mailToReport(db, place, until, mailsAtOnce);
    const last = mails.at(-1);
    if (last === undefined) break;
    reported += await report(payments, project.customer, mails);
    const waiting = mails.filter(({ waits }) => waits).map(({ id }) => id);
    await reportedThrough(db, place, last.id, waiting);
    place = { ...place, through: last.id };
  }
  while (mayGoOn()) {
    const settled = await settledSince(db, project.projectId, mailsAtOnce);
    if (settled.length === 0) break;
    reported += await report(payments, project.customer, settled);
    const ids = settled.map(({ id }) => id);
    await dropWaiting(db, project.projectId, ids);
  }
  return reported;
}

async function report(payments: Payments, customer: string, mails: readonly ReportedMail[]): Promise<number> {
  const charged = mails.filter(({ counts }) => counts);
  await pLimit(callsInFlight).map(charged, ({ id, credits, at }) =>
    payments.report({ identifier: `email_${id}`, customer, credits, at: new Date(at) }),
  );
  return charged.length;
}
