import { Client } from 'pg';
import type { Logger } from 'pino';

/** Tells caches of this process which rows changed, wherever the change was made. */
export interface Changes {
  /** True while changes are being heard; a cache must not be trusted otherwise. */
  readonly listening: boolean;
  /** Calls back with the table and project of each change; with null when changes may have been missed. */
  subscribe(listener: (change: { table: string; projectId: string } | null) => void): void;
  close(): Promise<void>;
}

const channel = 'posthorn_changes';

/**
 * Listens for the notifications that triggers send when projects, domains and templates change.
 * Reconnects by itself; while it is not connected, caches load from the database each time.
 */
export function listenForChanges(url: string, log: Logger): Changes {
  const listeners: ((change: { table: string; projectId: string } | null) => void)[] = [];
  const tell = (change: { table: string; projectId: string } | null) => {
    for (const listener of listeners) listener(change);
  };
  let client: Client | null = null;
  let listening = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const lost = (error?: Error) => {
    if (closed || client === null) return;
    client.removeAllListeners();
    client.on('error', () => undefined);
    client.end().catch(() => undefined);
    client = null;
    listening = false;
    tell(null);
    if (error)
      log.warn({ err: error.message }, 'lost the connection that hears changes; caches are off until it is back');
    retry = setTimeout(connect, 500);
  };
  const connect = () => {
    if (closed) return;
    const fresh = new Client({ connectionString: url, application_name: 'posthorn-changes', keepAlive: true });
    client = fresh;
    fresh.on('error', lost);
    fresh.on('end', () => lost());
    fresh.on('notification', ({ payload = '' }) => {
      const colon = payload.indexOf(':');
      if (colon !== -1) tell({ table: payload.slice(0, colon), projectId: payload.slice(colon + 1) });
    });
    fresh
      .connect()
      .then(() => fresh.query(`listen ${channel}`))
      .then(() => {
        if (client !== fresh) return;
        tell(null);
        listening = true;
      })
      .catch(lost);
  };
  connect();

  return {
    get listening() {
      return listening;
    },
    subscribe: (listener) => void listeners.push(listener),
    async close() {
      closed = true;
      clearTimeout(retry);
      const open = client;
      client = null;
      await open?.end().catch(() => undefined);
    },
  };
}

/**
 * A cache of one value for each key of a project, emptied when one of the tables changes for that project.
 * A value that was being loaded while its project changed is used once and not kept.
 */
export function createCache<Value>(changes: Changes, tables: readonly string[], maxEntries = 10_000) {
  const entries = new Map<string, { projectId: string; value: Value }>();
  let epoch = 0;
  const epochs = new Map<string, number>();
  changes.subscribe((change) => {
    if (change === null) {
      epoch++;
      epochs.clear();
      entries.clear();
    } else if (tables.includes(change.table)) {
      epochs.set(change.projectId, (epochs.get(change.projectId) ?? 0) + 1);
      if (epochs.size > maxEntries) {
        epoch++;
        epochs.clear();
        entries.clear();
      }
      for (const [key, entry] of entries) if (entry.projectId === change.projectId) entries.delete(key);
    }
  });
  return {
    /** The kept value, or undefined. */
    peek: (key: string): Value | undefined => entries.get(key)?.value,
    /** The value, loaded when it is not kept. `null` is never kept, so that a new row is seen at once. */
    async get(key: string, load: () => Promise<{ projectId: string; value: Value } | null>): Promise<Value | null> {
      const kept = entries.get(key);
      if (kept) return kept.value;
      const epochBefore = epoch;
      const before = new Map(epochs);
      const loaded = await load();
      if (loaded === null) return null;
      const unchanged =
        changes.listening && epoch === epochBefore && epochs.get(loaded.projectId) === before.get(loaded.projectId);
      if (unchanged) {
        if (entries.size >= maxEntries) entries.delete(entries.keys().next().value as string);
        entries.set(key, { projectId: loaded.projectId, value: loaded.value });
      }
      return loaded.value;
    },
    /** Forgets a project's values in this process at once, without waiting for the notification. */
    forget(projectId: string): void {
      epochs.set(projectId, (epochs.get(projectId) ?? 0) + 1);
      for (const [key, entry] of entries) if (entry.projectId === projectId) entries.delete(key);
    },
  };
}
