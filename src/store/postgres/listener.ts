import { Client } from 'pg';
import type { Logger } from 'pino';
import { wait } from './connection.ts';

interface ListenerDeps {
  /** Postgres without a pooler that shares sessions. */
  url: string;
  channel: string;
  /** How long it waits before it connects again, in milliseconds. */
  retryMs: number;
  /** From now on every notification is heard; what was sent before may have been missed. */
  onOpen(client: Client): void;
  /** A promise that rejects ends the connection. */
  onNotification(payload: string, client: Client): unknown;
  /** The connection is gone, or could not be made. */
  onLost?(error: Error | undefined): void;
}

/** Shown in `pg_stat_activity`: who listens on a channel. */
export const listenerName = (channel: string) => channel.replaceAll('_', '-');

/** Listens on a channel, through outages, until `close`. */
export function listenOn(deps: ListenerDeps): { close(): Promise<void> } {
  const stop = new AbortController();
  let hangUp = () => {};
  const listening = listen();
  return {
    close() {
      stop.abort();
      hangUp();
      return listening;
    },
  };

  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      const client = new Client({
        connectionString: deps.url,
        application_name: listenerName(deps.channel),
        keepAlive: true,
        connectionTimeoutMillis: 10_000,
      });
      const { promise: lost, resolve: lose } = Promise.withResolvers<Error | undefined>();
      hangUp = () => lose(undefined);
      client.on('error', lose);
      client.on('end', hangUp);
      client.on('notification', ({ payload = '' }) => {
        Promise.resolve(deps.onNotification(payload, client)).catch(lose);
      });
      const opened = client
        .connect()
        .then(() => client.query(`listen ${deps.channel}`))
        .then(() => {
          if (!stop.signal.aborted) deps.onOpen(client);
        });
      opened.catch(lose);
      const error = await lost;
      if (!stop.signal.aborted) deps.onLost?.(error);
      await client.end().catch(() => undefined);
      await wait(deps.retryMs, stop.signal);
    }
  }
}

/** Work that a notification of Postgres wakes, and that is looked for now and then in case one was lost. */
interface WokenLoopDeps {
  /** The channel to LISTEN on. */
  channel: string;
  /** Postgres without a pooler that shares sessions. */
  listenUrl: string;
  /** Does what there is to do; answers after how many milliseconds to re-check, unless a notification comes first. */
  work(): Promise<number>;
  /** Its name in the log. */
  what: string;
  log: Logger;
  /** How long it waits after a failure, in milliseconds. */
  retryMs?: number;
}

/** Starts the loop; `close` resolves when what is under way has ended. It goes on through outages and logs once that one began. */
export function startWokenLoop({ channel, listenUrl, work, what, log, retryMs = 1000 }: WokenLoopDeps): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();
  const working = loop();
  // Commits during a lost connection are found when it is back.
  const listener = listenOn({ url: listenUrl, channel, retryMs, onOpen: wake, onNotification: wake });
  return {
    async close() {
      stop.abort();
      wake();
      await Promise.all([working, listener.close()]);
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
      if (pauseMs > 0 && !stop.signal.aborted) await wait(pauseMs, wakeUp.signal);
    }
  }
}
