import { AppError } from '../lib/errors.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import type { Admitted } from './context.ts';
import { LeasedRateLimit, type RateState, type RateWindow, type WindowStore } from './rate-leases.ts';

/**
 * Counts requests of projects: a fixed window of 60 s for each project, and one for its public key where that is apart. The windows are
 * kept in Postgres and shared by all processes.
 */
export class RateLimiter {
  readonly #limit: number;
  readonly #ofProjects: LeasedRateLimit;
  readonly #ofPublicKeys: LeasedRateLimit;

  /** `limit`: requests a minute; 0 turns it off, except for public keys with a window of their own. */
  constructor(db: Database, limit: number) {
    this.#limit = limit;
    this.#ofProjects = new LeasedRateLimit(windowsIn(db, projectWindow), limit);
    this.#ofPublicKeys = new LeasedRateLimit(windowsIn(db, publicKeyWindow), limit);
  }

  /**
   * Counts one request, or one that counts as several; with `apart` in the window of the public key. Null when the limit is off or the
   * count cannot be kept: such requests pass (docs/contract/core.md#1-7).
   * @throws 429 with nothing counted
   */
  async take(projectId: string, requests = 1, apart: Admitted['apart'] = null): Promise<RateState | null> {
    const state = await this.#count(projectId, requests, apart);
    if (state?.admitted === false) throw tooMany(requests, state, apart !== null);
    return state;
  }

  #count(projectId: string, requests: number, apart: Admitted['apart']): Promise<RateState | null> | null {
    if (apart !== null) {
      const most = this.#limit === 0 ? apart.requestsPerMinute : Math.min(this.#limit, apart.requestsPerMinute);
      return this.#ofPublicKeys.take(projectId, requests, most);
    }
    return this.#limit === 0 ? null : this.#ofProjects.take(projectId, requests);
  }

  /** Gives back what is not used. */
  async close(): Promise<void> {
    await Promise.all([this.#ofProjects.close(), this.#ofPublicKeys.close()]);
  }
}

const projectWindow = { start: raw('started_at'), used: raw('used') };
const publicKeyWindow = { start: raw('public_started_at'), used: raw('public_used') };

function windowsIn(db: Database, { start, used }: typeof projectWindow): WindowStore {
  return {
    async take(projectId, requests, limit) {
      // The row may have been made by the other window; then this one has not started yet.
      const window = await db.row<RateWindow>(sql`
        insert into rate_windows as w (project_id, ${start}, ${used}) values (${projectId}, clock_timestamp(), ${requests})
          on conflict (project_id) do update set
            ${start} = case when w.${start} > clock_timestamp() - interval '60 seconds' then w.${start} else clock_timestamp() end,
            ${used} = case when w.${start} > clock_timestamp() - interval '60 seconds'
              then least(w.${used}, ${limit}) + excluded.${used} else excluded.${used} end
          returning ${used} as used, ${start}::text as "startedAt",
            greatest(0, 60000 - extract(epoch from clock_timestamp() - ${start}) * 1000)::float8 as "endsInMs"`);
      if (window === null) throw new Error('The rate window was not answered');
      return window;
    },
    giveBack: (projectId, startedAt, requests, limit) =>
      db.count(sql`
        update rate_windows set ${used} = greatest(0, least(${used}, ${limit}) - ${requests})
          where project_id = ${projectId} and ${start} = ${startedAt}::timestamptz`),
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

function tooMany(requests: number, state: RateState, isPublic: boolean): AppError {
  const { limit, resetSeconds: retryAfter } = state;
  const message = isPublic
    ? `More than ${limit} requests in 60 seconds with the public key of this project`
    : `More than ${limit} requests in 60 seconds for this project; each recipient of POST /v1/send counts as one`;
  return new AppError(429, 'RATE_LIMIT_EXCEEDED', message, {
    details: { retryAfter },
    suggestion:
      requests >= limit
        ? `Name fewer than ${limit} recipients in one request.`
        : `Wait ${retryAfter} s, or ask the operator for a higher limit.`,
    headers: { 'Retry-After': String(retryAfter), ...rateHeaders(state) },
  });
}
