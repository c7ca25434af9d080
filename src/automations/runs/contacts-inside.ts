import type { Database } from '../../core/database/sql.ts';
import { invalidField } from '../../core/lib/errors.ts';
import { findAutomation, found, stepsOf } from '../queries.ts';
import { PathCountCache } from './path-counts.ts';
import { contactsByStep, countPaths, pendingEnrollments } from './queries.ts';
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
