import { isoInstant } from '../db/columns.ts';
import { type Sql, statement } from '../db/sql.ts';
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

const delays = statement(
  'automations.upcoming_delays',
  `select x.id, x.scheduled_for::text as at, x.step_id as "stepId", coalesce(r.next_version_id, r.version_id) as "versionId",
     c.id as "contactId", c.email as "contactEmail", a.name as "workflowName"
   from automation_step_runs x join automation_runs r on r.id = x.run_id and r.seq = x.seq + 1
     join automations a on a.id = r.automation_id join contacts c on c.id = x.contact_id
   where x.project_id = $1 and x.step_type = 'DELAY' and x.status = 'SCHEDULED' and r.status in ('RUNNING', 'WAITING')
     and (x.scheduled_for, x.id) > ($2::timestamptz, $3::uuid) and x.scheduled_for <= $4::timestamptz
   order by x.scheduled_for, x.id limit $5`,
);
const subjects = statement(
  'automations.subjects',
  'select id, subject from templates where project_id = $1 and id = any ($2::uuid[])',
);

const atOnce = 500;
// Delays that no mail follows are passed over; an automation that has nothing else must not be read to its end.
const mostLookedAt = 20_000;

/**
 * The mails that runs of a project will send as the next thing when a delay is over, up to an instant, the earliest first.
 * What follows a delay is what the graph says that the run is pinned to, or is about to move to.
 */
export async function upcomingMails(sql: Sql, projectId: string, until: Date, limit: number): Promise<UpcomingMail[]> {
  const found: (Omit<UpcomingMail, 'subject'> & { templateId: string | null })[] = [];
  let place = ['-infinity', '00000000-0000-0000-0000-000000000000'];
  for (let seen = 0; found.length < limit && seen < mostLookedAt; ) {
    const page = await sql.rows<Delay>(delays, [projectId, ...place, until.toISOString(), atOnce]);
    for (const delay of page) {
      const version = await pinnedVersion(sql, delay.versionId);
      const next = version && nextStep(version.graph, delay.stepId);
      if (next?.type !== 'SEND_EMAIL' || found.length === limit) continue;
      const { id, at, contactId, contactEmail, workflowName } = delay;
      const stepName = next.name;
      const { templateId } = next;
      found.push({ stepRunId: id, at: isoInstant(at), contactId, contactEmail, workflowName, stepName, templateId });
    }
    seen += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) break;
    place = [last.at, last.id];
  }
  const ids = [...new Set(found.flatMap(({ templateId }) => templateId ?? []))];
  const rows = ids.length === 0 ? [] : await sql.rows<{ id: string; subject: string }>(subjects, [projectId, ids]);
  const subjectOf = new Map(rows.map(({ id, subject }) => [id, subject]));
  return found.map(({ templateId, ...mail }) => ({ ...mail, subject: subjectOf.get(templateId ?? '') ?? null }));
}
