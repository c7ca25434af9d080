import { eventQuery } from '../../contacts/conditions.ts';
import { eventData } from '../../contacts/events/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { placeWithin } from '../../lib/ids.ts';
import { isoText } from '../../store/columns.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import { enqueueTaken, type TakenRow } from '../../store/outbox/queries.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { type StartOutcome, startRuns } from '../enrollment/starting.ts';
import { contextOf, storedTest } from './condition.ts';
import { startsUnderWay } from './recovery.ts';

/** The channel on which a commit with new pending enrollments wakes the enrollers. */
export const enrollmentChannel = 'fernpost_arrivals';

/** The dependencies of enrolling. */
export interface EnrolDeps {
  db: Database;
  /** Setting WORKFLOW_STARTS_PER_CONTACT_PER_HOUR. */
  startsPerHour: number;
  /** Makes the starts. */
  outbox: Pick<Outbox, 'dispatch'>;
  /** Called with how many requests ended in each way. */
  onOutcome?(outcome: StartOutcome, count: number): void;
  /** Most runs of this process that have not begun. */
  mostUnderWay?: number;
}

// One automation's turn: a burst of one does not keep the others waiting for longer than this takes.
const enrollmentsPerTurn = 200;
// Notifications wake it; this finds what a lost one left.
const whenIdleMs = 1_000;
const whenFullMs = 100;

/**
 * Builds one pass over the pending enrollments, but for those of automations that are paused: each automation in turn, from where the pass before has ended, gets some of its
 * contacts in, whose executions are started at once, until none is pending or as many runs have not begun as Temporal takes in a
 * while. Safe to run side by side. Answers after how many milliseconds to check again.
 */
export function createEnroller(deps: EnrolDeps): () => Promise<number> {
  const { db, outbox } = deps;
  const underWay = startsUnderWay(db, deps.mostUnderWay);
  // The automation that had the last turn, by ID.
  let last = '';
  return async () => {
    const remaining = await underWay.remaining();
    if (remaining === 0) return whenFullMs;
    const taken = Promise.withResolvers<number>();
    // While Temporal is out of reach, the enrollments stay pending. The next pass does not wait for the calls: whatever becomes of
    // them, the rows in the outbox are taken again after their lease.
    outbox
      .dispatch(remaining, async (most, leaseMs) => {
        const { count, starts } = await enrolInTurn(most, leaseMs);
        taken.resolve(count);
        return starts;
      })
      .then(() => taken.resolve(0), taken.reject);
    return (await taken.promise) > 0 ? 0 : whenIdleMs;
  };

  async function enrolInTurn(most: number, leaseMs: number): Promise<Enrolled> {
    const enrolled: Enrolled = { count: 0, starts: [] };
    try {
      const automations = await automationsWithPending(db);
      const before = automations.filter(({ id }) => id <= last);
      for (const automation of [...automations.slice(before.length), ...before]) {
        if (enrolled.count >= most) break;
        last = automation.id;
        const limit = Math.min(most - enrolled.count, enrollmentsPerTurn);
        const { count, starts } = await enrolSome(automation, limit, leaseMs);
        enrolled.count += count;
        enrolled.starts.push(...starts);
      }
    } catch (error) {
      // Those that are committed are started first. What failed fails in the next pass again.
      if (enrolled.count === 0) throw error;
    }
    return enrolled;
  }

  async function enrolSome(automation: Enrolling, limit: number, leaseMs: number): Promise<Enrolled> {
    const { count, outcomes, starts } = await db.transaction(async (tx) => {
      const pending = await takePending(tx, automation, limit);
      const requests = pending.flatMap(({ contactId, eventId, data, limitedBy, createdAt, matches }) =>
        matches
          ? {
              contactId,
              dueAt: beginningOf(automation, contactId, createdAt),
              context: data === null ? null : contextOf(data),
              sourceEventId: eventId,
              limitedBy,
            }
          : [],
      );
      const started = await startRuns(tx, automation.projectId, automation.id, requests, deps.startsPerHour);
      const taken = await enqueueTaken(tx, started.starts, leaseMs);
      return { count: pending.length, outcomes: started.outcomes, starts: taken };
    });
    for (const { run } of outcomes) if (run !== null) underWay.add(run.id);
    if (deps.onOutcome)
      for (const [outcome, of] of Map.groupBy(outcomes, (one) => one.outcome)) deps.onOutcome(outcome, of.length);
    return { count, starts };
  }
}

interface Enrolled {
  /** How many enrollments were taken. */
  count: number;
  /** The starts of those that made a run. */
  starts: TakenRow[];
}

interface Enrolling {
  id: string;
  projectId: string;
  /** The config of its trigger. */
  trigger: { eventName?: unknown; where?: unknown; audienceCondition?: unknown } | null;
  /** When a pause ended, and until when those whom it held begin; null where none did. */
  resumedAt: string | null;
  spreadUntil: string | null;
}

/** When a contact begins who arrived while the automation was paused: at its place in the time over which those are spread. */
function beginningOf({ resumedAt, spreadUntil }: Enrolling, contactId: string, createdAt: string): string | undefined {
  if (resumedAt === null || spreadUntil === null || createdAt > resumedAt) return undefined;
  const [from, until] = [Date.parse(resumedAt), Date.parse(spreadUntil)];
  if (until <= Date.now()) return undefined;
  const dueAt = from + placeWithin(contactId, until - from);
  return dueAt > Date.now() ? new Date(dueAt).toISOString() : undefined;
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
    select place.automation_id as id, a.project_id as "projectId",
      (select s.config from automation_steps s where s.automation_id = a.id and s.type = 'TRIGGER') as trigger,
      ${raw(isoText('a.resumed_at'))} as "resumedAt", ${raw(isoText('a.spread_until'))} as "spreadUntil"
    from place join automations a on a.id = place.automation_id where a.paused_at is null order by 1`);
}

interface Pending {
  contactId: string;
  eventId: string;
  data: JsonObjectValue | null;
  limitedBy: string | null;
  /** Whether the event, or the new contact, passes the tests of the trigger. */
  matches: boolean;
  createdAt: string;
}

// Ids of events and contacts are of version 7, so their order is that of time.
async function takePending(tx: Database, automation: Enrolling, limit: number): Promise<Pending[]> {
  const { id } = automation;
  const passes = await testsOf(tx, automation);
  return tx.rows<Pending>(sql`
    with taken as (
      delete from automation_arrivals where id = any (array(
        select id from automation_arrivals where automation_id = ${id} order by event_id limit ${limit}
        for update skip locked))
      returning contact_id, project_id, event_id, created_at, limited_by)
    select p.contact_id as "contactId", p.event_id as "eventId", ${raw(eventData('t'))} as data,
      coalesce(t.limited_by, p.limited_by) as "limitedBy", (${passes}) is true as matches,
      ${raw(isoText('p.created_at'))} as "createdAt"
    from taken p left join events t on t.id = p.event_id
      left join contacts c on c.id = p.contact_id and c.project_id = p.project_id
    order by p.event_id`);
}

/** SQL of whether the event `t`, or the contact `c`, passes what the trigger asks for. A condition that cannot be read passes nobody. */
async function testsOf(tx: Database, { projectId, trigger }: Enrolling): Promise<Query> {
  const { eventName, where, audienceCondition } = trigger ?? {};
  if (typeof eventName === 'string') return where ? eventQuery(projectId, eventName, where, new Date()) : raw('true');
  return audienceCondition ? storedTest(tx, projectId, audienceCondition, 'one') : raw('true');
}
