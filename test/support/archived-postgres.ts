import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  chooseServerUser,
  findPostgres,
  freePorts,
  openLog,
  openTerminal,
  postgresUrl,
  type RunningProcess,
  runCommand,
  startPostgres,
} from '@fernpost/local-stack';
import { Client } from 'pg';

/** A Postgres of one test, which archives its log, and can be killed and set back to an instant since its backup. */
export interface ArchivedPostgres extends AsyncDisposable {
  /** The database, at the same address after every restore. */
  readonly url: string;
  /** Names of the files in the archive. */
  archived(): string[];
  /** Copies the data folder of the running server. */
  backUp(): Promise<void>;
  /** SIGKILL: the folder is as good as lost. */
  kill(): Promise<void>;
  /**
   * Makes a new data folder of the backup, and a server of it that plays the archived log up to this ISO instant, of the newest timeline or another.
   * Resolves when it takes writes.
   * @throws Error with the last lines of its log, where it did not come so far
   */
  restore(target: string, timeline?: string): Promise<void>;
}

/** Starts such a server with durable settings. A segment of the log is archived after two seconds, full or not. */
export async function archivedPostgres(): Promise<ArchivedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-archived-'));
  // As root, Postgres runs as another user, which has to get in.
  chmodSync(folder, 0o755);
  const terminal = openTerminal();
  const user = await chooseServerUser(folder, terminal.line);
  const own = (path: string) => user && chownSync(path, user.uid, user.gid);
  const [archive, backup] = [join(folder, 'archive'), join(folder, 'backup')];
  mkdirSync(archive);
  own(archive);
  const log = openLog(join(folder, 'postgres.log'));
  const options = {
    ...{ binaries: await findPostgres(user), user, log, terminal, durable: true, removeWhenOrphaned: folder },
    ...{ port: (await freePorts(1))[0] ?? 0, password: randomBytes(12).toString('hex') },
    signal: new AbortController().signal,
  };
  const url = postgresUrl(options);
  let folders = 1;
  const place = () => join(folder, `data-${folders}`);
  let server: RunningProcess = await startPostgres({ ...options, place: place() });
  const close = async () => {
    await server.stop(10_000);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await connected(url, async (client) => {
      // Renamed, so that a copy cut off by a kill is never taken for a segment.
      const command = `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`;
      await client.query(`alter system set archive_mode = on`);
      await client.query(`alter system set archive_command = '${command}'`);
      await client.query(`alter system set archive_timeout = 2`);
    });
    await server.stop(10_000);
    server = await startPostgres({ ...options, place: place() });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    archived: () => readdirSync(archive).toSorted(),
    backUp: () =>
      connected(url, async (client) => {
        await client.query(`select pg_backup_start('test', true)`);
        await copied(place(), backup);
        const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
        writeFileSync(join(backup, 'backup_label'), rows[0]?.labelfile ?? '');
        own(join(backup, 'backup_label'));
        rmSync(join(backup, 'postmaster.pid'), { force: true });
        // All of the log comes from the archive.
        for (const name of readdirSync(join(backup, 'pg_wal')))
          rmSync(join(backup, 'pg_wal', name), { recursive: true });
      }),
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    async restore(target, timeline = 'latest') {
      folders++;
      await copied(backup, place());
      const settings = {
        restore_command: `cp ${archive}/%f %p`,
        // With a number for the time zone: no name of one is known when it is read, nor is Z.
        recovery_target_time: target.replace('T', ' ').replace('Z', '+00'),
        recovery_target_timeline: timeline,
        recovery_target_action: 'promote',
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
      appendFileSync(join(place(), 'postgresql.auto.conf'), lines.join(''));
      writeFileSync(join(place(), 'recovery.signal'), '');
      own(join(place(), 'recovery.signal'));
      server = await startPostgres({ ...options, place: place() });
      while (await connected(url, isRecovering).catch(() => true)) {
        if (server.hasExited()) throw new Error(log.tail(20).join('\n'));
        await pause(100);
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

async function isRecovering(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ is: boolean }>('select pg_is_in_recovery() as is');
  return rows[0]?.is ?? true;
}

// Files of a running server come and go meanwhile; its log makes good for those.
async function copied(from: string, to: string): Promise<void> {
  const { failure, stderr } = await runCommand('cp', ['-a', from, to]);
  const others = stderr.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'));
  if (failure !== null && others.length > 0) throw new Error(others.join('\n'));
}

async function connected<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
