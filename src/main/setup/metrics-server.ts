import { checkTemporal, type TemporalConnection } from '../../../temporal/connection.ts';
import { serve } from '../../http/server/server.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Clock, within } from '../../lib/time.ts';
import { openSidePool, type Store } from '../../store/orm.ts';
import { databaseProblem } from '../../store/readiness.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { SdkMetricsUrl } from '../worker/temporal-workers.ts';
import { sideDatabase } from './database-settings.ts';

interface State {
  nowMs: number;
  /** Seconds since the reconciler last ran; null when it never has. */
  passAge: number | null;
  /** Seconds for which work of the outbox has waited while none was started, and what an attempt to start it came to. */
  workAge: number | null;
  workError: string | null;
}

const mostClockDifferenceMs = 30_000;
// It runs every minute, and the first one after a start of Temporal may be late.
const longestPassAge = 180;
const longestWorkAge = 60;

/**
 * Finds what is about to go wrong while Postgres and Temporal answer: a clock that differs from that of Postgres, and a Temporal that starts nothing,
 * as when its store cannot write: calls that only read are answered then.
 */
async function readinessWarnings(db: Database, queuePrefix: string, clock: Clock): Promise<string[]> {
  const asked = clock().getTime();
  const state = await db.row<State>(sql`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs", pass.age as "passAge", work.age as "workAge",
      work.error as "workError"
    from (values (1)) one
    left join (
      select extract(epoch from now() - seen_at)::float8 as age from temporal_stores where task_queue = ${queuePrefix}) pass on true
    left join (
      select extract(epoch from now() - min(created_at))::float8 as age, max(last_error) as error
      from (
        select created_at, last_error, next_attempt_at from outbox
        where done_at is null and (kind <> 'signal' or workflow_id not like 'automation/%')
        order by next_attempt_at, id limit 100) next
      where (next_attempt_at <= now() or last_error is not null)
        and not exists (select from outbox where done_at > now() - ${longestWorkAge}::int * interval '1 second')) work on true`);
  if (state === null) return [];
  const warnings: string[] = [];
  const differenceMs = (asked + clock().getTime()) / 2 - state.nowMs;
  if (Math.abs(differenceMs) > mostClockDifferenceMs)
    warnings.push(
      `the clock of this process is ${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} that of Postgres: synchronize both machines`,
    );
  if (state.workAge !== null && state.workAge > longestWorkAge)
    warnings.push(
      `Temporal has started no work for ${minutes(state.workAge)}, although it may answer${state.workError === null ? '' : ` (${state.workError})`}: see whether its store can write`,
    );
  else if (state.passAge !== null && state.passAge > longestPassAge)
    warnings.push(
      `the reconciler has not run for ${minutes(state.passAge)}: no worker runs, or Temporal's store cannot write`,
    );
  return warnings;
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** Checks of the service that work while requests hold every connection of their pool. */
interface Health {
  /** Each returns `ok`, or what is wrong, within a second. Questions about Postgres at the same time are one. */
  checks: Record<'postgres' | 'temporal', () => Promise<string>>;
  /** Returns what is about to go wrong while both dependencies answer; nothing when that cannot be found out within a second. */
  warnings(): Promise<string[]>;
  /** For the figures of `/metrics`. */
  figures: Database;
  close(): Promise<void>;
}

const answerWithinMs = 1_000;

interface HealthDeps {
  config: Config;
  store: Store;
  temporal: TemporalConnection;
  clock: Clock;
}

/** Opens two connections of their own, one for readiness and one for figures, each when it is first needed. */
export function openHealth({ config, store, temporal, clock }: HealthDeps): Health {
  const readiness = openSidePool(sideDatabase(config, 'fernpost-ready', answerWithinMs), store);
  const figures = openSidePool(sideDatabase(config, 'fernpost-metrics', 5_000), store);
  let pending: Promise<string> | null = null;
  return {
    checks: {
      postgres() {
        pending ??= answerInTime(databaseProblem(readiness.db, config.READY_ON_NEWER_SCHEMA)).finally(() => {
          pending = null;
        });
        return pending;
      },
      temporal: async () => (await checkTemporal(temporal, answerWithinMs)) ?? 'ok',
    },
    warnings: () =>
      within(
        answerWithinMs,
        readinessWarnings(readiness.db, config.TEMPORAL_TASK_QUEUE, clock).catch(() => []),
        [],
      ),
    figures: figures.db,
    close: async () => void (await Promise.all([readiness.close(), figures.close()])),
  };
}

async function answerInTime(problem: Promise<string | null>): Promise<string> {
  const late = new Promise<string>((resolve) => {
    setTimeout(resolve, answerWithinMs, 'no answer within a second').unref();
  });
  return Promise.race([
    problem.then(
      (found) => found ?? 'ok',
      (error: Error) => error.message || 'cannot be reached',
    ),
    late,
  ]);
}

/** The source of the response to `GET /metrics`. */
interface MetricsSource {
  contentType: string;
  text(): Promise<string>;
  /** Answers `GET /ready`; without it the path does not exist. */
  isReady?: () => boolean;
}

/** A port of metrics that is open. */
export interface MetricsServer {
  /** Lets a reader finish, for a second at most. */
  close(): Promise<unknown>;
}

const figuresMayTakeMs = 1_000;

/** Serves `GET /health`, `GET /metrics` and, where the source has it, `GET /ready` on a port of their own. @throws EADDRINUSE and its like */
export async function serveMetrics(port: number, host: string, source: MetricsSource): Promise<MetricsServer> {
  const server = await serve(
    (request, response) => {
      void answer(request.url ?? '').then(
        ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
        (error: Error) => response.writeHead(500, { 'content-type': 'text/plain' }).end(error.message),
      );
    },
    { port, host },
  );
  return { close: () => server.stop({ graceMs: figuresMayTakeMs }) };

  async function answer(url: string): Promise<{ status: number; type: string; body: string }> {
    const path = url.split('?', 1)[0];
    if (path === '/health') return { status: 200, type: 'application/json', body: '{"status":"ok"}' };
    if (path === '/ready' && source.isReady) {
      const ready = source.isReady();
      const body = JSON.stringify({ status: ready ? 'ok' : 'unavailable' });
      return { status: ready ? 200 : 503, type: 'application/json', body };
    }
    if (path !== '/metrics') return { status: 404, type: 'text/plain', body: 'Only /health and /metrics are here\n' };
    return { status: 200, type: source.contentType, body: await source.text() };
  }
}

/** The figures of the Temporal SDK as text; empty when it does not answer, for our own are worth having without them. */
export async function sdkMetrics(url: SdkMetricsUrl): Promise<string> {
  if (url === null) return '';
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text();
  } catch {
    return '';
  }
}
