import { type Sql, statement } from '../../core/database/sql.ts';

/** What a project may send, in messages a second. */
export interface SendRate {
  /** For every project (setting SEND_RATE_PER_PROJECT); 0 is no limit. A project's own `send_rate` can only be lower. */
  rate: number;
  /** Most tokens that gather; twice the project's rate when absent. */
  burst?: number;
  /** Tokens that are left for others: what a campaign keeps for transactional mail. 0 when absent. */
  reserve?: number;
}

/** How many messages may go now. `waitMs` is how long until the rest of what was wanted may; 0 when all was granted. */
export interface Grant {
  granted: number;
  waitMs: number;
}

/**
 * The bucket of project `$1` under the rate `$2` and burst `$3`, refilled by the database's clock, as the CTEs `pace` (no
 * row without a limit) and `bucket` (`available` tokens at the instant `at`). For statements that take tokens and do
 * something with them at once; `bucketMade` must have run for the project. `lock: false` only looks; with `when`, a
 * condition, the bucket is left alone unless it holds.
 */
export function bucketCtes({ lock = true, when = 'true' } = {}): string {
  return `
  pace as (
    select rate, greatest(1, least(coalesce($3::float8, 2 * rate), 2 * rate)) as burst from (
      select case when $2::float8 > 0 then least($2::float8, send_rate) else send_rate::float8 end as rate
      from projects where id = $1::uuid) as p
    where rate is not null),
  held as (
    select id, tokens, refilled_at, clock_timestamp() as at from send_buckets
    where id = $1::uuid and exists (select from pace) and ${when} ${lock ? 'for update' : ''}),
  bucket as (
    select h.id, h.at, p.rate, p.burst,
      least(p.burst, h.tokens + p.rate * greatest(0, extract(epoch from h.at - h.refilled_at))) as available
    from held h cross join pace p)`;
}

const take = statement(
  'throttle.take',
  `with ${bucketCtes()},
  grants as (
    select *, least($4::int, floor(greatest(0, available - least($5::float8, burst / 2))))::int as granted from bucket),
  spent as (
    update send_buckets b set tokens = g.available - g.granted, refilled_at = g.at from grants g where b.id = g.id
    returning g.granted, ceil(1000 * least($4::int - g.granted, g.burst) / g.rate)::int as wait_ms)
  select (select count(*) from pace)::int as limits, (select granted from spent) as granted, (select wait_ms from spent) as "waitMs"`,
);

// A new bucket is full: a first send does not wait.
const make = statement(
  'throttle.make',
  `insert into send_buckets (id, tokens) values ($1::uuid, 1e9) on conflict (id) do nothing`,
);

/** Makes a project's bucket, full, where it has none. */
export async function bucketMade(sql: Sql, projectId: string): Promise<void> {
  await sql.count(make, [projectId]);
}

/**
 * Takes up to `wanted` tokens from a project's bucket: one statement, shared by every process, on the database's clock;
 * the bucket never goes below zero.
 */
export async function takeTokens(sql: Sql, projectId: string, wanted: number, rate: SendRate): Promise<Grant> {
  const values = [projectId, rate.rate, rate.burst ?? null, wanted, rate.reserve ?? 0];
  for (let attempt = 0; ; attempt += 1) {
    const row = await sql.row<{ limits: number; granted: number | null; waitMs: number | null }>(take, values);
    if (row === null || row.limits === 0) return { granted: wanted, waitMs: 0 };
    if (row.granted !== null) return { granted: row.granted, waitMs: row.waitMs ?? 0 };
    if (attempt > 0) throw new Error(`The send bucket of project ${projectId} cannot be made`);
    await bucketMade(sql, projectId);
  }
}
