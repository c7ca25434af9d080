import type { Logger } from 'pino';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { isTemporalSetUp, restoreTemporal, TemporalSetupError } from '../../../temporal/setup.ts';
import { describeFailure } from '../../core/lib/grpc.ts';
import { pause } from '../../core/lib/time.ts';

/** Keeps namespace, search attributes and schedules in the Temporal store. One for each process. */
export interface TemporalPreparation {
  /**
   * Makes what is missing, as `npm run migrate` does, and says so once. Answers null when all is there, else why Temporal
   * cannot be used. Calls at the same time share one look.
   */
  ensure(): Promise<string | null>;
  /** Has `ensure` run soon, in the background. */
  soon(): void;
  /** Looks no more; a look that is under way ends when the connection is closed. */
  close(): void;
}

/** What keeping Temporal prepared needs. */
export interface TemporalPreparationDeps {
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
  /** Setting TEMPORAL_SETUP. */
  mayMake: boolean;
  /** How often the store is looked at when nobody asks for it, in milliseconds. */
  everyMs?: number;
}

// A store is emptied rarely, and the outbox tells of it at once.
const usualEveryMs = 60_000;

/** Starts to keep Temporal prepared, with a look right away. */
export function keepTemporalPrepared(deps: TemporalPreparationDeps): TemporalPreparation {
  const { temporal, queuePrefix, log, mayMake, everyMs = usualEveryMs } = deps;
  const stopping = new AbortController();
  let wake = new AbortController();
  let underWay: Promise<string | null> | null = null;
  let refusal: string | null = null;

  const ensure = (): Promise<string | null> => {
    underWay ??= prepare().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  void look();
  return {
    ensure,
    soon: () => wake.abort(),
    close() {
      stopping.abort();
      wake.abort();
    },
  };

  async function look(): Promise<void> {
    while (!stopping.signal.aborted) {
      await ensure();
      await pause(everyMs, wake.signal);
      if (!stopping.signal.aborted) wake = new AbortController();
    }
  }

  async function prepare(): Promise<string | null> {
    try {
      if (!(await isTemporalSetUp(temporal, queuePrefix))) {
        if (!mayMake) return lacking('run "npm run migrate", or set TEMPORAL_SETUP=true');
        const made = await restoreTemporal(temporal, queuePrefix);
        if (made.length > 0)
          log.warn({ made }, 'the Temporal store is new or was emptied: what it lacked was made again');
      }
      refusal = null;
      return null;
    } catch (error) {
      if (!(error instanceof TemporalSetupError)) return describeFailure(error, temporal.settings);
      return lacking(error.message);
    }
  }

  // Only an operator can help, who has to be told once.
  function lacking(advice: string): string {
    const text = `the Temporal store lacks its namespace, search attributes or schedules: ${advice}`;
    if (advice !== refusal) log.error(text);
    refusal = advice;
    return text;
  }
}
