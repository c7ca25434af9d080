import { startWokenLoop } from '@fernpost/postgres';
import type { Logger } from 'pino';
import type { Command } from '../../../temporal/commands.ts';
import type { Outbox } from './dispatcher.ts';
import { outboxChannel } from './enqueue.ts';
import type { UnderWay } from './under-way.ts';

interface RelayDeps {
  outbox: Outbox;
  /** Postgres without a pooler that shares sessions, for LISTEN. */
  listenUrl: string;
  log: Logger;
  /** Holds back wakes of automations while enough of them are under way; without it they are made as they come. */
  wakes?: Pick<UnderWay<Command>, 'add' | 'remaining'>;
  /** How long it waits for a notification before it looks anyway, in milliseconds. */
  pollMs?: number;
}

const batchSize = 100;
// How soon wakes that were held back are checked again.
const heldBackMs = 20;

/**
 * Starts the loop in every worker that makes the calls a crash, an outage or a wave left in the outbox. It goes on through
 * outages of Postgres and of Temporal, and logs once that one began.
 */
export function startRelay({ outbox, listenUrl, log, wakes, pollMs = 1000 }: RelayDeps): { close(): Promise<void> } {
  return startWokenLoop({
    channel: outboxChannel,
    listenUrl,
    what: 'the outbox',
    log,
    retryMs: pollMs,
    // A row that came out may have freed the next one of its workflow id, so only an empty round ends it.
    async work() {
      const others = await outbox.dispatchDue(batchSize, 'others');
      const most = wakes === undefined ? batchSize : await wakes.remaining();
      const woken = most === 0 ? 0 : await outbox.dispatchDue(most, 'wakes', (command) => wakes?.add(command));
      if (others + woken > 0) return 0;
      return most === 0 ? heldBackMs : pollMs;
    },
  });
}
