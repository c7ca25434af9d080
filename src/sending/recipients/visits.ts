import { createHmac } from 'node:crypto';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { networkOf } from '../../core/lib/network.ts';

/** Requests that one visitor may make within `windowSeconds` (docs/contract/platform.md#11-2). */
export const visitsPerWindow = 60;
const windowSeconds = 60;

const window = raw(`interval '${windowSeconds} seconds'`);

/**
 * Counts a request of a visitor who has no key, over all processes. Answers null when it may be served, else the seconds
 * after which to come again. Addresses are kept as a keyed hash; one of IPv6 stands for its network of 64 bits, all of
 * which one household has.
 */
export async function countVisit(db: Database, address: string, secret: string): Promise<number | null> {
  const row = await db.row<{ used: number; seconds: number }>(sql`
    insert into recipient_visits as v (visitor, started_at, used) values (${visitorOf(address, secret)}, clock_timestamp(), 1)
    on conflict (visitor) do update set
      started_at = case when v.started_at <= clock_timestamp() - ${window} then clock_timestamp() else v.started_at end,
      used = case when v.started_at <= clock_timestamp() - ${window} then 1 else least(v.used + 1, ${visitsPerWindow + 1}) end
    returning used, greatest(1, ceil(extract(epoch from started_at + ${window} - clock_timestamp())))::int as seconds`);
  return row !== null && row.used > visitsPerWindow ? row.seconds : null;
}

/** Removes what is known of visitors whose window is over. Answers how many. */
export function removeOldVisits(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from recipient_visits where visitor in (
      select visitor from recipient_visits where started_at < now() - ${window} limit ${limit} for update skip locked)`);
}

function visitorOf(address: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(`visitor:${networkOf(address)}`)
    .digest('base64url')
    .slice(0, 22);
}
