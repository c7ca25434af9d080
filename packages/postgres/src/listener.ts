import { Client } from 'pg';
import { wait } from './wait.ts';

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
