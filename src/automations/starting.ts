import { type StartCommand, workflowId } from '../../temporal/commands.ts';
import { type Sql, statement } from '../core/database/sql.ts';
import { newId } from '../core/lib/ids.ts';
import { enqueueAll, type OutboxTicket } from '../core/outbox/enqueue.ts';
import { triggerOf } from './graph.ts';
import { type RunRow, runColumns } from './rows.ts';
import { ensureVersion, pinnedVersion } from './versions.ts';

/** One wish to let a contact into an automation. */
export interface StartWish {
  contactId: string;
  /** At most 64 KiB of JSON. */
  context: Record<string, unknown> | null;
  /** The event that starts it, or a fixed id of one time of a schedule; the same one never starts twice. Null by hand. */
  sourceEventId: string | null;
}

/**
 * What became of a wish: `reentry` and `active` are the rules of contract page 2, 3.2, `refused` is the guard against
 * loops between automations (3.6), `repeated` an event that has started its run already, `gone` a contact, or an
 * automation, that is no longer there or is disabled.
 */
export type StartOutcome = 'started' | 'reentry' | 'active' | 'refused' | 'repeated' | 'gone';

/** What became of the wishes, in their order, and the executions to start after the commit. */
export interface Started {
  outcomes: { outcome: StartOutcome; run: RunRow | null }[];
  tickets: OutboxTicket[];
}

const findAutomation = statement(
  'automations.starting',
  `select a.id, a.name, a.enabled, a.allow_reentry as "allowReentry", a.project_id as "projectId", p.name as project
   from automations a join projects p on p.id = a.project_id where a.project_id = $1 and a.id = $2`,
);
// A deletion of contacts locks them first; with this lock it waits for us, or we do not find them.
const lockContacts = statement(
  'automations.lock_contacts',
  'select id from contacts where project_id = $1 and id = any($2::uuid[]) order by id for key share',
);
const openEntries = statement(
  'automations.open_entries',
  `insert into automation_entries (automation_id, contact_id)
   select $1, contact_id from unnest($2::uuid[]) as contact_id order by contact_id
   on conflict (automation_id, contact_id) do nothing`,
);
const lockEntries = statement(
  'automations.lock_entries',
  `select from automation_entries where automation_id = $1 and contact_id = any($2::uuid[]) order by contact_id
   for update`,
);

// Of several wishes for one contact the first counts; it makes the contact active, or has been there, for the others.
const insertRuns = statement(
  'automations.start_runs',
  `with wish as (
     select w.ordinal, w.id, w."contactId" as contact_id, w.context, w."sourceEventId" as event_id, n.last_entry
     from jsonb_to_recordset($1::jsonb) as w (
       ordinal integer, id uuid, "contactId" uuid, context jsonb, "sourceEventId" uuid)
     join automation_entries n on n.automation_id = $2 and n.contact_id = w."contactId"),
   judged as (
     select wish.*, case
       when event_id is not null and exists (
         select from automation_runs r where r.automation_id = $2 and r.source_event_id = wish.event_id) then 'repeated'
       when last_entry > 0 and not $5::boolean then 'reentry'
       when exists (
         select from automation_runs r where r.automation_id = $2 and r.contact_id = wish.contact_id
           and r.status in ('RUNNING', 'WAITING')) then 'active'
       when $6::integer > 0 and exists (
         select from automation_runs r where r.automation_id = $2 and r.contact_id = wish.contact_id
           and r.entry = wish.last_entry - $6::integer + 1 and r.started_at > now() - interval '1 hour') then 'refused'
       else 'started' end as outcome
     from wish),
   first as (
     select distinct on (contact_id) * from judged where outcome = 'started' order by contact_id, ordinal),
   entered as (
     update automation_entries n set last_entry = n.last_entry + 1 from first
     where n.automation_id = $2 and n.contact_id = first.contact_id
     returning n.contact_id, n.last_entry),
   made as (
     insert into automation_runs as r (
       id, project_id, automation_id, version_id, contact_id, entry, current_step_id, context, source_event_id, due_at)
     select first.id, $3, $2, $4, first.contact_id, entered.last_entry, $7, first.context, first.event_id, now()
     from first join entered using (contact_id)
     returning ${runColumns}),
   noted as (
     insert into automation_refusals as f (automation_id, refused)
     select $2, count(*) from judged where outcome = 'refused' having count(*) > 0
     on conflict (automation_id) do update set refused = f.refused + excluded.refused, last_refused_at = now())
   select judged.ordinal,
     case when judged.outcome <> 'started' or made.id is not null then judged.outcome
       when $5::boolean then 'active' else 'reentry' end as outcome,
     to_jsonb(made) as run
   from judged left join made on made.id = judged.id`,
);

/**
 * Lets contacts into an automation, in the caller's transaction: for each wish that the rules allow a run pinned to the
 * current version, its number of entry, and the start of its execution in the outbox. Starts of one contact wait for one
 * another by the lock of its entry. Give `tickets` to the outbox after the commit. For event and manual starts alike;
 * `startsPerHour` is the setting WORKFLOW_STARTS_PER_CONTACT_PER_HOUR (0: no limit).
 */
export async function startRuns(
  sql: Sql,
  projectId: string,
  automationId: string,
  wishes: readonly StartWish[],
  startsPerHour: number,
): Promise<Started> {
  const gone = wishes.map(() => ({ outcome: 'gone' as const, run: null }));
  if (wishes.length === 0) return { outcomes: [], tickets: [] };
  const automation = await sql.row<StartedAutomation>(findAutomation, [projectId, automationId]);
  if (!automation?.enabled) return { outcomes: gone, tickets: [] };
  const asked = [...new Set(wishes.map(({ contactId }) => contactId))];
  const contacts = (await sql.rows<{ id: string }>(lockContacts, [projectId, asked])).map(({ id }) => id);
  if (contacts.length === 0) return { outcomes: gone, tickets: [] };
  const versionId = await ensureVersion(sql, automationId);
  const version = versionId && (await pinnedVersion(sql, versionId));
  if (!version) return { outcomes: gone, tickets: [] };
  const trigger = triggerOf(version.graph);
  await sql.count(openEntries, [automationId, contacts]);
  await sql.rows(lockEntries, [automationId, contacts]);
  const rows = await sql.rows<{ ordinal: number; outcome: StartOutcome; run: RunRow | null }>(insertRuns, [
    JSON.stringify(wishes.map((wish, ordinal) => ({ ...wish, ordinal, id: newId() }))),
    automationId,
    projectId,
    version.id,
    automation.allowReentry,
    startsPerHour,
    trigger?.id ?? null,
  ]);
  const outcomes: Started['outcomes'] = gone;
  for (const { ordinal, outcome, run } of rows) outcomes[ordinal] = { outcome, run };
  const runs = outcomes.flatMap(({ run }) => run ?? []);
  const tickets = await enqueueAll(
    sql,
    runs.map((run) => launchRun(run, { ...automation, version: version.version })),
  );
  return { outcomes, tickets };
}

interface StartedAutomation extends LaunchFacts {
  id: string;
  enabled: boolean;
  allowReentry: boolean;
}

/** What the start of an execution shows to operators. */
export interface LaunchFacts {
  /** Name of the automation. */
  name: string;
  /** Name of the project. */
  project: string;
}

/** The start of a run's execution. `restart` is set where an earlier execution ended before its row did. */
export function launchRun(
  run: Pick<RunRow, 'id' | 'projectId' | 'automationId' | 'contactId' | 'entry'>,
  automation: LaunchFacts & { version: number },
  restart?: string,
): StartCommand {
  const { id, projectId, automationId, contactId, entry } = run;
  return {
    type: 'start',
    workflow: 'automation',
    id: workflowId.automation(automationId, contactId, entry),
    input: { executionId: id },
    searchAttributes: {
      ProjectId: projectId,
      AutomationId: automationId,
      ContactId: contactId,
      ExecutionId: id,
      Kind: 'automation',
      State: 'RUNNING',
    },
    memo: { automation: automation.name, project: automation.project, entry, version: automation.version },
    staticSummary: `Automation "${automation.name}"`,
    staticDetails: `Entry ${entry} of one contact, pinned to version ${automation.version} of the graph. The rows in Postgres say where it is; this execution holds what comes next.`,
    ...(restart === undefined ? {} : { restart }),
  };
}
