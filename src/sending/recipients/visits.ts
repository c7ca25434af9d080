import { createHmac } from 'node:crypto';
import { type Sql, statement } from '../../core/database/sql.ts';
import { networkOf } from '../../core/lib/network.ts';

/** Requests that one visitor may make within `windowSeconds` (contract page 3, 11.2). */
export const visitsPerWindow = 60;
const windowSeconds = 60;

const count = statement(
  'recipients.visit',
  `insert into recipient_visits as v (visitor, started_at, used) values ($1, clock_timestamp(), 1)
   on conflict (visitor) do update set
     started_at = case when v.started_at <= clock_timestamp() - interval '${windowSeconds} seconds' then clock_timestamp() else v.started_at end,
     used = case when v.started_at <= clock_timestamp() - interval '${windowSeconds} seconds' then 1
       else least(v.used + 1, ${visitsPerWindow + 1}) end
   returning used, greatest(1, ceil(${windowSeconds} - extract(epoch from clock_timestamp() - started_at)))::int as seconds`,
);

/**
 * Counts a request of a visitor who has no key, over all processes. Answers null when it may be served, else the seconds
 * after which to come again. Addresses are kept as a keyed hash; one of IPv6 stands for its network of 64 bits, all of
 * which one household has.
 */
export async function countVisit(sql: Sql, address: string, secret: string): Promise<number | null> {
  const row = await sql.row<{ used: number; seconds: number }>(count, [visitorOf(address, secret)]);
  return row !== null && row.used > visitsPerWindow ? row.seconds : null;
}

/** Removes what is known of visitors whose window is over. Answers how many. */
export function removeOldVisits(sql: Sql, limit: number): Promise<number> {
  return sql.count(
    `delete from recipient_visits where visitor in (
       select visitor from recipient_visits where started_at < now() - interval '${windowSeconds} seconds' limit $1
       for update skip locked)`,
    [limit],
  );
}

function visitorOf(address: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(`visitor:${networkOf(address)}`)
    .digest('base64url')
    .slice(0, 22);
}
