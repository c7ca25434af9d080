import { Client } from 'pg';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';

/** Work that a notification of Postgres wakes, and that is looked for now and then in case one was lost. */
export interface WokenLoopDeps {
  /** The channel to LISTEN on. */
  channel: string;
  /** Postgres without a pooler that shares sessions. */
  listenUrl: string;
  /** Does what there is to do; answers after how many milliseconds to re-check, unless a notification comes first. */
  work(): Promise<number>;
  /** What it is, for the log. */
  what: string;
  log: Logger;
  /** How long it waits after a failure, in milliseconds. */
  retryMs?: number;
}

/** Starts the loop; `close` resolves when what is under way has ended. It goes on through outages and says once that one began. */
export function startWokenLoop({ channel, listenUrl, work, what, log, retryMs = 1000 }: WokenLoopDeps): {
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
      let pauseMs = retryMs;
      try {
        pauseMs = await work();
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ err: error }, `${what} failed; it goes on`);
        failing = true;
      }
      if (pauseMs > 0 && !stop.signal.aborted) await pause(pauseMs, wakeUp.signal);
    }
  }

  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      const client = new Client({
        connectionString: listenUrl,
        application_name: channel.replaceAll('_', '-'),
        keepAlive: true,
        connectionTimeoutMillis: 10_000,
      });
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
      await pause(retryMs, stop.signal);
    }
  }
}
