import {
  AutomationGoal,
  AutomationRollout,
  AutomationRun,
  AutomationSwitch,
  AutomationVersion,
  type triggerTypes,
} from '../../automations/entity.ts';
import { endOfWait } from '../../automations/rows.ts';
import { rolloutPlace } from '../../automations/versions.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { RunStatus } from '../../lib/enums.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

const iso = (column: string) => raw(isoText(column));

/** A workflow with what it knows of one contact. */
export interface WorkflowFacts {
  id: string;
  name: string;
  enabled: boolean;
  triggerType: (typeof triggerTypes)[number];
  triggerConfig: { audienceCondition?: unknown; segmentId?: string | null; where?: unknown; imports?: unknown } | null;
  eventName: string | null;
  allowReentry: boolean;
  createdAt: string;
  /** ISO instant; null while it is not paused. */
  pausedAt: string | null;
  entries: number;
  refusedAt: string | null;
  refusedReason: string | null;
  refusedEventId: string | null;
  /** Whether an import created the contact, as far as its history says; false where the trigger does not ask. */
  wasImported: boolean;
  /** Whether the contact waits to be enrolled. */
  isPending: boolean;
  /** The last event of that name that the contact had up to the instant. */
  event: { id: string; at: string; data: JsonObjectValue | null } | null;
}

/** A workflow of the project with what it knew of a contact at an instant, or null. */
export function findWorkflow(
  db: Database,
  projectId: string,
  id: string,
  contactId: string,
  at: string,
): Promise<WorkflowFacts | null> {
  return db.row(sql`
    select a.id, a.name, a.enabled, a.trigger_type as "triggerType", a.trigger_config as "triggerConfig",
      a.event_name as "eventName", a.allow_reentry as "allowReentry", ${iso('a.created_at')} as "createdAt",
      ${iso('a.paused_at')} as "pausedAt", coalesce(n.last_entry, 0) as entries,
      ${iso('n.refused_at')} as "refusedAt", n.refused_reason as "refusedReason", n.refused_event_id as "refusedEventId",
      a.trigger_type = 'CONTACT_CREATED' and (exists (
          select from contact_changes h where h.project_id = a.project_id and h.contact_id = ${contactId} and h.sign = 1 and h.cause like 'import-%')
        or exists (select from contact_history h where h.project_id = a.project_id and h.contact_id = ${contactId} and h.before is null
          and h.moved is null and h.cause ->> 'type' = 'import')) as "wasImported",
      exists (select from automation_arrivals v where v.contact_id = ${contactId} and v.automation_id = a.id) as "isPending",
      (select jsonb_build_object('id', e.id, 'at', ${iso('e.created_at')}, 'data', e.data) from events e
        where e.contact_id = ${contactId} and e.project_id = a.project_id and e.name = a.event_name
          and e.created_at <= ${at}::timestamptz
        order by e.created_at desc, e.id desc limit 1) as event
    from automations a left join automation_entries n on n.automation_id = a.id and n.contact_id = ${contactId}
    where a.project_id = ${projectId} and a.id = ${id}`);
}

/** Names of the latest events of a contact that are not the service's own. */
export async function recentEventNames(db: Database, projectId: string, contactId: string): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select distinct name from (
      select name from events where contact_id = ${contactId} and project_id = ${projectId}
      order by created_at desc limit 1000) latest
    where name not like 'email.%' and name not like 'contact.%' order by name`);
  return rows.map(({ name }) => name);
}

/**
 * Whether a workflow was enabled at the instant of an event that started nothing, and since when; null where that was not recorded.
 * Instants have milliseconds: one that was enabled within that of the event was enabled after it, or something would have started. What was
 * switched later only was the opposite before.
 */
export async function wasEnabled(
  db: Database,
  automationId: string,
  at: string,
): Promise<{ enabled: boolean; at: string | null } | null> {
  const { em } = db.session();
  const last = await em.findOne(
    AutomationSwitch,
    { automationId, $or: [{ at: { $lt: new Date(at) } }, { at: new Date(at), enabled: false }] },
    { orderBy: { at: 'desc', id: 'desc' } },
  );
  if (last !== null) return { enabled: last.enabled, at: last.at.toISOString() };
  const first = await em.findOne(AutomationSwitch, { automationId }, { orderBy: { at: 'asc', id: 'asc' } });
  return first && { enabled: !first.enabled, at: null };
}

/** An execution of a workflow for a contact. */
export interface RunFacts {
  id: string;
  status: RunStatus;
  exitReason: string | null;
  startedAt: string;
  completedAt: string | null;
  /** The event that started it, or the ID of its date; null where it was started by hand. */
  sourceEventId: string | null;
  version: number;
  /** The rollout that chose the version: the place of the contact among 100, which is below the share for the new version. */
  rollout: { startedAt: string; isNew: boolean; place: number; percent: number } | null;
}

/**
 * The execution that an event started, or without one the newest that began up to an instant; with `isActive` the newest that was under
 * way then.
 */
export async function runFacts(
  db: Database,
  automationId: string,
  contactId: string,
  { eventId, at, isActive = false }: { eventId: string | null; at: string; isActive?: boolean },
): Promise<RunFacts | null> {
  const instant = new Date(at);
  const began = eventId === null ? { startedAt: { $lte: instant } } : { sourceEventId: eventId };
  const active = isActive ? { $or: [{ completedAt: null }, { completedAt: { $gt: instant } }] } : {};
  const { em } = db.session();
  const run = await em.findOne(
    AutomationRun,
    { automationId, contactId, ...began, ...active },
    { orderBy: { startedAt: 'desc', id: 'desc' } },
  );
  if (run === null) return null;
  const { version } = await em.findOneOrFail(AutomationVersion, run.versionId, { fields: ['version'] });
  const { id, status, exitReason = null, startedAt, completedAt, sourceEventId = null } = run;
  const rollout = await em.findOne(AutomationRollout, {
    automationId,
    createdAt: { $lte: startedAt },
    $and: [
      { $or: [{ endedAt: null }, { endedAt: { $gte: startedAt } }] },
      { $or: [{ versionId: run.versionId }, { beforeVersionId: run.versionId }] },
    ],
  });
  return {
    ...{ id, status, exitReason, version, sourceEventId },
    rollout: rollout && {
      startedAt: rollout.createdAt.toISOString(),
      isNew: rollout.versionId === run.versionId,
      place: rolloutPlace(rollout.id, contactId) / 100,
      percent: rollout.share / 100,
    },
    ...{ startedAt: startedAt.toISOString(), completedAt: completedAt?.toISOString() ?? null },
  };
}

/** What became of the goal of an execution; null where its workflow had none when the contact entered. */
export async function goalFacts(
  db: Database,
  runId: string,
): Promise<{ metAt: string | null; hadMet: boolean; until: string } | null> {
  const goal = await db.session().em.findOne(AutomationGoal, { runId }, { disableIdentityMap: true });
  return goal && { metAt: goal.metAt?.toISOString() ?? null, hadMet: goal.hadMet, until: goal.until.toISOString() };
}

/** A step that an execution took. */
export interface StepTaken {
  id: string;
  name: string;
  type: string;
  status: string;
  branch: string | null;
  input: Record<string, unknown> | null;
  output: Record<string, unknown> | null;
  error: string | null;
  eventName: string | null;
  until: string | null;
  turnMs: number;
  startedAt: string;
  completedAt: string | null;
}

/** The steps of an execution in their order, at most 500. */
export function findSteps(db: Database, runId: string): Promise<StepTaken[]> {
  return db.rows(sql`
    select x.id, x.step_name as name, x.step_type as type, x.status, x.branch, x.input, x.output, x.error,
      x.event_name as "eventName", ${iso(`coalesce(${endOfWait}, x.execute_after)`)} as until, x.turn_ms as "turnMs",
      ${iso('x.started_at')} as "startedAt", ${iso('x.completed_at')} as "completedAt"
    from automation_step_runs x where x.run_id = ${runId} order by x.seq limit 500`);
}
