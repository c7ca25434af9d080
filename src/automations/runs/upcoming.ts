import { nextStep } from '@fernpost/workflow-graph';
import { invalidField } from '../../lib/errors.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { Template } from '../../templates/queries.ts';
import { AutomationDate } from '../entity.ts';
import { findAutomation, found, stepsOf } from '../queries.ts';
import { endOfWait, isActive } from '../rows.ts';
import { pinnedVersion } from '../versions.ts';
import { contactsByStep, countPaths, PathCountCache, pendingEnrollments } from './queries.ts';
import type { CountWorkflowPeople, WorkflowPeople } from './schema.ts';

/** Path counts by automation; see `PathCountCache`. */
const pathCounts = new PathCountCache(performance.now.bind(performance));

/**
 * How many contacts are at each step now, and what became of those who reached it in the last `days` days, or ever.
 * @throws 404; 422 for `days` that are no number of days
 */
export async function countInside(
  db: Database,
  projectId: string,
  automationId: string,
  query: CountWorkflowPeople,
): Promise<WorkflowPeople> {
  const days = daysOf(query);
  found(await findAutomation(db, projectId, automationId), automationId);
  const counts = await contactsByStep(db, automationId);
  const arriving = await pendingEnrollments(db, automationId);
  const live = await stepsOf(db, automationId);
  const taken = await pathCounts.get(`${automationId} ${days}`, () => countPaths(db, automationId, days));
  const ids = [...new Set([...live.map(({ id }) => id), ...counts.flatMap(({ stepId }) => stepId ?? [])])];
  return {
    active: counts.reduce((total, { count }) => total + count, 0),
    arriving,
    invalidDates: await db.em.count(AutomationDate, { automationId, isInvalid: true }),
    steps: ids.map((stepId) => {
      const step = live.find(({ id }) => id === stepId);
      const own = counts.filter((one) => one.stepId === stepId);
      const paths = taken.filter((path) => path.stepId === stepId);
      const stayed = paths.find(({ branch }) => branch === null);
      return {
        stepId,
        name: step?.name ?? null,
        type: step?.type ?? null,
        running: own.find(({ status }) => status === 'RUNNING')?.count ?? 0,
        waiting: own.find(({ status }) => status === 'WAITING')?.count ?? 0,
        reached: paths.reduce((total, { count }) => total + count, 0),
        dropped: (stayed?.count ?? 0) - (stayed?.open ?? 0),
        invalidZones: stayed?.invalidZones ?? 0,
        branches: paths.flatMap(({ branch, count }) => (branch === null ? [] : [{ branch, count }])),
      };
    }),
  };
}

const mostDays = 366;

function daysOf({ days }: CountWorkflowPeople): number | null {
  if (days === undefined || days === '') return null;
  const given = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  if (given < 1 || given > mostDays)
    throw invalidField('days', `must be a whole number from 1 to ${mostDays}`, 'invalid_string');
  return given;
}

/** A mail that a run will send when its delay, or its wait for a time, is over. */
interface UpcomingMail {
  /** The execution of the delay. */
  stepRunId: string;
  at: string;
  contactId: string;
  contactEmail: string;
  workflowName: string;
  stepName: string;
  subject: string | null;
}

interface Delay extends Omit<UpcomingMail, 'stepRunId' | 'stepName' | 'subject'> {
  id: string;
  stepId: string;
  versionId: string;
}

/** A row of a page of delays: the facts of the page, with one of the delays on it. */
type DelayOfPage = { looked: number; lastAt: string; lastId: string } & (Delay | { id: null });

const atOnce = 2_000;
// Delays that no mail follows are passed over; an automation that has nothing else must not be read to its end.
const mostRead = 20_000;

/**
 * The mails that runs of a project will send as the next thing when a delay is over, up to an instant, the earliest first.
 * The step after a delay is read from the graph that the run is pinned to, or is about to move to.
 */
export async function upcomingMails(
  db: Database,
  projectId: string,
  until: Date,
  limit: number,
): Promise<UpcomingMail[]> {
  const found: (Omit<UpcomingMail, 'subject'> & { templateId: string | null })[] = [];
  const steps = await stepsBeforeMail(db, projectId);
  if (steps.length === 0) return [];
  let after = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };
  for (let seen = 0; found.length < limit && seen < mostRead; ) {
    const page = await pageOfDelays(db, projectId, after, until, steps);
    for (const delay of page) {
      if (delay.id === null || found.length === limit) continue;
      const { id: stepRunId, at, contactId, contactEmail, workflowName } = delay;
      const version = await pinnedVersion(db, delay.versionId);
      const next = version && nextStep(version.graph, delay.stepId);
      if (next?.type !== 'SEND_EMAIL') continue;
      const { name: stepName, templateId } = next;
      found.push({ stepRunId, at, contactId, contactEmail, workflowName, stepName, templateId });
    }
    const [first] = page;
    if (first === undefined || first.looked < atOnce) break;
    seen += first.looked;
    after = { at: first.lastAt, id: first.lastId };
  }
  // Who waits for one instant continues one after the other, others meanwhile.
  found.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  const ids = [...new Set(found.flatMap(({ templateId }) => templateId ?? []))];
  const templates = await db.em.find(Template, { projectId, id: ids }, { fields: ['subject'] });
  const subjectOf = new Map(templates.map(({ id, subject }) => [id, subject]));
  return found.map(({ templateId, ...mail }) => ({ ...mail, subject: subjectOf.get(templateId ?? '') ?? null }));
}

// Steps that a mail follows, in whatever version.
async function stepsBeforeMail(db: Database, projectId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select distinct way ->> 'fromStepId' as id
    from automations a join automation_versions v on v.automation_id = a.id,
      jsonb_array_elements(v.graph -> 'transitions') way, jsonb_array_elements(v.graph -> 'steps') step
    where a.project_id = ${projectId} and step ->> 'id' = way ->> 'toStepId' and step ->> 'type' = 'SEND_EMAIL'`);
  return rows.map(({ id }) => id);
}

// Some thousand delays are read along their index, and those joined that are at such a step. The last one that was read says
// where to go on, also when none was found.
function pageOfDelays(
  db: Database,
  projectId: string,
  after: { at: string; id: string },
  until: Date,
  steps: readonly string[],
): Promise<DelayOfPage[]> {
  return db.rows<DelayOfPage>(sql`
    with looked as materialized (
      select id, run_id, seq, step_id, contact_id, scheduled_for, turn_ms from automation_step_runs
      where project_id = ${projectId} and status = 'SCHEDULED'
        and (scheduled_for, id) > (${after.at}::timestamptz, ${after.id}::uuid)
        and scheduled_for <= ${until.toISOString()}::timestamptz
      order by scheduled_for, id limit ${atOnce})
    select (select count(*) from looked)::int as looked, l.scheduled_for::text as "lastAt", l.id as "lastId", found.*
    from (select scheduled_for, id from looked order by scheduled_for desc, id desc limit 1) l
      left join lateral (
        select x.id, ${raw(isoText(endOfWait))} as at, x.step_id as "stepId",
          coalesce(r.next_version_id, r.version_id) as "versionId", c.id as "contactId", c.email as "contactEmail",
          a.name as "workflowName"
        from looked x join automation_runs r on r.id = x.run_id and r.seq = x.seq + 1
          join automations a on a.id = r.automation_id join contacts c on c.id = x.contact_id
        where x.step_id = any (${steps}::uuid[]) and r.${isActive} and a.paused_at is null
        order by x.scheduled_for, x.id) found on true`);
}
