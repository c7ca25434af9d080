import { namesOfAuthors } from '../contacts/history-queries.ts';
import { authorOf } from '../contacts/history-service.ts';
import { trashDays } from '../contacts/trash-queries.ts';
import type { Cause } from '../contacts/write.ts';
import { clampLimit, decodeInstantAndId, pageOf } from '../lib/pages.ts';
import { dayMs } from '../lib/time.ts';
import { isoText } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { isJobId, latestUndos } from './queries.ts';
import type { JobPage, ListedJobBody, ListJobs } from './schema.ts';

type JobListRow = Omit<ListedJobBody, 'by' | 'undoneBy' | 'undoUntil'> & { cause: Cause | null };

/** The imports and bulk jobs of a project, the latest first. @throws 400 for a cursor of another list */
export async function listJobs(db: Database, projectId: string, query: ListJobs, keptDays: number): Promise<JobPage> {
  const limit = clampLimit(query.limit, 20, 100);
  const rows = await pageOfJobs(db, projectId, query.cursor, limit + 1);
  const { page, cursor } = pageOf(rows, limit, (last) => [last.createdAt, last.id]);
  const oldest = page.at(-1);
  const [names, undos] = await Promise.all([
    namesOfAuthors(
      db,
      projectId,
      page.flatMap(({ cause }) => cause ?? []),
    ),
    oldest === undefined
      ? null
      : latestUndos(
          db,
          projectId,
          page.map(({ id }) => id),
          oldest.createdAt,
        ),
  ]);
  return {
    data: page.map(({ cause, ...row }) => ({
      ...row,
      by: cause === null ? null : authorOf(cause, names),
      undoneBy: undos?.get(row.id)?.id ?? null,
      undoUntil: undos?.has(row.id) ? null : undoUntil(row, keptDays),
    })),
    cursor,
  };
}

function undoUntil(
  { operation, state, createdAt }: Pick<JobListRow, 'operation' | 'state' | 'createdAt'>,
  keptDays: number,
): string | null {
  if ((state !== 'completed' && state !== 'failed') || operation === 'add-to-segment' || operation === 'enroll')
    return null;
  const until = Date.parse(createdAt) + (operation === 'delete' ? trashDays : keptDays) * dayMs;
  return until > Date.now() ? new Date(until).toISOString() : null;
}

const iso = (column: string) => raw(isoText(column));

function pageOfJobs(db: Database, projectId: string, cursor: string | undefined, limit: number): Promise<JobListRow[]> {
  const [at, id] = cursor === undefined ? ['infinity', ''] : decodeInstantAndId(cursor, isJobId);
  // The spec of a bulk job may hold a thousand IDs, which a list has no use for.
  return db.rows<JobListRow>(sql`
    select id, kind, coalesce(spec ->> 'operation', kind) as operation, state, progress, spec ->> 'filename' as filename,
      jsonb_build_object('total', total_count, 'created', created_count, 'updated', updated_count,
        'unchanged', unchanged_count, 'failed', failure_count) as counts,
      failed_reason as "failedReason", cause, ${iso('created_at')} as "createdAt", ${iso('finished_at')} as "finishedAt",
      case when spec ->> 'operation' = 'undo' then spec #>> '{selector,jobId}' end as undoes
    from jobs where project_id = ${projectId} and kind <> 'simulation' and (created_at, id) < (${String(at)}::timestamptz, ${String(id)}::text)
    order by created_at desc, id desc limit ${limit}`);
}
