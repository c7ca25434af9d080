import { anySeq, type Json, type StartCommand, signals, workflowId } from '../../../temporal/commands.ts';
import { isUuid } from '../../lib/ids.ts';
import { enqueueAll, type TakenRow } from '../../store/outbox/queries.ts';
import {
  isStalled,
  type RecoverableKind,
  type RecoveryDeps,
  type StalledWork,
  stalledPage,
} from '../../store/outbox/recovery.ts';
import { UnderWay } from '../../store/outbox/wake.ts';
import { type Database, raw, sql, unprepared } from '../../store/sql.ts';
import { type LaunchFacts, launchRun } from '../enrollment/starting.ts';
import { isActive, type RunRow } from '../rows.ts';

/**
 * Most wakes and starts of a process that Temporal has taken and no run has acted upon. What waits in Temporal costs it more
 * than what waits in the outbox: tasks are written down, those for a worker that knows the execution are given up after
 * seconds and made once more. With a tenth of a second from signal to step these let several hundred a second through.
 */
const mostWakes = 50;
const mostStarts = 200;

/**
 * The wakes of a process, until their run has acted: that moves the run or its step, whatever the wake is about. Of others, such as a cancellation, whose run
 * has ended, nothing shows when they were taken: they count for a second. A webhook under way is not cut off, so nobody waits for those.
 */
export function wakesUnderWay(db: Database, most = mostWakes): UnderWay<TakenRow> {
  return new UnderWay({
    most,
    async still(rows) {
      const wakes = rows.flatMap(({ id, payload }) => {
        const place = placeOf(payload.id);
        return place === null ? [] : { ...place, id, seq: payload.type === 'signal' ? seqOf(payload.input) : null };
      });
      const left = await db.rows<{ id: string }>(sql`
        select o.id from jsonb_to_recordset(${JSON.stringify(wakes)}::jsonb) as w (
            id uuid, "automationId" uuid, "contactId" uuid, entry integer, seq integer)
          join outbox o on o.id = w.id
          cross join lateral (select coalesce(o.done_at > clock_timestamp() - interval '1 second', true) as is_new) made
          left join automation_runs r on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry
            and r.${isActive} and w.seq in (r.seq, ${anySeq}::integer)
          left join automation_step_runs s on s.run_id = r.id and s.seq = r.seq - 1
          left join automations a on a.id = r.automation_id
        where case when o.kind = 'cancel' then made.is_new else
          r.id is not null and greatest(r.updated_at, s.updated_at) <= o.created_at and s.step_type is distinct from 'WEBHOOK'
          and (made.is_new or a.paused_at is null
            and (s.resume_event_id is not null or r.exit_event_id is not null or s.step_type = 'WAIT_UNTIL')) end`);
      const ids = new Set(left.map(({ id }) => id));
      return rows.filter(({ id }) => ids.has(id));
    },
  });
}

/** The runs that a process has made, until their execution has begun. Counted by the runs' ids. */
export function startsUnderWay(db: Database, most = mostStarts): UnderWay<string> {
  return new UnderWay({
    most,
    async still(ids) {
      const rows = await db.rows<{ id: string }>(sql`
        select r.id from automation_runs r join automations a on a.id = r.automation_id
        where r.id = any (${ids}::uuid[]) and r.seq = 0 and r.status = 'RUNNING' and r.due_at <= clock_timestamp() and a.paused_at is null`);
      return rows.map(({ id }) => id);
    },
  });
}

function seqOf(input: Json | undefined): number | null {
  return typeof input === 'object' && input !== null && 'seq' in input && typeof input.seq === 'number'
    ? input.seq
    : null;
}

interface ActiveRun extends LaunchFacts, Pick<RunRow, 'id' | 'projectId' | 'workflowId' | 'contactId' | 'entry'> {
  version: number;
}

const facts =
  raw(`r.id, r.project_id as "projectId", r.automation_id as "workflowId", r.contact_id as "contactId", r.entry,
  a.name, p.name as project, v.version`);
const itsFacts = raw(`join automations a on a.id = r.automation_id join projects p on p.id = r.project_id
  join automation_versions v on v.id = r.version_id`);

// Neither paused, nor with contacts who are woken one after the other since it was resumed.
const isFree = raw('a.paused_at is null and coalesce(a.spread_until <= clock_timestamp(), true)');

// An execution whose start or wake stands in the outbox waits for that, for minutes where it is one of a crowd. Planned each time, because a plan from when
// nothing stood there would read all of the outbox for each run.
const isUnasked = raw(`(
  select 1 from outbox o
  where o.done_at is null and o.workflow_id = 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry limit 1) is null`);

const stalledAfterMs = 5 * 60_000;

/** Runs whose time has passed, but for those that a pause holds (docs/contract/campaigns-and-workflows.md#4-10). */
export const recoverableRuns: RecoverableKind = {
  name: 'automations',
  afterMs: stalledAfterMs,
  stalled: async (db, query) =>
    (
      await db.rows<StalledRun>(
        unprepared(sql`
        select ${facts}, coalesce(r.updated_at < ${query.changedAt}::timestamptz, false) as "isOlder",
          r.due_at::text as at, r.id as place
        from automation_runs r ${itsFacts}
        where r.${isActive} and ${isFree} and ${isUnasked} and r.due_at < clock_timestamp()
          and (${isStalled(raw('r.due_at'), { ...query, changedAt: null })} or r.updated_at < ${query.changedAt}::timestamptz)
          and ${stalledPage(raw('r.due_at'), raw('r.id'), query)}`),
      )
    ).map(stalledWork),
};

/** Runs whose awaited event has come, or one that may be it. Their row is due only when the wait would have timed out, so time does not find them. */
export const recoverableWaits: RecoverableKind = {
  name: 'waits of automations',
  afterMs: stalledAfterMs,
  stalled: async (db, query) =>
    (
      await db.rows<StalledRun>(
        unprepared(sql`
        select ${facts}, coalesce(r.updated_at < ${query.changedAt}::timestamptz, false) as "isOlder",
          x.updated_at::text as at, x.id as place
        from automation_step_runs x join automation_runs r on r.id = x.run_id ${itsFacts}
        where r.${isActive} and ${isFree} and ${isUnasked} and x.status = 'WAITING' and x.resume_event_id is not null and ${isStalled(raw('x.updated_at'), query)}
          and ${stalledPage(raw('x.updated_at'), raw('x.id'), query)}`),
      )
    ).map(stalledWork),
};

type StalledRun = ActiveRun & { at: string; place: string; isOlder: boolean };

function stalledWork(run: StalledRun): StalledWork {
  const wake = { signal: signals.resume, input: { seq: anySeq } };
  return { at: run.at, id: run.place, start: launchRun(run, run), wake, isOlder: run.isOlder };
}

/** The dependencies of the check for orphans. */
interface OrphanCheckDeps extends Pick<RecoveryDeps, 'db' | 'dispatchSoon'> {
  /** Open executions of automations that started before an ISO instant, newest first. */
  openExecutions(before: string, limit: number): Promise<{ workflowIds: string[]; oldest: string | null }>;
  /** How old an execution is before it is asked about, in milliseconds. */
  afterMs?: number;
}

const executionsPerPass = 1_000;
const hourMs = 3_600_000;

/**
 * Builds the check for open executions whose run has ended or is gone: they are cancelled. What one pass does not reach, the
 * next ones do. Answers how many there were.
 */
export function createOrphanCheck(deps: OrphanCheckDeps): () => Promise<number> {
  const { db, afterMs = stalledAfterMs } = deps;
  let before: string | null = null;

  return async () => {
    before ??= new Date(Date.now() - afterMs).toISOString();
    const { workflowIds, oldest } = await deps.openExecutions(before, executionsPerPass);
    before = oldest;
    const places = workflowIds.flatMap((id) => placeOf(id) ?? []);
    const runs = await activeRunsAt(db, places);
    const active = new Set(runs.map((run) => `${run.workflowId}/${run.contactId}/${run.entry}`));
    const orphans = places.filter((one) => !active.has(`${one.automationId}/${one.contactId}/${one.entry}`));
    if (orphans.length === 0) return 0;
    const dedupeKey = `orphan-${Math.floor(Date.now() / hourMs)}`;
    const commands = orphans.map((one) => {
      const id = workflowId.automation(one.automationId, one.contactId, one.entry);
      return { type: 'cancel', id, dedupeKey } as const;
    });
    deps.dispatchSoon(...(await db.transaction((tx) => enqueueAll(tx, commands))));
    return orphans.length;
  };
}

/**
 * Decides about an execution that a signal did not find: the start that goes on with `automation/<id>/<contact>/<entry>`,
 * or null when that run has ended or is gone. Takes its part in `src/main/setup/outside.ts`.
 */
export async function reviveAutomation(db: Database, executionId: string): Promise<StartCommand | null> {
  const place = placeOf(executionId);
  if (place === null) return null;
  const [run] = await activeRunsAt(db, [place]);
  return run === undefined ? null : launchRun(run, run);
}

interface Place {
  automationId: string;
  contactId: string;
  entry: number;
}

function activeRunsAt(db: Database, places: readonly Place[]): Promise<ActiveRun[]> {
  return db.rows<ActiveRun>(sql`
    select ${facts}
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as w ("automationId" uuid, "contactId" uuid, entry integer)
      join automation_runs r
        on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry ${itsFacts}
    where r.${isActive}`);
}

/** Reads the ID of an execution of an automation; null for any other ID. */
function placeOf(executionId: string): Place | null {
  const [kind, automationId = '', contactId = '', entry = ''] = executionId.split('/');
  if (kind !== 'automation' || !isUuid(automationId) || !isUuid(contactId) || !/^\d{1,9}$/.test(entry)) return null;
  return { automationId, contactId, entry: Number(entry) };
}
