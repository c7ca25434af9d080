import { type Database, sql } from '../../store/sql.ts';
import { abandonedAfterMs } from '../engine/attempts.ts';
import { workOnLeft } from '../engine/run.ts';
import { restMs, takeOver } from './deliver.ts';
import type { QueueDeps } from './queue-claim.ts';

// Mail waits longer than this only where no delivery is awake, or where it is throttled or held and a wake is harmless.
const overdueMs = 5000;

/**
 * Repairs what crashes and lost wakes left, of any project: dead claims are settled, and `wake` is called for each
 * project with mail that nobody fetches. Returns the number of those mails and projects.
 */
export async function reconcileClaims(deps: QueueDeps, wake: (projectId: string) => void): Promise<number> {
  await releaseAbandoned(deps.db, restMs(deps));
  const { sent, failed } = await workOnLeft(deps, () => takeOver(deps, null, null));
  const projects = await projectsWaiting(deps.db);
  for (const projectId of projects) wake(projectId);
  return sent + failed + projects.length;
}

/** Notes that every claim is unconfirmed that is older than any that is worked on; it may be sent again `restMs` from now at the earliest. */
async function releaseAbandoned(db: Database, restMs: number): Promise<void> {
  await db.count(sql`
    update email_queue set lookups = 1, due_at = clock_timestamp() + ${restMs} * interval '1 millisecond'
    where claim_id is not null and lookups = 0 and claimed_at < clock_timestamp() - ${abandonedAfterMs} * interval '1 millisecond'`);
}

/** Returns the projects with mail that is overdue: nobody works on them, or not fast enough. */
async function projectsWaiting(db: Database): Promise<string[]> {
  const rows = await db.rows<{ projectId: string }>(sql`
    select distinct project_id as "projectId" from email_queue
    where claim_id is null and due_at < clock_timestamp() - ${overdueMs} * interval '1 millisecond'`);
  return rows.map((row) => row.projectId);
}
