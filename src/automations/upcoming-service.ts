import { isoInstant } from '../core/database/columns.ts';
import { type Sql, statement } from '../core/database/sql.ts';
import { nextStep } from './graph.ts';
import { pinnedVersion } from './versions.ts';

/** A mail that a run will send when its delay is over. */
export interface UpcomingMail {
  /** The execution of the delay. */
  stepRunId: string;
  at: string;
  contactId: string;
  contactEmail: string;
  workflowName: string;
  stepName: string;
  subject: string | null;
}

interface Delay {
  id: string;
  at: string;
  stepId: string;
  versionId: string;
  contactId: string;
  contactEmail: string;
  workflowName: string;
}

/** What a page of delays says of itself, with one of the delays that were found on it. */
type Looked = { looked: number; lastAt: string; lastId: string } & (Delay | { id: null });

// Steps that a mail follows, in whatever version.
const stepsBeforeMail = statement(
  'automations.steps_before_mail',
  `select distinct way ->> 'fromStepId' as id
   from automations a join automation_versions v on v.automation_id = a.id,
     jsonb_array_elements(v.graph -> 'transitions') way, jsonb_array_elements(v.graph -> 'steps') step
   where a.project_id = $1 and step ->> 'id' = way ->> 'toStepId' and step ->> 'type' = 'SEND_EMAIL'`,
);
// Some thousand delays are looked at along their index, and those joined that are at such a step. The last one looked at says
// where to go on, also when none was found.
const delays = statement(
  'automations.upcoming_delays',
  `with looked as materialized (
     select id, run_id, seq, step_id, contact_id, scheduled_for from automation_step_runs
     where project_id = $1 and step_type = 'DELAY' and status = 'SCHEDULED'
       and (scheduled_for, id) > ($2::timestamptz, $3::uuid) and scheduled_for <= $4::timestamptz
     order by scheduled_for, id limit $5)
   select (select count(*) from looked)::int as looked, l.scheduled_for::text as "lastAt", l.id as "lastId", found.*
   from (select scheduled_for, id from looked order by scheduled_for desc, id desc limit 1) l
     left join lateral (
       select x.id, x.scheduled_for::text as at, x.step_id as "stepId", coalesce(r.next_version_id, r.version_id) as "versionId",
         c.id as "contactId", c.email as "contactEmail", a.name as "workflowName"
       from looked x join automation_runs r on r.id = x.run_id and r.seq = x.seq + 1
         join automations a on a.id = r.automation_id join contacts c on c.id = x.contact_id
       where x.step_id = any ($6::uuid[]) and r.status in ('RUNNING', 'WAITING')
       order by x.scheduled_for, x.id) found on true`,
);
const subjects = statement(
  'automations.subjects',
  'select id, subject from templates where project_id = $1 and id = any ($2::uuid[])',
);

const atOnce = 2_000;
// Delays that no mail follows are passed over; an automation that has nothing else must not be read to its end.
const mostLookedAt = 20_000;

/**
 * The mails that runs of a project will send as the next thing when a delay is over, up to an instant, the earliest first.
 * What follows a delay is what the graph says that the run is pinned to, or is about to move to.
 */
export async function upcomingMails(sql: Sql, projectId: string, until: Date, limit: number): Promise<UpcomingMail[]> {
  const found: (Omit<UpcomingMail, 'subject'> & { templateId: string | null })[] = [];
  const steps = (await sql.rows<{ id: string }>(stepsBeforeMail, [projectId])).map(({ id }) => id);
  if (steps.length === 0) return [];
  let place = ['-infinity', '00000000-0000-0000-0000-000000000000'];
  for (let seen = 0; found.length < limit && seen < mostLookedAt; ) {
    const page = await sql.rows<Looked>(delays, [projectId, ...place, until.toISOString(), atOnce, steps]);
    for (const delay of page) {
      if (delay.id === null || found.length === limit) continue;
      const version = await pinnedVersion(sql, delay.versionId);
      const next = version && nextStep(version.graph, delay.stepId);
      if (next?.type !== 'SEND_EMAIL') continue;
      const { id, at, contactId, contactEmail, workflowName } = delay;
      const stepName = next.name;
      const { templateId } = next;
      found.push({ stepRunId: id, at: isoInstant(at), contactId, contactEmail, workflowName, stepName, templateId });
    }
    const [first] = page;
    if (first === undefined || first.looked < atOnce) break;
    seen += first.looked;
    place = [first.lastAt, first.lastId];
  }
  const ids = [...new Set(found.flatMap(({ templateId }) => templateId ?? []))];
  const rows = ids.length === 0 ? [] : await sql.rows<{ id: string; subject: string }>(subjects, [projectId, ids]);
  const subjectOf = new Map(rows.map(({ id, subject }) => [id, subject]));
  return found.map(({ templateId, ...mail }) => ({ ...mail, subject: subjectOf.get(templateId ?? '') ?? null }));
}
