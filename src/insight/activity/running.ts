import { isoText } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { holdBody, holdFor, type SendingHold } from '../../sending/engine/index.ts';
import type { Running } from './schema.ts';

const mostRunning = 50;
const startedAt = raw(isoText('started_at'));

/** What is being worked on in a project, the latest first: each kind is read by an index of its unfinished rows alone. */
export function runningNow(db: Database, projectId: string): Promise<Running['data']> {
  return db.rows(sql`
    select type, id, name, progress, is_paused as "isPaused", ${startedAt} as "startedAt" from (
      select 'campaign' as type, c.id::text as id, c.name, c.paused_at is not null as is_paused,
        least(100, 100.0 * (c.sent_count + c.skipped_count + c.failed_count) / nullif(c.total_recipients, 0))::float8
          as progress,
        coalesce(c.sent_at, c.updated_at) as started_at
      from campaigns c where c.project_id = ${projectId} and c.status = 'SENDING'
      union all
      select j.kind, j.id, case when j.kind = 'import' then j.spec ->> 'filename' else j.spec ->> 'operation' end, false,
        j.progress, j.created_at
      from jobs j where j.project_id = ${projectId} and j.finished_at is null
      union all
      select 'migration', m.automation_id::text, a.name, false,
        least(100, 100.0 * (m.finished + m.moved_at_next_step + m.moved_now + m.exited + m.passed_over)
          / nullif(m.expected, 0))::float8,
        m.created_at
      from automation_migrations m join automations a on a.id = m.automation_id
      where m.project_id = ${projectId} and m.state in ('waiting', 'active')) work
    order by started_at desc, id limit ${mostRunning}`);
}

/** Why mail of the project waits for the mail provider; null when none does, or when the provider accepts mail. */
export async function holdOf(db: Database, provider: string, projectId: string): Promise<SendingHold | null> {
  const hold = await holdFor(db, provider);
  if (hold === null) return null;
  const waiting = await db.row<{ waits: boolean }>(sql`
    select exists (select from email_queue where project_id = ${projectId} and due_at <= now())
      or exists (select from campaigns where project_id = ${projectId} and status = 'SENDING' and paused_at is null) as waits`);
  return waiting?.waits ? holdBody(provider, hold) : null;
}
