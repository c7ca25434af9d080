import { triggerOf } from '@fernpost/workflow-graph';
import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { newId } from '../../lib/ids.ts';
import { type Database, sql } from '../../store/sql.ts';
import { goalOf } from '../graph/exits.ts';
import { countingRuns, isActive, type RunRow, runColumns } from '../rows.ts';
import type { ShownWait } from '../runtime/directive.ts';
import { firstWait } from '../runtime/steps.ts';
import { type PinnedVersion, versionsForEntry } from '../versions.ts';

/** A request to enroll a contact in an automation. */
export interface StartRequest {
  contactId: string;
  /** At most 64 KiB of JSON. */
  context: Record<string, unknown> | null;
  /** The event that starts it, or a fixed id of one time of a schedule; the same one never starts twice. Null by hand. */
  sourceEventId: string | null;
  /** The key whose limits hold for its mail, beside those of the automation; none when absent. */
  limitedBy?: string | null;
  /** The ISO instant at which its run begins; at once when absent. */
  dueAt?: string | undefined;
}

/**
 * The outcome of a request: `reentry` and `active` are the rules of docs/contract/campaigns-and-workflows.md#3-2, `refused` is
 * the guard against loops between automations (3.6), `repeated` an event that has started its run already, `gone` a contact, or
 * an automation, that is no longer there or is disabled.
 */
export type StartOutcome = 'started' | 'reentry' | 'active' | 'refused' | 'repeated' | 'gone';

/** The outcomes of the requests, in their order, and the starts of the executions of the runs. */
export interface Started {
  outcomes: { outcome: StartOutcome; run: RunRow | null }[];
  starts: StartCommand[];
}

/**
 * Lets contacts into an automation, in the caller's transaction: for each request that the rules allow a run pinned to the
 * version that `versionsForEntry` chooses, and its number of entry. Starts of one contact wait for one another by the lock of its entry. The caller
 * puts `starts` into the outbox in the same transaction. For event and manual starts alike; `startsPerHour` is the setting
 * WORKFLOW_STARTS_PER_CONTACT_PER_HOUR (0: no limit).
 */
export async function startRuns(
  tx: Database,
  projectId: string,
  automationId: string,
  requests: readonly StartRequest[],
  startsPerHour: number,
): Promise<Started> {
  const gone = requests.map(() => ({ outcome: 'gone' as const, run: null }));
  if (requests.length === 0) return { outcomes: [], starts: [] };
  const automation = await tx.row<StartedAutomation>(sql`
    select a.name, a.enabled, a.allow_reentry as "allowReentry", a.limited_by as "limitedBy", p.name as project
    from automations a join projects p on p.id = a.project_id
    where a.project_id = ${projectId} and a.id = ${automationId}`);
  if (!automation?.enabled) return { outcomes: gone, starts: [] };
  const asked = [...new Set(requests.map(({ contactId }) => contactId))];
  const contacts = await lockContacts(tx, projectId, asked);
  if (contacts.length === 0) return { outcomes: gone, starts: [] };
  const versionOf = await versionsForEntry(tx, automationId);
  if (versionOf === null) return { outcomes: gone, starts: [] };
  await lockEntries(tx, automationId, contacts);
  const rows = await insertRuns(tx, automationId, requests, {
    projectId,
    versionOf,
    allowReentry: automation.allowReentry,
    limitedBy: automation.limitedBy,
    startsPerHour,
  });
  const outcomes: Started['outcomes'] = gone;
  for (const { ordinal, outcome, run } of rows) outcomes[ordinal] = { outcome, run };
  const starts = outcomes.flatMap(({ run }, ordinal) => {
    if (run === null) return [];
    const { version, graph } = versionOf(run.contactId);
    const shown = requests[ordinal]?.dueAt === undefined ? firstWait(graph, run.startedAt) : null;
    return launchRun(run, { ...automation, version, shown });
  });
  return { outcomes, starts };
}

/** Locks contacts and returns those that are there. A deletion locks them first: it waits for us, or we do not find them. */
export async function lockContacts(tx: Database, projectId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from contacts where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share`);
  return rows.map(({ id }) => id);
}

/** Locks the entries of contacts, so that none of them enters meanwhile. */
export async function lockEntries(tx: Database, automationId: string, contacts: readonly string[]): Promise<void> {
  await tx.count(sql`
    insert into automation_entries (automation_id, contact_id)
    select ${automationId}::uuid, contact_id from unnest(${contacts}::uuid[]) as contact_id order by contact_id
    on conflict (automation_id, contact_id) do nothing`);
  await tx.rows(sql`
    select from automation_entries where automation_id = ${automationId} and contact_id = any(${contacts}::uuid[])
    order by contact_id for update`);
}

interface StartFacts {
  projectId: string;
  /** The version that runs of a contact are pinned to. */
  versionOf: (contactId: string) => PinnedVersion;
  allowReentry: boolean;
  limitedBy: string | null;
  startsPerHour: number;
}

/**
 * SQL of why a contact may not enter an automation, or null: of a row `e` with `automation_id`, `contact_id`, `last_entry`, `allow_reentry` and
 * `per_hour`. Whoever is inside has entered. `startRuns` decides by it, and a preview counts by it.
 */
export const entryRefusal = sql`case
  when e.last_entry > 0 and not e.allow_reentry then 'reentry'
  when e.last_entry > 0 and exists (
    select from automation_runs r where r.automation_id = e.automation_id and r.contact_id = e.contact_id and r.${isActive}) then 'active'
  when e.per_hour > 0 and exists (
    select from automation_runs r where r.automation_id = e.automation_id and r.contact_id = e.contact_id
      and r.entry = e.last_entry - e.per_hour + 1 and r.started_at > now() - interval '1 hour') then 'refused' end`;

// Of several requests for one contact the first counts; it makes the contact active, or has been there, for the others.
function insertRuns(
  tx: Database,
  automationId: string,
  requests: readonly StartRequest[],
  { projectId, versionOf, allowReentry, limitedBy, startsPerHour }: StartFacts,
): Promise<{ ordinal: number; outcome: StartOutcome; run: RunRow | null }[]> {
  return tx.rows(sql`
    with fixed as (
      select ${automationId}::uuid as automation_id, ${allowReentry}::boolean as allow_reentry,
        ${startsPerHour}::integer as per_hour, ${limitedBy}::uuid as enabled_by),
    wish as (
      select w.ordinal, w.id, w."contactId" as contact_id, w.context, w."sourceEventId" as event_id, w."dueAt" as due_at, n.last_entry, fixed.*,
        w."versionId" as version_id, w."triggerId" as trigger_id, w."goalDays" as goal_days, w."goalAsks" as goal_asks,
        nullif(array_remove(array[fixed.enabled_by, w."limitedBy"], null), '{}') as limited_by
      from fixed cross join jsonb_to_recordset(${JSON.stringify(requests.map(wishOf(versionOf)))}::jsonb) as w (
          ordinal integer, id uuid, "contactId" uuid, context jsonb, "sourceEventId" uuid, "limitedBy" uuid,
          "dueAt" timestamptz, "versionId" uuid, "triggerId" uuid, "goalDays" integer, "goalAsks" boolean)
        join automation_entries n on n.automation_id = fixed.automation_id and n.contact_id = w."contactId"),
    judged as (
      select e.*, case
        when e.event_id is not null and exists (
          select from automation_runs r where r.automation_id = e.automation_id and r.source_event_id = e.event_id) then 'repeated'
        else coalesce(${entryRefusal}, 'started') end as outcome
      from wish e),
    first as (
      select distinct on (contact_id) * from judged where outcome = 'started' order by contact_id, ordinal),
    ruled as (
      select judged.ordinal, judged.automation_id, judged.contact_id, judged.event_id,
        case when judged.outcome <> 'started' or judged.id = first.id then judged.outcome
          when judged.allow_reentry then 'active' else 'reentry' end as outcome
      from judged left join first using (contact_id)),
    refused as (
      select distinct on (contact_id) contact_id, outcome, event_id, count(*) over (partition by contact_id) as times
      from ruled where outcome in ('reentry', 'active', 'refused') order by contact_id, ordinal desc),
    entered as (
      update automation_entries n set last_entry = n.last_entry + turn.starts, refusals = n.refusals + turn.refusals,
        refused_at = case when turn.refusals > 0 then now() else n.refused_at end,
        refused_reason = coalesce(turn.outcome, n.refused_reason),
        refused_event_id = case when turn.refusals > 0 then turn.event_id else n.refused_event_id end
      from (
        select contact_id, (first.id is not null)::int as starts, coalesce(refused.times, 0)::int as refusals,
          refused.outcome, refused.event_id
        from first full join refused using (contact_id)) turn
      where n.automation_id = ${automationId}::uuid and n.contact_id = turn.contact_id
      returning n.contact_id, n.last_entry),
    made as (
      insert into automation_runs as r (
        id, project_id, automation_id, version_id, contact_id, entry, current_step_id, context, source_event_id, due_at,
        limited_by)
      select first.id, ${projectId}::uuid, first.automation_id, first.version_id, first.contact_id, entered.last_entry,
        first.trigger_id, first.context, first.event_id, coalesce(first.due_at, now()), first.limited_by
      from first join entered using (contact_id)
      returning r.*),
    counted as (${countingRuns('made', 'started')}),
    aimed as (
      -- What happened before the run was there, since the event that starts it, is tested at once.
      insert into automation_goals (run_id, version_id, contact_id, entered_at, until, check_at)
      select made.id, made.version_id, made.contact_id, made.started_at, ends.at, case when first.goal_asks then ends.at
        when made.source_event_id is null then ends.at + interval '1 hour' else made.started_at end
      from made join first using (id)
        cross join lateral (select made.started_at + first.goal_days * interval '24 hours' as at) ends
      where ends.at is not null),
    shown as (select ${runColumns} from made r),
    noted as (
      insert into automation_refusals as f (automation_id, refused)
      select automation_id, count(*) from ruled where outcome = 'refused' group by automation_id
      on conflict (automation_id) do update set refused = f.refused + excluded.refused, last_refused_at = now())
    select ruled.ordinal, ruled.outcome, to_jsonb(shown) as run
    from ruled join judged using (ordinal) left join shown on shown.id = judged.id`);
}

/** A request with the ID of its run, the version of its contact, where that begins and how long its goal counts. */
function wishOf(versionOf: StartFacts['versionOf']) {
  return (request: StartRequest, ordinal: number) => {
    const { id: versionId, graph } = versionOf(request.contactId);
    const goal = goalOf(graph.steps);
    const aim = goal && { goalDays: goal.withinDays, goalAsks: Boolean(goal.on.condition) };
    return { ...request, ordinal, id: newId(), versionId, triggerId: triggerOf(graph)?.id ?? null, ...aim };
  };
}

interface StartedAutomation extends LaunchFacts {
  enabled: boolean;
  allowReentry: boolean;
  limitedBy: string | null;
}

/** The names that the start of an execution shows to operators. */
export interface LaunchFacts {
  /** Name of the automation. */
  name: string;
  /** Name of the project. */
  project: string;
}

/**
 * The start of a run's execution. `restart` is set where an earlier execution ended before its row did; `shown` is the wait that the run
 * comes to first. Its search attributes say so from the start, for each later change of them costs Temporal as much as the start itself.
 */
export function launchRun(
  run: Pick<RunRow, 'id' | 'projectId' | 'workflowId' | 'contactId' | 'entry'>,
  automation: LaunchFacts & { version: number; shown?: ShownWait | null },
  restart?: string,
): StartCommand {
  const { id, projectId, workflowId: automationId, contactId, entry } = run;
  const { shown = null } = automation;
  return {
    type: 'start',
    workflow: 'automation',
    id: workflowId.automation(automationId, contactId, entry),
    input: { executionId: id, ...(shown !== null && { shown }) },
    searchAttributes: {
      ProjectId: projectId,
      AutomationId: automationId,
      ContactId: contactId,
      ExecutionId: id,
      Kind: 'automation',
      State: shown === null ? 'RUNNING' : 'WAITING',
      ...(shown !== null && { WaitingFor: shown.waitingFor }),
      ...(shown?.dueAt && { DueAt: shown.dueAt }),
    },
    memo: { automation: automation.name, project: automation.project, entry, version: automation.version },
    staticSummary: `Automation "${automation.name}"`,
    staticDetails: `Entry ${entry} of one contact, pinned to version ${automation.version} of the graph. The rows in Postgres say where it is; this execution holds what comes next.`,
    ...(restart === undefined ? {} : { restart }),
  };
}
