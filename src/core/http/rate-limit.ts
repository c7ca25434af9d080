import { LeasedRateLimit, type RateState, type RateWindow, type WindowStore } from '@fernpost/rate-leases';
import { type Database, sql } from '../database/sql.ts';
import { AppError } from '../lib/errors.ts';

/** Counts requests of projects: a fixed window of 60 s for each project, kept in Postgres and shared by all processes. */
export class RateLimiter {
  readonly #leases: LeasedRateLimit | null;

  /** `limit`: requests a minute; 0 turns it off. */
  constructor(db: Database, limit: number) {
    this.#leases = limit === 0 ? null : new LeasedRateLimit(windowsIn(db), limit);
  }

  /**
   * Counts one request, or one that counts as several. Null when the limit is off or the count cannot be kept: such requests pass
   * (contract page 1, 1.7).
   * @throws 429 with nothing counted
   */
  async take(projectId: string, requests = 1): Promise<RateState | null> {
    const state = (await this.#leases?.take(projectId, requests)) ?? null;
    if (state?.admitted === false) throw tooMany(requests, state);
    return state;
  }

  /** Gives back what is not used. */
  async close(): Promise<void> {
    await this.#leases?.close();
  }
}

function windowsIn(db: Database): WindowStore {
  return {
    async take(projectId, requests, limit) {
      const isOver = sql`w.started_at <= clock_timestamp() - interval '60 seconds'`;
      const window = await db.row<RateWindow>(sql`
        insert into rate_windows as w (project_id, started_at, used) values (${projectId}, clock_timestamp(), ${requests})
          on conflict (project_id) do update set
            started_at = case when ${isOver} then clock_timestamp() else w.started_at end,
            used = case when ${isOver} then excluded.used else least(w.used, ${limit}) + excluded.used end
          returning used, started_at::text as "startedAt",
            greatest(0, 60000 - extract(epoch from clock_timestamp() - started_at) * 1000)::float8 as "endsInMs"`);
      if (window === null) throw new Error('The rate window was not answered');
      return window;
    },
    giveBack: (projectId, startedAt, requests, limit) =>
      db.count(sql`
        update rate_windows set used = greatest(0, least(used, ${limit}) - ${requests})
          where project_id = ${projectId} and started_at = ${startedAt}::timestamptz`),
  };
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
