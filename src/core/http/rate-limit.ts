import { type Database, sql } from '../database/sql.ts';
import { AppError } from '../lib/errors.ts';

/** What the rate headers of a counted response say. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

interface Lease {
  left: number;
  /** What the whole service had taken of the window when this lease was made. */
  used: number;
  startedAt: string;
  endsAt: number;
  renewAt: number;
  pending: Promise<void> | null;
  /** What the requests that wait for this lease count as together. */
  waiting: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Counts requests of projects: a fixed window of 60 s for each project, kept in Postgres and shared by all processes. A
 * process takes requests in leases that shrink as the window fills, so most requests cost no round trip and the limit is
 * never exceeded; what a process does not use within a second goes back. Until then a request that counts as several may be
 * refused near the end of a window, because other processes hold what is left.
 */
export class RateLimiter {
  readonly #db: Database;
  readonly #limit: number;
  readonly #leases = new Map<string, Lease>();

  /** `limit`: requests a minute; 0 turns it off. */
  constructor(db: Database, limit: number) {
    this.#db = db;
    this.#limit = limit;
  }

  /**
   * Counts one request, or one that counts as several. Null when the limit is off or the count cannot be kept.
   * @throws 429 with nothing counted
   */
  async take(projectId: string, requests = 1): Promise<RateState | null> {
    const limit = this.#limit;
    if (limit === 0) return null;
    const lease = this.#leaseOf(projectId);
    // Several requests may wait for one lease and find it used up by those before them; each round grants at least
    // one request or says that the window is full, so the loop ends.
    while (!isSettled(lease, requests)) {
      lease.waiting += requests;
      lease.pending ??= this.#renew(projectId, lease).finally(() => {
        lease.pending = null;
      });
      try {
        await lease.pending;
      } catch {
        return null; // the count cannot be reached: requests pass (contract page 1, 1.7)
      } finally {
        lease.waiting -= requests;
      }
    }
    const resetSeconds = Math.max(1, Math.ceil((lease.endsAt - Date.now()) / 1000));
    const remaining = limit - lease.used + lease.left;
    if (lease.left < requests) throw tooMany(requests, { limit, remaining, resetSeconds });
    lease.left -= requests;
    this.#watchIdle(projectId, lease);
    return { limit, remaining: remaining - requests, resetSeconds };
  }

  /** Gives back what is not used. */
  async close(): Promise<void> {
    const leases = [...this.#leases];
    this.#leases.clear();
    for (const [, { idle }] of leases) clearTimeout(idle);
    await Promise.all(leases.map(([projectId, lease]) => this.#release(projectId, lease)));
  }

  #leaseOf(projectId: string): Lease {
    const known = this.#leases.get(projectId);
    if (known) return known;
    const lease = {
      left: 0,
      used: 0,
      startedAt: '',
      endsAt: 0,
      renewAt: 0,
      pending: null,
      waiting: 0,
      idle: undefined,
    };
    this.#leases.set(projectId, lease);
    return lease;
  }

  async #renew(projectId: string, lease: Lease): Promise<void> {
    const limit = this.#limit;
    const free = lease.endsAt > Date.now() ? Math.max(0, limit - lease.used) : limit;
    const wanted = Math.max(1, Math.min(5_000, free, Math.max(lease.waiting - lease.left, Math.floor(free / 20))));
    const row = await takeLease(this.#db, projectId, wanted, limit);
    if (row === null) return;
    const granted = Math.max(0, wanted - Math.max(0, row.used - limit));
    lease.left = granted + (row.startedAt === lease.startedAt ? lease.left : 0);
    lease.used = Math.min(limit, row.used);
    lease.startedAt = row.startedAt;
    lease.endsAt = Date.now() + row.endsInMs;
    // A full window is asked for again now and then, for other processes give back what they do not use.
    lease.renewAt = granted > 0 ? 0 : Date.now() + Math.min(1_000, row.endsInMs);
  }

  #watchIdle(projectId: string, lease: Lease): void {
    if (lease.idle !== undefined) return void lease.idle.refresh();
    lease.idle = setTimeout(() => {
      lease.idle = undefined;
      if (lease.waiting > 0) return;
      this.#leases.delete(projectId);
      void this.#release(projectId, lease);
    }, 1_000).unref();
  }

  async #release(projectId: string, lease: Lease): Promise<void> {
    const { left: unused, startedAt } = lease;
    if (unused === 0 || lease.endsAt <= Date.now()) return;
    lease.left = 0;
    lease.used -= unused;
    const given = this.#db.count(sql`
      update rate_windows set used = greatest(0, least(used, ${this.#limit}) - ${unused})
        where project_id = ${projectId} and started_at = ${startedAt}::timestamptz`);
    await given.catch(() => undefined);
  }
}

function takeLease(
  db: Database,
  projectId: string,
  wanted: number,
  limit: number,
): Promise<{ used: number; startedAt: string; endsInMs: number } | null> {
  const isOver = sql`w.started_at <= clock_timestamp() - interval '60 seconds'`;
  return db.row(sql`
    insert into rate_windows as w (project_id, started_at, used) values (${projectId}, clock_timestamp(), ${wanted})
      on conflict (project_id) do update set
        started_at = case when ${isOver} then clock_timestamp() else w.started_at end,
        used = case when ${isOver} then excluded.used else least(w.used, ${limit}) + excluded.used end
      returning used, started_at::text as "startedAt",
        greatest(0, 60000 - extract(epoch from clock_timestamp() - started_at) * 1000)::float8 as "endsInMs"`);
}

// Either there is enough to take, or the window was found full a moment ago.
function isSettled(lease: Lease, requests: number): boolean {
  const now = Date.now();
  return now < lease.endsAt && (lease.left >= requests || lease.renewAt > now);
}

/** The headers of a counted response. */
export function rateHeaders(state: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(state.limit),
    'RateLimit-Remaining': String(state.remaining),
    'RateLimit-Reset': String(state.resetSeconds),
  };
}

function tooMany(requests: number, state: RateState): AppError {
  const { limit, resetSeconds: retryAfter } = state;
  const message = `More than ${limit} requests in 60 seconds for this project; each recipient of POST /v1/send counts as one`;
  return new AppError(429, 'RATE_LIMIT_EXCEEDED', message, {
    details: { retryAfter },
    suggestion:
      requests >= limit
        ? `Name fewer than ${limit} recipients in one request.`
        : `Wait ${retryAfter} s, or ask the operator for a higher limit.`,
    headers: { 'Retry-After': String(retryAfter), ...rateHeaders(state) },
  });
}
