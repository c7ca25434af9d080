import { randomBytes } from 'node:crypto';
import { Client, type ClientBase, type Pool, type PoolConfig } from 'pg';
import { wait } from './wait.ts';

/** How long a process waits for Postgres at most, in milliseconds; null is no limit. */
interface WaitLimits {
  /** For a connection: a free one of the pool, or a new one. */
  connectionMs: number;
  /** For a statement. */
  statementMs: number | null;
  /** For a lock, as a part of its statement. */
  lockMs: number | null;
  /** For the next statement of a transaction; then Postgres rolls it back and frees its locks. */
  idleInTransactionMs: number | null;
}

/** How to reach Postgres. */
export interface ConnectionSettings {
  url: string;
  /** Most connections this process may hold. */
  poolSize: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Without them nothing has an end. */
  limits?: WaitLimits;
}

/** What stands between this process and Postgres. */
export interface ConnectionRoute {
  /** A pooler such as PgBouncer: a connection of ours is not a session of Postgres. */
  pooled: boolean;
  /** Whether statements can be prepared by name. A pooler that does not rename them mixes up those of different processes. */
  prepares: boolean;
}

/** An address of Postgres that cannot be used as it is; the message names its setting and says what to do. */
export class DatabaseAddressError extends Error {
  override name = 'DatabaseAddressError';
}

const connectWithinMs = 10_000;

/** Connects once and finds out what is in between. Rejects as `pg` does when nothing answers. */
export function inspectRoute(url: string): Promise<ConnectionRoute> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // A pooler answers for many servers, and so with a process number of its own making.
    const pooled = rows[0]?.pid !== (client as Client & { processID?: number }).processID;
    return { pooled, prepares: !pooled || !(await passesNames(client)) };
  });
}

/**
 * Makes sure that LISTEN and session locks work at this address: directly, or through a pooler that gives every client a session.
 * Rejects as `pg` does when nothing answers.
 * @throws DatabaseAddressError when sessions are shared
 */
export async function requireSessions(url: string, setting: string): Promise<ConnectionRoute> {
  const route = await inspectRoute(url);
  if (route.pooled && (await sharesSessions(url)))
    throw new DatabaseAddressError(
      `${setting} leads through a pooler that shares connections between clients, and migrations and notifications need sessions: set DIRECT_DATABASE_URL to Postgres itself`,
    );
  return route;
}

async function sharesSessions(url: string): Promise<boolean> {
  const channel = probeName();
  return withClient(url, (listener) =>
    withClient(url, async (other) => {
      const heard = new AbortController();
      listener.on('notification', () => heard.abort());
      await listener.query(`listen ${channel}`);
      await other.query('select pg_notify($1, $2)', [channel, '']);
      await wait(2_000, heard.signal);
      await listener.query(`unlisten ${channel}`);
      return !heard.signal.aborted;
    }),
  );
}

/** The options of `pg` for connections over this route. */
export function connectionOptions({ applicationName, limits }: ConnectionSettings, route: ConnectionRoute): PoolConfig {
  return {
    application_name: applicationName,
    keepAlive: true,
    ...(limits === undefined ? {} : { connectionTimeoutMillis: limits.connectionMs }),
    ...(route.pooled
      ? // Poolers refuse settings they do not know at the start of a connection; they keep the time zone of each client.
        { onConnect: (client: ClientBase) => client.query("set timezone to 'UTC'") as unknown as undefined }
      : {
          // No statement of ours is so long that compiling it would pay, and estimates that say otherwise are wrong.
          options: '-c timezone=UTC -c jit=off',
          ...(limits?.statementMs ? { statement_timeout: limits.statementMs } : {}),
          ...(limits?.lockMs ? { lock_timeout: limits.lockMs } : {}),
          ...(limits?.idleInTransactionMs ? { idle_in_transaction_session_timeout: limits.idleInTransactionMs } : {}),
        }),
  };
}

/**
 * Ends connections that somebody holds for longer than this, with what they are doing. Postgres keeps to its limits by itself; this is
 * for a server or a network that has gone silent, and for limits that a pooler does not pass on.
 */
export function endHeldConnections(pool: Pool, afterMs: number): void {
  const timers = new WeakMap<object, NodeJS.Timeout>();
  pool.on('acquire', (client) => {
    const end = () => void client.end().catch(() => undefined);
    timers.set(client, setTimeout(end, afterMs).unref());
  });
  pool.on('release', (_error, client) => clearTimeout(timers.get(client)));
}

// In one transaction, which a pooler keeps on one connection.
async function passesNames(client: Client): Promise<boolean> {
  const name = probeName();
  await client.query('begin');
  try {
    const { rows } = await client.query<{ found: boolean }>({
      name,
      text: 'select exists (select from pg_prepared_statements where name = $1) as found',
      values: [name],
    });
    const found = rows[0]?.found === true;
    if (found) await client.query(`deallocate ${name}`);
    return found;
  } finally {
    await client.query('rollback');
  }
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: 'fernpost-probe',
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: connectWithinMs,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function probeName(): string {
  return `fernpost_probe_${randomBytes(6).toString('hex')}`;
}
