import { contactName } from '@fernpost/email-document/contact-name';
import { type FilterQuery, raw as fragment } from '@mikro-orm/core';
import { anySeq, signals } from '../../../temporal/commands.ts';
import { getContact } from '../../contacts/service.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import { activeStatuses, type RunStatus } from '../../lib/enums.ts';
import { RecentResults } from '../../lib/keyed-turns.ts';
import { likeText } from '../../lib/text.ts';
import { isoText } from '../../store/columns.ts';
import { outboxChannel } from '../../store/outbox/queries.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { Automation, AutomationArrival, AutomationRun } from '../entity.ts';
import { countingRuns, executionBody, isActive, isOpenStep, type RunRow, runColumns, stepRunColumns } from '../rows.ts';
import type { ContactExecutions, ListedExecution, StepExecutionBody } from './schema.ts';

/** How many automations are remembered. */
const mostKept = 500;
/** A count is as old as this many times what it took, so that polling never costs more than a twentieth of a connection. */
const restFactor = 20;

/**
 * Recent path counts. One entry of the index is counted for each step that anybody ever took, so that a
 * small automation is counted for every request, and one that millions went through every few seconds or minutes.
 */
export class PathCountCache {
  readonly #counts: RecentResults<readonly PathCount[]>;

  /** `now` answers milliseconds that only grow. */
  constructor(now: () => number) {
    this.#counts = new RecentResults({ entries: mostKept, now });
  }

  /** The counts of an automation: those of before, or what `count` answers. Requests that come meanwhile share one count. */
  get(automationId: string, count: () => Promise<readonly PathCount[]>): Promise<readonly PathCount[]> {
    return this.#counts.get(automationId, count, (_, took) => (took < 20 ? 0 : restFactor * took));
  }
}

const mostRuns = 100;

/** The latest executions of a contact, of any workflow. @throws 404 for the contact */
export async function executionsOfContact(
  db: Database,
  projectId: string,
  contactId: string,
): Promise<ContactExecutions> {
  await getContact(db, projectId, contactId);
  const newest = { ...newestFirst, limit: mostRuns };
  const rows = await listed(db, await db.em.find(AutomationRun, { projectId, contactId }, newest));
  const ids = [...new Set(rows.map(({ workflowId }) => workflowId))];
  const automations = await db.em.find(Automation, { projectId, id: ids }, { fields: ['name'] });
  const nameOf = new Map(automations.map(({ id, name }) => [id, name]));
  return {
    data: rows.map((row) => ({
      ...executionBody(row),
      currentStep: row.currentStep,
      workflow: { id: row.workflowId, name: nameOf.get(row.workflowId) ?? '' },
    })),
  };
}

/** A run with what lists show beside it; the step is null where it is no longer part of the automation. */
export type ListedRun = RunRow & Omit<ListedExecution, keyof RunRow>;

const newestFirst = { fields: ['id'], orderBy: { startedAt: 'desc', id: 'desc' }, disableIdentityMap: true } as const;

/** What lists show of runs that were found by their conditions, newest first. */
async function listed(db: Database, runs: readonly { id: string }[]): Promise<ListedRun[]> {
  // Of the data only fields that may have a name are read.
  const rows = await db.rows<ListedRun & { names: Record<string, unknown> | null }>(sql`
    select ${runColumns}, jsonb_build_object('id', c.id, 'email', c.email) as contact,
      (select jsonb_object_agg(d.key, d.value) from jsonb_each(c.data) d where d.key ~* 'name') as names,
      case when s.id is not null then jsonb_build_object('id', s.id, 'name', s.name, 'type', s.type) end as "currentStep",
      (select ${raw(isoText('x.started_at'))} from automation_step_runs x
       where x.run_id = r.id and x.step_id = r.current_step_id order by x.seq desc limit 1) as "currentStepSince"
    from automation_runs r join ${contactsAndTrash} c on c.id = r.contact_id
      left join automation_steps s on s.id = r.current_step_id
    where r.id = any(${runs.map(({ id }) => id)}::uuid[]) order by r.started_at desc, r.id desc`);
  return rows.map(({ names, contact, ...row }) => ({
    ...row,
    contact: { ...contact, name: contactName(names ?? {}) },
  }));
}

/** Which runs of an automation a list has. */
export interface RunFilter {
  status: RunStatus | null;
  contactId: string | null;
  /** Only active runs that stand at this step. */
  stepId: string | null;
  /** Only runs that are found by this text: see `foundBy`. */
  search: { text: string; projectId: string } | null;
}

// No index has the names.
const mostNames = 10_000;
const mostWords = 10;
// A text that more addresses have is found among the newest runs alone: whoever has it would be looked for in the index of runs, one by one.
const mostAddresses = 1_000;

/**
 * SQL of whether a run of an automation is found by a text: the newest by each word in the address and the name of their contact, and all by the
 * whole text in the address, where that has a part of three letters or digits, which the index of addresses is made of.
 */
function foundBy({ text, projectId }: NonNullable<RunFilter['search']>, automationId: string) {
  const pattern = (part: string) => `%${likeText(part.toLowerCase())}%`;
  const words = text.split(/\s+/).filter(Boolean).slice(0, mostWords).map(pattern);
  const isIndexed = /[a-z0-9]{3}/i.test(text) && words.length === 1;
  return fragment(
    `contact_id in (
      select id from (select id, count(*) over () as found from (
        select id from contacts where ${isIndexed} and project_id = ? and email like ? order by id limit ${mostAddresses + 1}) having_it) counted
      where found <= ${mostAddresses}
      union all
      select c.id from (select contact_id from automation_runs where automation_id = ? order by started_at desc, id desc limit ${mostNames}) newest
        join ${contactsAndTrash.text} c on c.id = newest.contact_id
        cross join lateral (select lower(concat_ws(' ', c.email,
          (select string_agg(d.value, ' ') from jsonb_each_text(c.data) d where d.key ~* 'name'))) as text) named
      where ${words.map(() => 'named.text like ?').join(' and ')})`,
    [projectId, pattern(text), automationId, ...words],
  );
}

function filtered(automationId: string, { status, contactId, stepId, search }: RunFilter): FilterQuery<AutomationRun> {
  const active = [...activeStatuses.all];
  return {
    automationId,
    // Whether it is active says which of the two indexes of states has them.
    ...(status !== null && {
      status: { $eq: status, ...(activeStatuses.has(status) ? { $in: active } : { $nin: active }) },
    }),
    ...(contactId !== null && { contactId }),
    ...(stepId !== null && { currentStepId: stepId, $and: [{ status: active }] }),
    ...(search !== null && { [foundBy(search, automationId)]: [] }),
  };
}

/** A page of runs, newest first. Only the rows of the page are read beyond their index, however deep it lies. */
export async function pageOfRuns(
  db: Database,
  automationId: string,
  filter: RunFilter,
  { pageSize, offset }: { pageSize: number; offset: number },
): Promise<ListedRun[]> {
  const page = { ...newestFirst, limit: pageSize, offset };
  return listed(db, await db.em.find(AutomationRun, filtered(automationId, filter), page));
}

/** How many runs the filter leaves. */
export function countRuns(db: Database, automationId: string, filter: RunFilter): Promise<number> {
  return db.em.count(AutomationRun, filtered(automationId, filter));
}

/** One run of the automation, or null. */
export async function findRun(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<ListedRun | null> {
  const found = await db.em.find(AutomationRun, { projectId, automationId, id }, newestFirst);
  return (await listed(db, found))[0] ?? null;
}

/** A step of a run, with what it waits for, and whether the run could continue. */
export type StepRunRow = StepExecutionBody & { eventName: string | null; outcome: string | null; isDue: boolean };

/** The steps of a run in their order. */
export function stepRunsOf(db: Database, runId: string): Promise<StepRunRow[]> {
  return db.rows<StepRunRow>(sql`
    select ${stepRunColumns}, x.event_name as "eventName", x.outcome, coalesce(r.due_at <= clock_timestamp(), false) as "isDue"
    from automation_step_runs x join automation_runs r on r.id = x.run_id left join automation_steps s on s.id = x.step_id
    where x.run_id = ${runId} order by x.seq`);
}

/**
 * Ends active runs, in the caller's transaction: all of an automation, or one. No step of them starts after the commit. Their
 * executions are cancelled through the outbox, but for one that was cancelled before its run. Answers how many ended.
 */
export async function cancelRuns(
  tx: Database,
  which: { automationId: string } | { runId: string; isExecutionCancelled: boolean },
  reason: string,
): Promise<number> {
  // Rows are locked in the order of their ids, runs before their steps, as by everybody who changes many of them. The lock is
  // a statement of its own: the next one then sees the steps that a transaction it waited for has made.
  const isOne = 'runId' in which;
  const runs = await tx.rows<{ id: string }>(sql`
    select r.id from automation_runs r
    where r.${raw(isOne ? 'id' : 'automation_id')} = ${isOne ? which.runId : which.automationId} and r.${isActive}
    order by r.id for update`);
  if (runs.length === 0) return 0;
  const ids = runs.map(({ id }) => id);
  const row = await tx.row<{ cancelled: number }>(sql`
    with open as materialized (
      select x.id from automation_step_runs x
      where x.run_id = any(${ids}::uuid[]) and x.${isOpenStep}
      order by x.id for update),
    skipped as (
      update automation_step_runs x set status = 'SKIPPED', completed_at = clock_timestamp(), updated_at = now()
      from open where x.id = open.id),
    gone as (
      update automation_runs r set status = 'CANCELLED', exit_reason = ${reason}, completed_at = clock_timestamp(), updated_at = now(),
        due_at = null, next_version_id = null
      where r.id = any(${ids}::uuid[]) and r.${isActive}
      returning r.project_id, r.automation_id, r.contact_id, r.entry, r.completed_at),
    counted as (${countingRuns('gone', 'ended')}),
    execution as (
      select uuidv7() as row_id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as id from gone),
    asked as (
      insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select row_id, 'cancel:' || id || ':' || row_id, 'cancel', id, jsonb_build_object('type', 'cancel', 'id', id)
      from execution where ${!(isOne && which.isExecutionCancelled)}::boolean)
    select (select count(*)::int from gone) as cancelled, pg_notify(${outboxChannel}, '')`);
  return row?.cancelled ?? 0;
}

/**
 * Wakes the active runs whose wait is over or about to be: the signals become due evenly over the minutes. A signal to a run that may not
 * go on yet does nothing. Answers how many there are.
 */
export function wakeHeldRuns(tx: Database, automationId: string, spreadMinutes: number): Promise<number> {
  return tx.count(sql`
    with held as (
      select 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution, uuidv7() as id,
        (row_number() over (order by r.id) - 1) / count(*) over ()::float8 as place
      from automation_runs r
      where r.automation_id = ${automationId} and r.${isActive} and (r.due_at <= clock_timestamp() + interval '1 minute'
        or r.id in (select x.run_id from automation_step_runs x where x.status = 'WAITING' and x.resume_event_id is not null))),
    notified as (select pg_notify(${outboxChannel}, ''))
    insert into outbox (id, dedupe_key, kind, workflow_id, payload, next_attempt_at)
    select id, 'signal:' || execution || ':' || id, 'signal', execution, jsonb_build_object(
        'type', 'signal', 'id', execution, 'signal', ${signals.resume}::text, 'input', jsonb_build_object('seq', ${anySeq}::integer)),
      clock_timestamp() + place * ${spreadMinutes}::float8 * interval '1 minute'
    from held where (select count(*) from notified) = 1`);
}

/** How many who reached a step left it by a branch; with the branch null, how many did not leave it by any. */
interface PathCount {
  stepId: string;
  branch: string | null;
  count: number;
  /** How many of them are still at the step. */
  open: number;
  /** How many waits of the step ended in a zone that stood in for the contact's, which was invalid; 0 beside a branch. */
  invalidZones: number;
}

/**
 * Counts what became of the contacts who reached each step, in the last `days` days or ever. It counts index entries, one for each step
 * that any run took in that time, and adds the whole days of runs that retention has removed. A step that failed and was retried counts once:
 * rows are only read where some failed.
 */
export function countPaths(db: Database, automationId: string, days: number | null): Promise<PathCount[]> {
  return db.rows<PathCount>(sql`
    select s.id as "stepId", x.branch, sum(x.runs)::int as count, sum(x.open)::int as open, sum(x.invalid)::int as "invalidZones"
    from (select coalesce(now() - ${days}::integer * interval '1 day', '-infinity') as start) since cross join automation_steps s cross join lateral (
      select x.branch, count(*) - case when count(*) filter (where x.status = 'FAILED') = 0 then 0 else (
          select count(*) from automation_step_runs f
          where f.step_id = s.id and f.started_at >= since.start and f.status = 'FAILED' and f.branch is not distinct from x.branch
            and exists (select from automation_step_runs again where again.run_id = f.run_id and again.step_id = f.step_id and again.seq > f.seq))
        end as runs, count(*) filter (where x.branch is null and x.${isOpenStep}) as open, 0 as invalid
      from automation_step_runs x where x.step_id = s.id and x.started_at >= since.start group by x.branch
      union all
      select nullif(k.branch, ''), k.runs, 0, 0 from automation_path_sums k
      where k.automation_id = s.automation_id and k.step_id = s.id and k.day >= (since.start at time zone 'UTC')::date
      union all
      select null, 0, 0, count(*) from automation_step_runs x
      where x.step_id = s.id and x.started_at >= since.start and x.output ? 'invalidZone' having count(*) > 0) x
    where s.automation_id = ${automationId} group by s.id, x.branch order by s.id, x.branch`);
}

/** How many active runs stand at which step in which status. An index answers it. */
export function contactsByStep(
  db: Database,
  automationId: string,
): Promise<{ stepId: string | null; status: RunStatus; count: number }[]> {
  return db.rows(sql`
    select current_step_id as "stepId", status, count(*)::int as count from automation_runs
    where automation_id = ${automationId} and ${isActive} group by current_step_id, status`);
}

/** How many enrollments are pending. */
export function pendingEnrollments(db: Database, automationId: string): Promise<number> {
  return db.em.count(AutomationArrival, { automationId });
}
