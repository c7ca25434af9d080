import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { pause } from '../lib/time.ts';
import { listenerName, listenOn } from './postgres/listener.ts';
import type { Database } from './sql.ts';

/** The time by the clock of Postgres, which all processes share: what is stored to happen later is compared with it. */
export async function databaseNow(db: Database): Promise<Date> {
  const row = await db.row<{ ms: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms');
  if (row === null) throw new Error('Postgres did not answer');
  return new Date(row.ms);
}

/** `databaseNow` that is asked once, and only where it is needed. */
export function sharedDatabaseNow(db: Database): () => Promise<Date> {
  let now: Promise<Date> | undefined;
  return () => {
    now ??= databaseNow(db);
    return now;
  };
}

/** Rows of a table changed for a project; `null` stands for every table. */
interface Change {
  table: string | null;
  projectId: string;
}

/** Says which rows changed to the caches of this process, wherever the change was made. */
export interface Changes {
  /** True while changes are being heard; a cache must not be trusted otherwise. */
  readonly listening: boolean;
  /** Calls back with the table and project of each change; with null when changes may have been missed. */
  subscribe(listener: (change: Change | null) => void): void;
  /** Empties the caches of this process for a project at once, without waiting for the notification. */
  forget(projectId: string): void;
  /**
   * Resolves once every process that listens has heard what was committed before the call. A process that does not answer
   * within a second is not waited for: it has lost its connection, or is about to, and then it caches nothing.
   */
  heardEverywhere(): Promise<void>;
  close(): Promise<void>;
}

const channel = 'fernpost_changes';
const longestWaitMs = 1_000;
// Not tables: one process asks who has heard all so far, the others answer. Notifications of one channel keep their order.
const asked = 'ask';
const answered = 'heard';

/**
 * Listens for the notifications that triggers send when projects, domains and templates change.
 * Reconnects by itself; while it is not connected, caches load from the database each time.
 */
export function listenForChanges(url: string, log: Logger): Changes {
  const listeners: ((change: Change | null) => void)[] = [];
  const waiting = new Map<string, () => void>();
  // A connection takes one statement at a time.
  const inTurn = pLimit(1);
  const emit = (change: Change | null) => {
    for (const listener of listeners) listener(change);
  };
  let client: Client | null = null;
  const listener = listenOn({
    url,
    channel,
    retryMs: 500,
    onOpen(opened) {
      emit(null);
      client = opened;
    },
    onNotification(payload, heardBy) {
      const colon = payload.indexOf(':');
      if (colon === -1) return;
      const [table, projectId] = [payload.slice(0, colon), payload.slice(colon + 1)];
      if (table === asked) return inTurn(() => say(heardBy, answered, projectId));
      if (table === answered) waiting.get(projectId)?.();
      else emit({ table, projectId });
    },
    onLost(error) {
      client = null;
      emit(null);
      if (error)
        log.warn({ err: error.message }, 'lost the connection that hears changes; caches are off until it is back');
    },
  });

  return {
    get listening() {
      return client !== null;
    },
    subscribe: (added) => void listeners.push(added),
    forget: (projectId) => emit({ table: null, projectId }),
    async heardEverywhere() {
      const own = client;
      if (own === null) return pause(longestWaitMs);
      const token = randomUUID();
      const over = new AbortController();
      let heard = 0;
      let all = Number.POSITIVE_INFINITY;
      const everybody = new Promise<void>((resolve) => {
        waiting.set(token, () => {
          if (++heard >= all) resolve();
        });
      });
      try {
        all = await inTurn(() => countListeners(own));
        await inTurn(() => say(own, asked, token));
        await Promise.race([everybody, pause(longestWaitMs, over.signal)]);
      } finally {
        waiting.delete(token);
        over.abort();
      }
    },
    close() {
      client = null;
      return listener.close();
    },
  };
}

function say(client: Client, word: string, token: string): Promise<unknown> {
  return client.query('select pg_notify($1, $2)', [channel, `${word}:${token}`]);
}

async function countListeners(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from pg_stat_activity where application_name = $1 and datname = current_database()',
    [listenerName(channel)],
  );
  return rows[0]?.count ?? 1;
}

/**
 * A cache of one value for each key of a project, emptied when one of the tables changes for that project.
 * A value that was being loaded while its project changed is used once and not kept.
 */
export function createCache<Value>(changes: Changes, tables: readonly string[], maxEntries = 10_000) {
  const entries = new LRUCache<string, { projectId: string; value: Value }>({ max: maxEntries });
  let epoch = 0;
  const epochs = new Map<string, number>();
  changes.subscribe((change) => {
    if (change === null) {
      epoch++;
      epochs.clear();
      entries.clear();
    } else if (change.table === null || tables.includes(change.table)) {
      epochs.set(change.projectId, (epochs.get(change.projectId) ?? 0) + 1);
      if (epochs.size > maxEntries) {
        epoch++;
        epochs.clear();
        entries.clear();
      }
      for (const [key, entry] of [...entries]) if (entry.projectId === change.projectId) entries.delete(key);
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
      if (unchanged) entries.set(key, { projectId: loaded.projectId, value: loaded.value });
      return loaded.value;
    },
  };
}
