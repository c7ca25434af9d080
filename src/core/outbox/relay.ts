import type { Logger } from 'pino';
import type { Command } from '../../../temporal/commands.ts';
import { startWokenLoop } from '../database/woken-loop.ts';
import type { Outbox } from './dispatcher.ts';
import { outboxChannel } from './enqueue.ts';
import type { UnderWay } from './under-way.ts';

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
  /** Holds back wakes of automations while enough of them are under way; without it they are made as they come. */
  wakes?: UnderWay<Command>;
  /** How long it waits for a notification before it looks anyway, in milliseconds. */
  pollMs?: number;
}

const batchSize = 100;
// How soon wakes that were held back are looked at again.
const heldBackMs = 20;

/** Starts the relay. It goes on through outages of Postgres and of Temporal, and says once that one began. */
export function startRelay({ outbox, listenUrl, log, wakes, pollMs = 1000 }: RelayDeps): Relay {
  return startWokenLoop({
    channel: outboxChannel,
    listenUrl,
    what: 'the outbox',
    log,
    retryMs: pollMs,
    // A row that came out may have freed the next one of its workflow id, so only an empty look ends the round.
    async work() {
      const others = await outbox.dispatchDue(batchSize, 'others');
      const room = wakes === undefined ? batchSize : await wakes.room();
      const woken = room === 0 ? 0 : await outbox.dispatchDue(room, 'wakes', (command) => wakes?.add(command));
      if (others + woken > 0) return 0;
      return room === 0 ? heldBackMs : pollMs;
    },
  });
}
