import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { asUser, chooseServerUser, freePorts } from '@fernpost/local-stack';
import { Client } from 'pg';

/** A PgBouncer in front of the test's Postgres. */
export interface RunningPgBouncer extends AsyncDisposable {
  /** The same address as the one it was started for, through PgBouncer. */
  url(of: string): string;
}

/** The programs of PgBouncer to test: PGBOUNCER_PATHS (several, as in PATH), else the one that is installed. */
export function pgBouncers(): string[] {
  const { PGBOUNCER_PATHS: given, PATH = '' } = process.env;
  if (given) return given.split(delimiter);
  const found = [...PATH.split(delimiter), '/usr/sbin'].map((folder) => join(folder, 'pgbouncer')).find(runs);
  return found === undefined ? [] : [found];
}

/** Starts PgBouncer with few connections, so that clients share them. `settings` are further lines of its section `pgbouncer`. */
export async function startPgBouncer(
  program: string,
  target: string,
  settings: Record<string, string | number> = {},
  connectQuery?: string,
): Promise<RunningPgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-pgbouncer-'));
  chmodSync(folder, 0o755);
  const [port = 0] = await freePorts(1);
  const { hostname, port: targetPort, username, password } = new URL(target);
  const options = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 4,
    max_client_conn: 200,
    ...settings,
  };
  const query = connectQuery === undefined ? '' : ` connect_query='${connectQuery.replaceAll("'", "''")}'`;
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${targetPort} user=${username} password=${decodeURIComponent(password)}${query}`,
    '[pgbouncer]',
    ...Object.entries(options).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${lines.join('\n')}\n`);
  // PgBouncer refuses to run as root.
  const user = await chooseServerUser(folder, () => undefined);
  const child = spawn(program, ['-q', file], { stdio: ['ignore', 'ignore', 'pipe'], ...asUser(user) });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const url = (of: string) => Object.assign(new URL(of), { host: `127.0.0.1:${port}` }).href;
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilItAnswers(url(target), child, () => said);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: close };
}

async function untilItAnswers(url: string, child: ChildProcess, said: () => string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return;
    } catch (error) {
      if (child.exitCode !== null || attempt === 200)
        throw new Error(`PgBouncer does not answer: ${said()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
