import { eventData } from '../../contacts/events/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { type StartOutcome, startRuns } from '../enrollment/starting.ts';
import { contextOf } from './condition.ts';
import { startsUnderWay } from './recovery.ts';

/** The channel on which a commit with new pending enrollments wakes the enrollers. */
export const enrollmentChannel = 'fernpost_arrivals';

/** The dependencies of enrolling. */
export interface EnrolDeps {
  db: Database;
  /** Setting WORKFLOW_STARTS_PER_CONTACT_PER_HOUR. */
  startsPerHour: number;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
  /** Called with how many requests ended in each way. */
  onOutcome?(outcome: StartOutcome, count: number): void;
  /** Most starts that may wait in the outbox before more are made. */
  mostWaiting?: number;
}

const defaultMostWaiting = 500;
// One automation's turn: a burst of one does not keep the others waiting for longer than this takes.
const enrollmentsPerTurn = 200;
// Notifications wake it; this finds what a lost one left.
const whenIdleMs = 1_000;
const whenFullMs = 100;

/**
 * Builds one pass over the pending enrollments: each automation in turn gets some of its contacts in, until none is pending or as
 * many starts wait in the outbox as Temporal takes in a while. Safe to run side by side. Answers after how many milliseconds
 * to check again.
 */
export function createEnroller(deps: EnrolDeps): () => Promise<number> {
  const { db, mostWaiting = defaultMostWaiting } = deps;
  const underWay = startsUnderWay(db);
  return async () => {
    const waiting = await startsWaiting(db, mostWaiting);
    // A few starts at a time would be many small transactions.
    if (waiting > mostWaiting / 2) return whenFullMs;
    const room = Math.min(mostWaiting - waiting, await underWay.remaining());
    if (room === 0) return whenFullMs;
    const automations = await automationsWithPending(db);
    let left = room;
    let taken = 0;
    for (const automation of automations) {
      if (left <= 0) break;
      const count = await enrolSome(automation, Math.min(left, enrollmentsPerTurn));
      left -= count;
      taken += count;
    }
    return taken > 0 ? 0 : whenIdleMs;
  };

  async function enrolSome(automation: Enrolling, limit: number): Promise<number> {
    const { count, tickets, outcomes } = await db.transaction(async (tx) => {
      const pending = await takePending(tx, automation.id, limit);
      const requests = pending.map(({ contactId, eventId, data, limitedBy }) => ({
        contactId,
        context: data === null ? null : contextOf(data),
        sourceEventId: eventId,
        limitedBy,
      }));
      const started = await startRuns(tx, automation.projectId, automation.id, requests, deps.startsPerHour);
      return { count: pending.length, ...started };
    });
    for (const { run } of outcomes) if (run !== null) underWay.add(run.id);
    deps.dispatchSoon(...tickets);
    if (deps.onOutcome)
      for (const [outcome, of] of Map.groupBy(outcomes, (one) => one.outcome)) deps.onOutcome(outcome, of.length);
    return count;
  }
}

async function startsWaiting(db: Database, most: number): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from outbox where done_at is null and kind = 'start' and workflow_type = 'automation' limit ${most}) waiting`);
  return row?.count ?? 0;
}

interface Enrolling {
  id: string;
  projectId: string;
}

// Jumps from automation to automation in the index, so that its cost grows with automations and not with pending enrollments.
function automationsWithPending(db: Database): Promise<Enrolling[]> {
  return db.rows<Enrolling>(sql`
    with recursive place as (
      (select automation_id from automation_arrivals order by automation_id limit 1)
      union all
      select (select n.automation_id from automation_arrivals n where n.automation_id > place.automation_id
        order by n.automation_id limit 1)
      from place where place.automation_id is not null)
    select place.automation_id as id, a.project_id as "projectId"
    from place join automations a on a.id = place.automation_id`);
}

interface Pending {
  contactId: string;
  eventId: string;
  data: JsonObjectValue | null;
  limitedBy: string | null;
}

// Ids of events are of version 7, so their order is that of time.
function takePending(tx: Database, automationId: string, limit: number): Promise<Pending[]> {
  return tx.rows<Pending>(sql`
    with taken as (
      delete from automation_arrivals where id = any (array(
        select id from automation_arrivals where automation_id = ${automationId} order by event_id limit ${limit}
        for update skip locked))
      returning contact_id, event_id, context)
    select t.contact_id as "contactId", t.event_id as "eventId", coalesce(t.context, ${raw(eventData('e'))}) as data,
      e.limited_by as "limitedBy"
    from taken t left join events e on e.id = t.event_id
    order by t.event_id`);
}
