import { Client } from 'pg';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';
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
  const stop = new AbortController();
  let wakeUp = new AbortController();
  let hangUp = () => {};
  const looking = look();
  const listening = listen();
  return {
    async close() {
      stop.abort();
      wakeUp.abort();
      hangUp();
      await Promise.all([looking, listening]);
    },
  };

  async function look(): Promise<void> {
    let failing = false;
    while (!stop.signal.aborted) {
      wakeUp = new AbortController();
      let taken = 0;
      try {
        taken = await outbox.dispatchDue(batchSize);
        if (failing) log.info('outbox: Postgres is back');
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ err: error }, 'outbox: Postgres cannot be asked; trying again every second');
        failing = true;
      }
      // A row that came out may have freed the next one of its workflow id, so only an empty look ends the round.
      if (taken === 0 && !stop.signal.aborted) await pause(pollMs, wakeUp.signal);
    }
  }

  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      const client = new Client({ connectionString: listenUrl, application_name: 'posthorn-outbox', keepAlive: true });
      const lost = new Promise<void>((resolve) => {
        hangUp = resolve;
        client.on('error', () => resolve());
        client.on('end', resolve);
      });
      client.on('notification', () => wakeUp.abort());
      try {
        await client.connect();
        await client.query(`listen ${outboxChannel}`);
        // What was committed while nobody listened.
        wakeUp.abort();
        if (!stop.signal.aborted) await lost;
      } catch {
        // The loop above says that Postgres is away; polling replaces notifications until the next attempt.
      }
      await client.end().catch(() => undefined);
      await pause(pollMs, stop.signal);
    }
  }
}
