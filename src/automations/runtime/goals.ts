import { segmentEvent, segmentSlug } from '@fernpost/workflow-graph';
import { LockMode } from '@mikro-orm/core';
import { eventQuery } from '../../contacts/conditions.ts';
import { Segment } from '../../segments/definition.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { Automation, AutomationGoal, AutomationVersion } from '../entity.ts';
import { type Goal, goalOf } from '../graph/exits.ts';
import { findAutomation, found, stepsOf } from '../queries.ts';
import type { GoalFigures, WorkflowGoalFigures } from '../runs/schema.ts';
import { pinnedVersion } from '../versions.ts';
import { storedTest } from './condition.ts';

const atOnce = 500;

/** The event by which an exit or a goal is met, with tests of its data; null for a condition, and for a segment that is gone. */
export async function eventOf(
  db: Database,
  projectId: string,
  on: Goal['on'],
): Promise<{ eventName: string; where: unknown } | null> {
  if (on.event) return { eventName: on.event, where: on.where };
  const segment = on.leavesSegment ? await db.em.findOne(Segment, { projectId, id: on.leavesSegment }) : null;
  if (segment === null) return null;
  const where = [{ path: 'segmentId', operator: 'equals', value: segment.id }];
  return { eventName: segmentEvent(segmentSlug(segment), 'exit'), where };
}

/**
 * Tests the goals that are due: those that an event may have reached, and those whose time is over. Returns how many there were. Several
 * workers share the work.
 */
export async function countGoals(db: Database, stop: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const tested = await db.transaction(testSome);
    total += tested;
    if (tested < atOnce || stop.aborted) return total;
  }
}

// Events lock the goals that they may reach. The lock is a statement of its own: the next one sees every event that it waited for.
async function testSome(tx: Database): Promise<number> {
  const due = await tx.em.find(
    AutomationGoal,
    { checkAt: { $lte: new Date() } },
    {
      fields: ['versionId'],
      orderBy: { checkAt: 'asc' },
      limit: atOnce,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
      disableIdentityMap: true,
    },
  );
  const byVersion = Map.groupBy(due, ({ versionId }) => versionId);
  for (const [versionId, goals] of byVersion) {
    const version = await pinnedVersion(tx, versionId);
    const goal = version && goalOf(version.graph.steps);
    const owner = version && (await tx.em.findOne(Automation, { id: version.automationId }, { fields: ['projectId'] }));
    const runs = goals.map(({ runId }) => runId);
    await testGoals(tx, runs, goal && owner && { goal, projectId: owner.projectId });
  }
  return due.length;
}

// An event counts from the one that the contact entered by, and by its own time. Its transaction may end an hour after the goal's time is
// over, so that the last test is then. A condition is asked when the time is over.
async function testGoals(
  tx: Database,
  runIds: readonly string[],
  asked: { goal: Goal; projectId: string } | null,
): Promise<void> {
  const awaited = asked && (await eventOf(tx, asked.projectId, asked.goal.on));
  const isEvent =
    asked && awaited ? eventQuery(asked.projectId, awaited.eventName, awaited.where, new Date()) : raw('false');
  const holds = asked?.goal.on.condition
    ? await storedTest(tx, asked.projectId, asked.goal.on.condition)
    : raw('false');
  await tx.count(sql`
    with tested as materialized (
      select g.run_id, least(
        (select min(t.created_at) from events t
         where t.contact_id = g.contact_id and ${isEvent} and t.created_at <= g.until
           and t.created_at >= coalesce((select e.created_at from events e where e.id = r.source_event_id), g.entered_at)
           and t.id is distinct from r.source_event_id and (t.limited_by is null or t.limited_by = any (r.limited_by))),
        (select g.until from contacts c where c.id = g.contact_id and g.until <= clock_timestamp() and ${holds})) as at
      from automation_goals g join automation_runs r on r.id = g.run_id where g.run_id = any (${runIds}::uuid[]))
    update automation_goals g set met_at = greatest(t.at, case when t.at is not null then g.entered_at end),
      check_at = case when t.at is null and g.until + interval '1 hour' > clock_timestamp() and ${awaited !== null}::boolean
        then g.until + interval '1 hour' end
    from tested t where g.run_id = t.run_id and g.check_at is not null`);
}

type Counted = Omit<GoalFigures, 'rate' | 'interval'>;
type Group = Counted & { version: number | null; stepId: string | null; branch: string | null };

// Over contacts who entered from `since` until before `until`; over all without both.
function countedBy(
  db: Database,
  automationId: string,
  by: string | undefined,
  { since, until }: { since?: Date; until?: Date | null } = {},
): Promise<Group[]> {
  return db.rows<Group>(sql`
    select k.version, k.step_id as "stepId", k.branch, count(*) filter (where not g.had_met)::int as entered, count(g.met_at)::int as met,
      count(*) filter (where g.had_met)::int as "metOnEntry",
      count(*) filter (where g.met_at is null and not g.had_met and g.until > now())::int as open,
      round(percentile_cont(0.5) within group (order by extract(epoch from g.met_at - g.entered_at)))::int as "medianSeconds",
      ${raw(isoText('min(g.entered_at)'))} as since
    from automation_versions v join automation_goals g on g.version_id = v.id
        and g.entered_at >= ${since?.toISOString() ?? '-infinity'}::timestamptz and g.entered_at < ${until?.toISOString() ?? 'infinity'}::timestamptz
      cross join lateral (
      select null::integer as version, null as step_id, null as branch
      union all select v.version, null, null where ${by ?? null}::text = 'version'
      union all select null, b.key, b.value from jsonb_each_text(g.branches) b where ${by ?? null}::text = 'branch') k
    where v.automation_id = ${automationId} group by 1, 2, 3 order by 1 desc, 2, 3`);
}

/** How many of those who have entered an automation have reached its goal, and by version or branch. @throws 404 */
export async function goalFigures(
  db: Database,
  projectId: string,
  automationId: string,
  by: string | undefined,
): Promise<WorkflowGoalFigures> {
  found(await findAutomation(db, projectId, automationId), automationId);
  const rows = await countedBy(db, automationId, by);
  const versions = rows.flatMap(({ version }) => version ?? []);
  const pinned = await db.em.find(AutomationVersion, { automationId, version: versions }, { disableIdentityMap: true });
  const goals = new Map(pinned.map(({ version, graph }) => [version, goalOf(graph.steps)]));
  const isTotal = ({ version, stepId }: Group) => version === null && stepId === null;
  return {
    goal: goalOf(await stepsOf(db, automationId)),
    ...withRate(rows.find(isTotal) ?? nobody),
    groups: rows
      .filter((row) => !isTotal(row))
      .map((row) => ({
        ...{ version: row.version, stepId: row.stepId, branch: row.branch },
        goal: row.version === null ? null : (goals.get(row.version) ?? null),
        ...withRate(row),
      })),
  };
}

/** The figures of the goals of versions over the contacts who entered in a time, by number of the version; null for a version without a goal. */
export async function goalsOfVersions(
  db: Database,
  automationId: string,
  versionIds: readonly string[],
  entered: { since: Date; until: Date | null },
): Promise<Map<number, GoalFigures | null>> {
  const rows = await countedBy(db, automationId, 'version', entered);
  const figures = new Map<number, GoalFigures | null>();
  for (const id of versionIds) {
    const pinned = await pinnedVersion(db, id);
    if (pinned === null) continue;
    const { version, graph } = pinned;
    const hasGoal = goalOf(graph.steps) !== null;
    figures.set(version, hasGoal ? withRate(rows.find((row) => row.version === version) ?? nobody) : null);
  }
  return figures;
}

const nobody: Counted = { entered: 0, met: 0, metOnEntry: 0, open: 0, medianSeconds: null, since: null };

function withRate({ entered, met, metOnEntry, open, medianSeconds, since }: Counted): GoalFigures {
  const bounds = wilson(met, entered);
  const interval = bounds && { low: bounds.low * 100, high: bounds.high * 100 };
  const rate = entered === 0 ? null : (met / entered) * 100;
  return { ...{ entered, met, metOnEntry, open, rate, interval }, medianSeconds, since };
}

// The 97.5th percentile of the standard normal distribution.
const z = 1.959963984540054;

/** The 95 % interval of Wilson for a share, `met` of `of`, which stays within 0 and 1 for small numbers too; null of nobody. */
export function wilson(met: number, of: number): { low: number; high: number } | null {
  if (of === 0) return null;
  const share = met / of;
  const middle = share + z ** 2 / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  // At the ends the exact bound is 0 and 1, which rounding misses.
  return { low: met === 0 ? 0 : (middle - half) / scale, high: met === of ? 1 : (middle + half) / scale };
}
