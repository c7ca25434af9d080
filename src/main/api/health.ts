import { checkTemporal, type TemporalConnection } from '../../../temporal/connection.ts';
import type { Config } from '../../core/config/config.ts';
import { openSidePool, type Store } from '../../core/database/orm.ts';
import { databaseProblem } from '../../core/database/readiness.ts';
import type { Database } from '../../core/database/sql.ts';
import { type Clock, within } from '../../core/lib/time.ts';
import { sideDatabase } from '../setup/database-settings.ts';
import { readinessWarnings } from './warnings.ts';

/** What is asked about the service while requests hold every connection of their pool. */
export interface Health {
  /** Each returns `ok`, or what is wrong, within a second. Questions about Postgres at the same time are one. */
  checks: Record<'postgres' | 'temporal', () => Promise<string>>;
  /** What is about to go wrong while both dependencies answer; nothing when that cannot be found out within a second. */
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
