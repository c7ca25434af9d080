import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientBase, type Pool, type PoolConfig } from 'pg';

/** Resolves after so many milliseconds, or early and quietly when the signal aborts. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** A failure of Postgres that passes: why, in words for a caller, and when to try again. */
export interface PassingFailure {
  reason: string;
  retryAfterSeconds: number;
}

const busy = (reason: string): PassingFailure => ({ reason, retryAfterSeconds: 2 });
const away: PassingFailure = { reason: 'The database cannot be reached', retryAfterSeconds: 5 };

// PostgreSQL manual, appendix A. Two characters stand for a whole class.
const byState: Readonly<Record<string, PassingFailure>> = {
  '08': away,
  '53': { reason: 'The database is out of connections, memory or disk space', retryAfterSeconds: 5 },
  '25006': { reason: 'The database takes no writes at the moment', retryAfterSeconds: 5 },
  '25P03': busy('The database ended a transaction that waited too long'),
  '25P04': busy('The database ended a transaction that took too long'),
  '40001': busy('Another change was made at the same time'),
  '40P01': busy('Another change was made at the same time'),
  '55P03': busy('Another change holds what this request needs'),
  '57014': busy('The database took too long over this request'),
  '57P01': away,
  '57P02': away,
  '57P03': away,
  '57P05': away,
};

const networkCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Classifies passing failures of Postgres, of the network to it and of the pool; null for every other error. */
export function passingFailure(error: unknown): PassingFailure | null {
  if (!(error instanceof Error)) return null;
  // Messages of `pg` and `pg-pool`; these errors have no code.
  if (error.message.startsWith('timeout exceeded when trying to connect'))
    return busy('Every connection to the database is in use');
  if (
    /^(timeout expired$|Connection terminated|Query read timeout|Client (was|has) .* not queryable)/.test(error.message)
  )
    return away;
  const { code, syscall } = error as Error & { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return null;
  // A socket's file is not there before Postgres is.
  if (networkCodes.test(code) || (code === 'ENOENT' && syscall === 'connect')) return away;
  return isDatabaseError(error) ? (byState[code] ?? byState[code.slice(0, 2)] ?? null) : null;
}

/** Whether the connection was lost, or could not be made, so that nobody heard what became of a statement. */
export function isLostConnection(error: unknown): boolean {
  return passingFailure(error) === away;
}

/** Whether Postgres undid a statement that met another change, or waited too long for one. */
export function isConflict(error: unknown): boolean {
  return (
    isDatabaseError(error) && ['40001', '40P01', '55P03', '57014'].includes((error as { code?: string }).code ?? '')
  );
}

const mostRepetitions = 4;

/**
 * Does work again that Postgres undid to end a deadlock: a statement by itself, or a whole transaction. Nothing of it is there then, and
 * whoever it met has gone on.
 */
export async function despiteDeadlocks<T>(work: () => Promise<T>, left = mostRepetitions): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (left === 0 || !isDatabaseError(error) || (error as { code?: string }).code !== '40P01') throw error;
  }
  return despiteDeadlocks(work, left - 1);
}

/** Whether Postgres itself answered with this error. */
export function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as Error & { code?: unknown; severity?: unknown };
  return typeof severity === 'string' && typeof code === 'string';
}

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

/** The route from this process to Postgres. */
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

// A machine that starts everything at once takes its time for a new connection.
const connectWithinMs = 30_000;

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
