import { Client } from 'pg';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';

/** Work that a notification of Postgres wakes, and that is looked for now and then in case one was lost. */
export interface WokenLoopDeps {
  /** The channel to LISTEN on. */
  channel: string;
  /** Postgres without a pooler that shares sessions. */
  listenUrl: string;
  /** Does what there is to do; answers whether there is more to do at once. */
  work(): Promise<boolean>;
  /** What it is, for the log. */
  what: string;
  log: Logger;
  /** How long it waits for a notification before it looks anyway, in milliseconds. */
  pollMs?: number;
}

/** Starts the loop; `close` resolves when what is under way has ended. It goes on through outages and says once that one began. */
export function startWokenLoop({ channel, listenUrl, work, what, log, pollMs = 1000 }: WokenLoopDeps): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  let wakeUp = new AbortController();
  let hangUp = () => {};
  const working = loop();
  const listening = listen();
  return {
    async close() {
      stop.abort();
      wakeUp.abort();
      hangUp();
      await Promise.all([working, listening]);
    },
  };

  async function loop(): Promise<void> {
    let failing = false;
    while (!stop.signal.aborted) {
      wakeUp = new AbortController();
      let more = false;
      try {
        more = await work();
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ err: error }, `${what} failed; it goes on`);
        failing = true;
      }
      if (!more && !stop.signal.aborted) await pause(pollMs, wakeUp.signal);
    }
  }

  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      const client = new Client({ connectionString: listenUrl, application_name: 'posthorn-woken', keepAlive: true });
      const lost = new Promise<void>((resolve) => {
        hangUp = resolve;
        client.on('error', () => resolve());
        client.on('end', resolve);
      });
      client.on('notification', () => wakeUp.abort());
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
        // What was committed while nobody listened.
        wakeUp.abort();
        if (!stop.signal.aborted) await lost;
      } catch {
        // The loop goes on by looking now and then until the connection is back.
      }
      await client.end().catch(() => undefined);
      await pause(pollMs, stop.signal);
    }
  }
}
