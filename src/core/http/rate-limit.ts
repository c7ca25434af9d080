import { type Database, sql } from '../database/sql.ts';
import { AppError } from '../lib/errors.ts';

/** What the rate headers of a counted response say. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

/** Counts requests of projects across processes. */
export interface RateLimiter {
  /**
   * Counts one request, or one that counts as several. Null when the limit is off or the count cannot be kept.
   * @throws 429 with nothing counted
   */
  take(projectId: string, requests?: number): Promise<RateState | null>;
  close(): Promise<void>;
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
 * A fixed window of 60 s for each project, kept in Postgres and shared by all processes. A process takes requests in
 * leases that shrink as the window fills, so most requests cost no round trip and the limit is never exceeded; what a
 * process does not use within a second goes back.
 */
export function createRateLimiter(db: Database, limit: number): RateLimiter {
  const leases = new Map<string, Lease>();

  const renew = async (projectId: string, lease: Lease) => {
    const free = lease.endsAt > Date.now() ? Math.max(0, limit - lease.used) : limit;
    const wanted = Math.max(1, Math.min(5_000, free, Math.max(lease.waiting - lease.left, Math.floor(free / 20))));
    const row = await takeLease(db, projectId, wanted, limit);
    if (row === null) return;
    const granted = Math.max(0, wanted - Math.max(0, row.used - limit));
    lease.left = granted + (row.startedAt === lease.startedAt ? lease.left : 0);
    lease.used = Math.min(limit, row.used);
    lease.startedAt = row.startedAt;
    lease.endsAt = Date.now() + row.endsInMs;
    // A full window is asked for again now and then, for other processes give back what they do not use.
    lease.renewAt = granted > 0 ? 0 : Date.now() + Math.min(1_000, row.endsInMs);
  };

  const release = (projectId: string, lease: Lease) => {
    if (lease.left === 0 || lease.endsAt <= Date.now()) return Promise.resolve(0);
    const unused = lease.left;
    lease.left = 0;
    lease.used -= unused;
    return db
      .count(sql`
        update rate_windows set used = greatest(0, least(used, ${limit}) - ${unused})
          where project_id = ${projectId} and started_at = ${lease.startedAt}::timestamptz`)
      .catch(() => 0);
  };

  return {
    async take(projectId, requests = 1) {
      if (limit === 0) return null;
      let lease = leases.get(projectId);
      if (!lease) {
        lease = { left: 0, used: 0, startedAt: '', endsAt: 0, renewAt: 0, pending: null, waiting: 0, idle: undefined };
        leases.set(projectId, lease);
      }
      // Several requests may wait for one lease and find it used up by those before them; each round grants at least
      // one request or tells that the window is full, so the loop ends.
      while (!isSettled(lease, requests)) {
        const current = lease;
        current.waiting += requests;
        current.pending ??= renew(projectId, current).finally(() => {
          current.pending = null;
        });
        try {
          await current.pending;
        } catch {
          return null; // the count cannot be reached: requests pass (contract page 1, 1.7)
        } finally {
          current.waiting -= requests;
        }
      }
      const resetSeconds = Math.max(1, Math.ceil((lease.endsAt - Date.now()) / 1000));
      if (lease.left < requests) throw tooMany(limit, limit - lease.used + lease.left, requests, resetSeconds);
      lease.left -= requests;
      if (lease.idle === undefined) {
        const watched = lease;
        watched.idle = setTimeout(() => {
          watched.idle = undefined;
          if (watched.waiting > 0) return;
          leases.delete(projectId);
          void release(projectId, watched);
        }, 1_000).unref();
      } else lease.idle.refresh();
      return { limit, remaining: limit - lease.used + lease.left, resetSeconds };
    },
    async close() {
      await Promise.all(
        [...leases].map(([projectId, lease]) => {
          clearTimeout(lease.idle);
          return release(projectId, lease);
        }),
      );
      leases.clear();
    },
  };
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

function tooMany(limit: number, remaining: number, requests: number, retryAfter: number): AppError {
  const message = `More than ${limit} requests in 60 seconds for this project; each recipient of POST /v1/send counts as one`;
  return new AppError(429, 'RATE_LIMIT_EXCEEDED', message, {
    details: { retryAfter },
    suggestion:
      requests >= limit
        ? `Name fewer than ${limit} recipients in one request.`
        : `Wait ${retryAfter} s, or ask the operator for a higher limit.`,
    headers: {
      'Retry-After': String(retryAfter),
      ...rateHeaders({ limit, remaining, resetSeconds: retryAfter }),
    },
  });
}
