import { type StartCommand, signals, workflowId } from '../../../temporal/commands.ts';
import { type Sql, type Statement, statement } from '../../core/database/sql.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { enqueueAll } from '../../core/outbox/enqueue.ts';
import {
  type RecoverableKind,
  type RecoveryDeps,
  type StalledQuery,
  type StalledWork,
  stalledBefore,
  stalledParams,
} from '../../core/outbox/recovery.ts';
import { launchRun } from '../starting.ts';

interface ActiveRun {
  id: string;
  projectId: string;
  automationId: string;
  contactId: string;
  entry: number;
  name: string;
  project: string;
  version: number;
}

const facts = `r.id, r.project_id as "projectId", r.automation_id as "automationId", r.contact_id as "contactId", r.entry,
  a.name, p.name as project, v.version`;
const itsFacts = `join automations a on a.id = r.automation_id join projects p on p.id = r.project_id
  join automation_versions v on v.id = r.version_id`;
const isActive = `r.status in ('RUNNING', 'WAITING')`;

const overdue = statement(
  'automation_runs.overdue',
  `select ${facts}, r.due_at::text as at, r.id as place, coalesce(r.updated_at < $2::timestamptz, false) as "isOlder" from automation_runs r ${itsFacts}
   where ${isActive} and r.due_at < clock_timestamp()
     and (r.due_at < clock_timestamp() - $1::float8 * interval '1 millisecond' or r.updated_at < $2::timestamptz)
     and (r.due_at, r.id) > ($3::timestamptz, $4::uuid)
   order by r.due_at, r.id limit $5`,
);
const resolved = statement(
  'automation_step_runs.resolved',
  `select ${facts}, x.updated_at::text as at, x.id as place, coalesce(r.updated_at < $2::timestamptz, false) as "isOlder"
   from automation_step_runs x join automation_runs r on r.id = x.run_id ${itsFacts}
   where ${isActive} and x.status = 'WAITING' and x.outcome is not null and x.updated_at < ${stalledBefore}
     and (x.updated_at, x.id) > ($3::timestamptz, $4::uuid)
   order by x.updated_at, x.id limit $5`,
);
const oneActive = statement(
  'automation_runs.active',
  `select ${facts} from automation_runs r ${itsFacts}
   where ${isActive} and r.automation_id = $1 and r.contact_id = $2 and r.entry = $3`,
);
const activeAmong = statement(
  'automation_runs.active_among',
  `select r.automation_id || '/' || r.contact_id || '/' || r.entry as place
   from jsonb_to_recordset($1::jsonb) as w ("automationId" uuid, "contactId" uuid, entry integer)
     join automation_runs r on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry
   where r.status in ('RUNNING', 'WAITING')`,
);

const stalledAfterMs = 5 * 60_000;
// Above the number of any step: it wakes an execution that is behind its row, and one that is ahead of it as well.
const anySeq = 2_147_483_647;

/** Runs whose time has passed (contract page 2, 4.10). */
export const recoverableRuns: RecoverableKind = {
  name: 'automations',
  afterMs: stalledAfterMs,
  stalled: (sql, query) => stalledRuns(sql, overdue, query),
};

/** Runs whose awaited event has come; no time tells of it, for their row is due when the wait would have timed out. */
export const recoverableWaits: RecoverableKind = {
  name: 'waits of automations',
  afterMs: stalledAfterMs,
  stalled: (sql, query) => stalledRuns(sql, resolved, query),
};

async function stalledRuns(sql: Sql, which: Statement, query: StalledQuery): Promise<StalledWork[]> {
  const runs = await sql.rows<ActiveRun & { at: string; place: string; isOlder: boolean }>(which, stalledParams(query));
  const wake = { signal: signals.resume, input: { seq: anySeq } };
  return runs.map((run) => ({ at: run.at, id: run.place, start: launchRun(run, run), wake, isOlder: run.isOlder }));
}

/** What the check for orphans needs. */
export interface OrphanCheckDeps extends Pick<RecoveryDeps, 'db' | 'dispatchSoon'> {
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
    const rows = await db.rows<{ place: string }>(activeAmong, [JSON.stringify(places)]);
    const active = new Set(rows.map((row) => row.place));
    const orphans = places.filter((one) => !active.has(`${one.automationId}/${one.contactId}/${one.entry}`));
    if (orphans.length === 0) return 0;
    const dedupeKey = `orphan-${Math.floor(Date.now() / hourMs)}`;
    const commands = orphans.map((one) => {
      const id = workflowId.automation(one.automationId, one.contactId, one.entry);
      return { type: 'cancel', id, dedupeKey } as const;
    });
    deps.dispatchSoon(...(await db.transaction((sql) => enqueueAll(sql, commands))));
    return orphans.length;
  };
}

/**
 * Decides about an execution that a signal did not find: the start that goes on with `automation/<id>/<contact>/<entry>`,
 * or null when that run has ended or is gone. Takes its part in `src/main/revivers.ts`.
 */
export async function reviveAutomation(sql: Sql, executionId: string): Promise<StartCommand | null> {
  const place = placeOf(executionId);
  if (place === null) return null;
  const run = await sql.row<ActiveRun>(oneActive, [place.automationId, place.contactId, place.entry]);
  return run === null ? null : launchRun(run, run);
}

/** What the id of an execution of an automation says; null for any other id. */
export function placeOf(executionId: string): { automationId: string; contactId: string; entry: number } | null {
  const [kind, automationId = '', contactId = '', entry = ''] = executionId.split('/');
  if (kind !== 'automation' || !isUuid(automationId) || !isUuid(contactId) || !/^\d{1,9}$/.test(entry)) return null;
  return { automationId, contactId, entry: Number(entry) };
}
