import { conditionQuery } from '../../contacts/conditions.ts';
import { Project } from '../../projects/queries.ts';
import { storedDefinition } from '../../segments/definition.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { Automation } from '../entity.ts';
import { lockAutomationOfSchedule } from '../queries.ts';
import { isActive } from '../rows.ts';
import { readSchedule, type Schedule } from './schedule.ts';
import { scheduleCommand } from './triggers.ts';

/** How far an enrollment has come: reported while it works, and given to it when it is repeated. */
export interface EnrolmentPlace {
  /** The last contact that was read. */
  after: string | null;
  enrolled: number;
}

/** The outcome of one time of a schedule. */
export interface Enrolment {
  /** `over`: the automation is disabled, gone, or no longer started by a schedule. */
  state: 'enrolled' | 'over';
  enrolled: number;
}

/** The dependencies of enrolling. */
export interface EnrolmentDeps {
  db: Database;
  clock(): Date;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** How far one call goes, and what it reports to. */
export interface EnrolmentShare {
  from: EnrolmentPlace | null;
  onPage(place: EnrolmentPlace): void;
  /** Throws when the work is to stop between two pages. */
  checkStop(): void;
  contactsPerPage?: number;
}

const defaultPage = 5_000;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/**
 * Puts the audience of a scheduled automation among the pending enrollments, page by page: each contact once for each time of the
 * schedule (`fireTime`, ISO), however often this is repeated. Contacts that the rule of re-entry refuses anyway are skipped.
 */
export async function enrolAudience(
  deps: EnrolmentDeps,
  automationId: string,
  fireTime: string,
  share: EnrolmentShare,
): Promise<Enrolment> {
  let { after, enrolled } = share.from ?? { after: null, enrolled: 0 };
  for (;;) {
    share.checkStop();
    const place = after ?? beforeAll;
    const page = await deps.db.transaction((tx) => enrolPage(tx, deps.clock(), automationId, fireTime, place, share));
    if (page === null) {
      await dropSchedule(deps, automationId);
      return { state: 'over', enrolled };
    }
    enrolled += page.enrolled;
    if (page.through === null) return { state: 'enrolled', enrolled };
    after = page.through;
    share.onPage({ after, enrolled });
  }
}

async function enrolPage(
  tx: Database,
  now: Date,
  automationId: string,
  fireTime: string,
  after: string,
  { contactsPerPage = defaultPage }: EnrolmentShare,
): Promise<{ enrolled: number; through: string | null } | null> {
  const automation = await tx.em.findOne(Automation, { id: automationId });
  const schedule = automation?.triggerType === 'SCHEDULE' ? readSchedule(automation.triggerConfig).schedule : null;
  if (!automation?.enabled || schedule === null) return null;
  const { projectId } = automation;
  // A disabled project's time passes without anybody let in; its schedule stays.
  if ((await tx.em.count(Project, { id: projectId, disabled: true })) > 0) return { enrolled: 0, through: null };
  const { condition, segments } = await storedDefinition(tx, projectId, audienceOf(schedule));
  const row = await tx.row<{ matched: number; enrolled: number; through: string | null }>(sql`
    with audience as materialized (
      select c.id, md5(${automationId}::uuid::text || ${fireTime}::text || c.id::text)::uuid as event_id from contacts c
      where c.project_id = ${projectId}::uuid and c.id > ${after}::uuid
        and ${conditionQuery(condition, { projectId, now, segments })} order by c.id limit ${contactsPerPage}::integer),
    added as (
      insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
      select ${automationId}::uuid, ${projectId}::uuid, m.id, m.event_id from audience m
      where case when ${automation.allowReentry}::boolean then not exists (
            select from automation_runs r where r.automation_id = ${automationId}::uuid and r.contact_id = m.id
              and r.${isActive})
          else not exists (
            select from automation_entries n where n.automation_id = ${automationId}::uuid and n.contact_id = m.id and n.last_entry > 0) end
        and not exists (
          select from automation_runs r where r.automation_id = ${automationId}::uuid
            and r.source_event_id = m.event_id)
      on conflict (automation_id, event_id) do nothing
      returning 1)
    select (select count(*)::int from audience) as matched, (select count(*)::int from added) as enrolled,
      (select max(id::text) from audience)::uuid as through, pg_notify('fernpost_arrivals', '')`);
  if (row === null) throw new Error('Postgres did not answer');
  return { enrolled: row.enrolled, through: row.matched < contactsPerPage ? null : row.through };
}

// Both keys together: the members of the segment that match the condition as well.
function audienceOf({ segmentId, audienceCondition }: Schedule): unknown {
  if (!segmentId) return audienceCondition;
  const member = { field: `segment.${segmentId}`, operator: 'memberOfSegment' };
  return {
    logic: 'AND',
    groups: [{ filters: [member], ...(audienceCondition ? { conditions: audienceCondition } : {}) }],
  };
}

// A schedule that fires although its automation wants none was left behind, as by a restored database.
async function dropSchedule(deps: EnrolmentDeps, automationId: string): Promise<void> {
  const ticket = await deps.db.transaction(async (tx) => {
    const row = await lockAutomationOfSchedule(tx, automationId);
    const gone = { projectId: '', name: '', enabled: false, triggerType: 'SCHEDULE', triggerConfig: null } as const;
    return enqueue(tx, scheduleCommand(row ?? { id: automationId, ...gone }, row?.scheduleRevision ?? 0));
  });
  deps.dispatchSoon(ticket);
}

/** The dependencies of the check of schedules. */
export interface ScheduleCheckDeps {
  db: Database;
  /** The revision of a schedule of Temporal, or null when there is none of this id. */
  revisionOf(scheduleId: string): Promise<number | null>;
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

const asksAtOnce = 16;

/**
 * Makes schedules of Temporal again that are missing or behind their automations, as after a lost Temporal store. Answers
 * how many.
 */
export async function restoreSchedules(deps: ScheduleCheckDeps): Promise<number> {
  const scheduled = { triggerType: 'SCHEDULE', enabled: true } as const;
  const automations = await deps.db.session().em.find(Automation, scheduled, { orderBy: { id: 'asc' } });
  let restored = 0;
  for (let from = 0; from < automations.length; from += asksAtOnce) {
    const some = automations.slice(from, from + asksAtOnce);
    const revisions = await Promise.all(some.map((one) => deps.revisionOf(scheduleCommand(one, 0).id)));
    for (const [n, automation] of some.entries()) {
      if ((revisions[n] ?? -1) >= automation.scheduleRevision) continue;
      if (await restore(deps, automation.id)) restored += 1;
    }
  }
  return restored;
}

async function restore(deps: ScheduleCheckDeps, automationId: string): Promise<boolean> {
  const ticket = await deps.db.transaction(async (tx) => {
    // The row may have changed since it was read.
    const row = await lockAutomationOfSchedule(tx, automationId);
    return row?.enabled && row.triggerType === 'SCHEDULE'
      ? enqueue(tx, scheduleCommand(row, row.scheduleRevision))
      : null;
  });
  if (ticket !== null) deps.dispatchSoon(ticket);
  return ticket !== null;
}
