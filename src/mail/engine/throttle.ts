import { type Database, type Query, raw, sql } from '../../store/sql.ts';

/**
 * The bucket of tokens that a project's mail takes one of each, refilled by the database's clock, as the CTEs `rate_limit` (no
 * row without a limit) and `bucket` (`available` tokens at the instant `at`). For statements that take tokens and do something
 * with them at once; `bucketMade` must have run for the project. `rate` is the setting SEND_RATE_PER_PROJECT, 0 for no limit;
 * a project's own `send_rate` can only be lower. `lock: false` only reads; with `when`, a condition, the bucket is left alone
 * unless it holds.
 */
export function bucketCtes(projectId: string, rate: number, { lock = true, when = raw('true') } = {}): Query {
  return sql`
  rate_limit as (
    select rate, greatest(1, 2 * rate) as burst from (
      select case when ${rate}::float8 > 0 then least(${rate}::float8, send_rate) else send_rate::float8 end as rate
      from projects where id = ${projectId}::uuid) as p
    where rate is not null),
  held as (
    select id, tokens, refilled_at, clock_timestamp() as at from send_buckets
    where id = ${projectId}::uuid and exists (select from rate_limit) and ${when} ${raw(lock ? 'for update' : '')}),
  bucket as (
    select h.id, h.at, p.rate, p.burst,
      least(p.burst, h.tokens + p.rate * greatest(0, extract(epoch from h.at - h.refilled_at))) as available
    from held h cross join rate_limit p)`;
}

/** SQL: a CTE after `bucketCtes` that gives back the tokens of mail that was claimed and not handed over; `count` is how many. */
export function tokensReturned(count: string): Query {
  return raw(`tokens_returned as (
    update send_buckets b set tokens = k.available + n.count, refilled_at = k.at from bucket k, (select ${count} as count) n
    where b.id = k.id and n.count > 0)`);
}

/** Makes a project's bucket where it has none: full, since a first send does not wait. */
export async function bucketMade(db: Database, projectId: string): Promise<void> {
  await db.count(
    sql`insert into send_buckets (id, tokens) values (${projectId}::uuid, 1e9) on conflict (id) do nothing`,
  );
}
