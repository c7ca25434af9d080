import type { Logger } from 'pino';
import { startWokenLoop } from '../db/woken-loop.ts';
import type { Outbox } from './dispatcher.ts';
import { outboxChannel } from './enqueue.ts';

/** The loop in every worker that makes the calls a crash, an outage or a wave left in the outbox. */
export interface Relay {
  /** Stops looking; resolves when the calls that are under way have ended. */
  close(): Promise<void>;
}

/** What a relay is built from. */
export interface RelayDeps {
  outbox: Outbox;
  /** Postgres without a pooler that shares sessions, for LISTEN. */
  listenUrl: string;
  log: Logger;
  /** How long it waits for a notification before it looks anyway, in milliseconds. */
  pollMs?: number;
}

const batchSize = 100;

/** Starts the relay. It goes on through outages of Postgres and of Temporal, and says once that one began. */
export function startRelay({ outbox, listenUrl, log, pollMs = 1000 }: RelayDeps): Relay {
  return startWokenLoop({
    channel: outboxChannel,
    listenUrl,
    what: 'the outbox',
    log,
    retryMs: pollMs,
    // A row that came out may have freed the next one of its workflow id, so only an empty look ends the round.
    work: async () => ((await outbox.dispatchDue(batchSize)) === 0 ? pollMs : 0),
  });
}
