import type { StartCommand } from '../../../temporal/commands.ts';
import { type Database, type Sql, statement } from '../../db/sql.ts';
import { isUuid } from '../../lib/ids.ts';
import { enqueueAll, type OutboxTicket } from '../../outbox/enqueue.ts';
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
  dueAt: string;
}

const activeRuns = `select r.id, r.project_id as "projectId", r.automation_id as "automationId", r.contact_id as "contactId",
    r.entry, a.name, p.name as project, v.version, r.due_at::text as "dueAt"
  from automation_runs r join automations a on a.id = r.automation_id join projects p on p.id = r.project_id
    join automation_versions v on v.id = r.version_id
  where r.status in ('RUNNING', 'WAITING')`;

const overdue = statement(
  'automation_runs.overdue',
  `${activeRuns} and r.due_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
     and (r.due_at, r.id) > ($2::timestamptz, $3::uuid)
   order by r.due_at, r.id limit $4`,
);
const oneActive = statement(
  'automation_runs.active',
  `${activeRuns} and r.automation_id = $1 and r.contact_id = $2 and r.entry = $3`,
);
const activeAmong = statement(
  'automation_runs.active_among',
  `select r.automation_id || '/' || r.contact_id || '/' || r.entry as place
   from jsonb_to_recordset($1::jsonb) as w ("automationId" uuid, "contactId" uuid, entry integer)
     join automation_runs r on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry
   where r.status in ('RUNNING', 'WAITING')`,
);

/** What the check needs. */
export interface AutomationCheckDeps {
  db: Database;
  /** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
  isOpen(workflowId: string): Promise<boolean>;
  /** Open executions of automations that started before an ISO instant, newest first. */
  openExecutions(before: string, limit: number): Promise<{ workflowIds: string[]; oldest: string | null }>;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
  /** How long after its time a run counts as stalled, and an execution as old enough to be asked about, in milliseconds. */
  afterMs?: number;
}

const defaultAfterMs = 5 * 60_000;
const runsPerPage = 500;
const asksAtOnce = 16;
// A pass has this long, so that the other checks of the minute are not held up; the next one goes on from there.
const longestMs = 20_000;
const executionsPerPass = 1_000;

/**
 * Builds the check of contract page 2, 4.10: runs whose time has passed although no execution works on them are started
 * again from their rows, and executions whose run has ended or is gone are cancelled. Answers how many it put right. What
 * one pass does not reach, the next ones do.
 */
export function createAutomationCheck(deps: AutomationCheckDeps): () => Promise<number> {
  const { db, afterMs = defaultAfterMs } = deps;
  const beginning = { dueAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
  let place = beginning;
  let before: string | null = null;

  return async () => (await restartStalled()) + (await cancelOrphans());

  async function restartStalled(): Promise<number> {
    const deadline = Date.now() + longestMs;
    let restarted = 0;
    while (Date.now() < deadline) {
      const runs: ActiveRun[] = await db.rows<ActiveRun>(overdue, [afterMs, place.dueAt, place.id, runsPerPage]);
      restarted += await restart(await withoutExecution(runs));
      const last = runs.at(-1);
      place = last !== undefined && runs.length === runsPerPage ? { dueAt: last.dueAt, id: last.id } : beginning;
      if (place === beginning) break;
    }
    return restarted;
  }

  async function withoutExecution(runs: readonly ActiveRun[]): Promise<ActiveRun[]> {
    const lost: ActiveRun[] = [];
    for (let from = 0; from < runs.length; from += asksAtOnce) {
      const some = runs.slice(from, from + asksAtOnce);
      const open = await Promise.all(some.map((run) => deps.isOpen(launchAgain(run).id)));
      lost.push(...some.filter((_, n) => !open[n]));
    }
    return lost;
  }

  async function restart(runs: readonly ActiveRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const starts = runs.map((run) => launchAgain(run, `stalled-${Date.now()}`));
    deps.dispatchSoon(...(await db.transaction((sql) => enqueueAll(sql, starts))));
    return runs.length;
  }

  async function cancelOrphans(): Promise<number> {
    before ??= new Date(Date.now() - afterMs).toISOString();
    const { workflowIds, oldest } = await deps.openExecutions(before, executionsPerPass);
    before = oldest;
    const places = workflowIds.flatMap((id) => placeOf(id) ?? []);
    const rows = await db.rows<{ place: string }>(activeAmong, [JSON.stringify(places)]);
    const active = new Set(rows.map((row) => row.place));
    const orphans = places.filter((one) => !active.has(`${one.automationId}/${one.contactId}/${one.entry}`));
    if (orphans.length === 0) return 0;
    const commands = orphans.map((one) => {
      const id = `automation/${one.automationId}/${one.contactId}/${one.entry}`;
      return { type: 'cancel', id, dedupeKey: 'orphan' } as const;
    });
    deps.dispatchSoon(...(await db.transaction((sql) => enqueueAll(sql, commands))));
    return orphans.length;
  }
}

/**
 * Decides about an execution that a signal did not find: the start that goes on with `automation/<id>/<contact>/<entry>`,
 * or null when that run has ended or is gone. Takes its part in `src/main/revivers.ts`.
 */
export async function reviveAutomation(sql: Sql, workflowId: string): Promise<StartCommand | null> {
  const place = placeOf(workflowId);
  if (place === null) return null;
  const run = await sql.row<ActiveRun>(oneActive, [place.automationId, place.contactId, place.entry]);
  return run === null ? null : launchAgain(run);
}

function launchAgain(run: ActiveRun, restart?: string): StartCommand {
  return launchRun(run, run, restart);
}

/** What the id of an execution of an automation says; null for any other id. */
export function placeOf(workflowId: string): { automationId: string; contactId: string; entry: number } | null {
  const [kind, automationId = '', contactId = '', entry = ''] = workflowId.split('/');
  if (kind !== 'automation' || !isUuid(automationId) || !isUuid(contactId) || !/^\d{1,9}$/.test(entry)) return null;
  return { automationId, contactId, entry: Number(entry) };
}
