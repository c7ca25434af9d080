import { firstIdAt, leastId } from '../../lib/ids.ts';
import { removePast } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { withoutBytes } from './queries.ts';

const bodiesRule = 'email bodies';
const rowsPerWalk = 2_000;

/**
 * Empties the rendered bodies, and what is left of attachments, of mail from before an instant; everything else of a
 * mail stays. Goes on where it ended the last time, until `limit` mails are emptied or none is left. Answers how many.
 */
export async function emptyOldBodies(db: Database, before: Date, limit: number): Promise<number> {
  let emptied = 0;
  while (emptied < limit) {
    // The ledger is walked once in the order of its ids, which is that of time; an index that said which rows still have a
    // body would cost every message a second write when it is sent. Mail that waits keeps what it is made of.
    const step = await db.row<{ walked: number; emptied: number }>(sql`
      with place as (
        select coalesce((select through from retention_cursors where rule = ${bodiesRule} for update),
          ${leastId}) as through),
      walked as materialized (
        select id from emails where id > (select through from place) and id < ${firstIdAt(before)}::uuid
        order by id limit ${Math.min(rowsPerWalk, limit - emptied)}),
      emptied as (
        update emails e set subject = coalesce(e.subject, e.render ->> 'subject'), body = '', render = null,
          attachments = ${raw(withoutBytes('e.attachments'))}
        from walked w
        where e.id = w.id and e.status not in ('PENDING', 'SENDING')
          and (e.body <> '' or e.render is not null or e.attachments @? '$[*].content')
        returning e.id),
      forgotten as (delete from failed_attachments where email_id in (select id from emptied)),
      moved as (
        insert into retention_cursors (rule, through)
        select ${bodiesRule}, id from walked order by id desc limit 1
        on conflict (rule) do update set through = excluded.through)
      select (select count(*) from walked)::int as walked, (select count(*) from emptied)::int as emptied`);
    emptied += step?.emptied ?? 0;
    if ((step?.walked ?? 0) === 0) break;
  }
  return emptied;
}

/** Removes idempotency keys that count no more. Answers how many. */
export function removeExpiredKeys(db: Database, limit: number): Promise<number> {
  return removePast(db, 'idempotency_keys', 'expires_at', limit);
}

/** Removes the record of deleted contacts that every segment has taken in: each is evaluated in full once an hour. */
export function removeOldLosses(db: Database, limit: number): Promise<number> {
  return removePast(db, 'contact_losses', 'at', limit, '1 day');
}
