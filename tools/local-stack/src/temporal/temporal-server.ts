import { createHash } from 'node:crypto';
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { answers, shortPath } from '../ports.ts';
import { runCommand } from '../process/command.ts';
import { launch, type RunningProcess } from '../process/launch.ts';
import type { LogFile } from '../process/log-file.ts';
import { continueUnlessStopped, StartError, type Terminal } from '../terminal.ts';
import { type DevServer, devServerArguments, probeArguments } from './dev-server.ts';
import type { TemporalCli } from './temporal-cli.ts';
import { temporalEnv } from './temporal-search.ts';

/** How our own Temporal development server is to run. */
export interface TemporalOptions extends DevServer {
  cli: TemporalCli;
  log: LogFile;
  terminal: Terminal;
  signal: AbortSignal;
}

/** File of the server's database below DATA_DIR. */
export const temporalDatabase = (dataDir: string) => join(dataDir, 'temporal.db');

const limitMs = 180_000;

/** Why a development server did not start. */
interface NotStarted {
  why: string;
  /** Whether it ended by itself, and not by a signal or for want of time. */
  gaveUp: boolean;
}

/**
 * Starts the development server and waits until its default namespace answers. A database that it cannot use, such as one of another
 * version, is set aside under another name, and the server starts with an empty one: all work begins again from the rows.
 * @throws StartError when it does not start with an empty database either; what was set aside is put back
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningProcess> {
  const { cli, databaseFile, terminal, log } = options;
  const launchOnce = () => launchDevServer(options, 'Temporal starts', limitMs);
  if (databaseFile === null) return orThrow(await launchOnce(), log);
  prepareDatabase(databaseFile);
  const isThere = existsSync(databaseFile);
  const fits = !isThere || tablesOf(databaseFile) === cli.tables;
  let aside = fits ? null : setAside(databaseFile);
  if (aside !== null) prepareDatabase(databaseFile);
  let result = await launchOnce();
  if ('gaveUp' in result && result.gaveUp && isThere && aside === null) {
    aside = setAside(databaseFile);
    prepareDatabase(databaseFile);
    result = await launchOnce();
  }
  if ('gaveUp' in result && aside !== null) takeBack(databaseFile, aside);
  const running = orThrow(result, log);
  acceptDatabase(databaseFile);
  if (aside !== null)
    terminal.part(
      'Temporal',
      `${shortPath(databaseFile)} ${fits ? 'cannot be read by' : 'is of another version than'} this server: kept as ${basename(aside)}; all work continues from the database`,
    );
  return running;
}

/** Starts the development server on a database as it is. Returns why it did not start when it ends or takes longer than `withinMs`. */
export async function launchDevServer(
  options: Omit<TemporalOptions, 'cli'> & { cli: Pick<TemporalCli, 'path'> },
  what: string,
  withinMs: number,
): Promise<RunningProcess | NotStarted> {
  const { cli, log, terminal, signal, port } = options;
  const running = await launch({
    command: cli.path,
    args: devServerArguments(options),
    env: temporalEnv(),
    log,
    stopSignal: 'SIGTERM',
    orphanGraceSeconds: 6,
  });
  const waiting = terminal.progress(what);
  const giveUpAt = Date.now() + withinMs;
  try {
    while (!(await isReady(cli.path, port, signal))) {
      if (running.hasExited()) {
        const how = await running.exited;
        return { why: how, gaveUp: how.startsWith('ended with status') };
      }
      if (Date.now() > giveUpAt) {
        await running.stop(3_000);
        return { why: `it does not answer after ${withinMs / 1000} s`, gaveUp: false };
      }
      await sleep(50);
    }
    return running;
  } catch (error) {
    await running.stop(3_000);
    throw error;
  } finally {
    waiting.end();
  }
}

function orThrow(result: RunningProcess | NotStarted, log: LogFile): RunningProcess {
  if ('gaveUp' in result) throw didNotStart(result.why, log);
  return result;
}

async function isReady(cli: string, port: number, signal: AbortSignal): Promise<boolean> {
  continueUnlessStopped(signal);
  if (!(await answers(port, '127.0.0.1'))) return false;
  const probe = await runCommand(cli, probeArguments(port), { limitMs: 10_000, signal, env: temporalEnv() });
  return probe.failure === null;
}

function didNotStart(how: string, log: LogFile): StartError {
  return new StartError(
    `Temporal did not start (${how}). Its last lines, from ${log.path}:`,
    ...log.tail(8).map((line) => `  ${line}`),
    'Set TEMPORAL_PORT or TEMPORAL_UI_PORT if those are in the way, or TEMPORAL_ADDRESS to use another server.',
  );
}

/**
 * Makes sure that something accepts connections at the address of a Temporal server of others.
 * @throws StartError that names TEMPORAL_ADDRESS
 */
export async function requireTemporal(address: string): Promise<void> {
  const [host = '', port = ''] = address.split(':');
  if (await answers(Number(port), host, 10_000)) return;
  throw new StartError(
    `TEMPORAL_ADDRESS does not work: nothing answers at ${address}.`,
    'Start that server, correct TEMPORAL_ADDRESS, or unset it to let npm start run its own.',
  );
}

const unfinishedMark = (databaseFile: string) => `${databaseFile}.unfinished`;
const endings = ['', '-wal', '-shm'];
const filesOf = (databaseFile: string) => endings.map((end) => databaseFile + end).filter((file) => existsSync(file));

/**
 * The server makes its tables only where there is no file yet. One that was killed while it made them would never start again, so a
 * mark stands beside the file until the server has answered once.
 */
function prepareDatabase(databaseFile: string): void {
  if (existsSync(unfinishedMark(databaseFile))) for (const file of filesOf(databaseFile)) rmSync(file, { force: true });
  if (!existsSync(databaseFile)) writeFileSync(unfinishedMark(databaseFile), '');
}

/** Notes that the server has answered. */
function acceptDatabase(databaseFile: string): void {
  rmSync(unfinishedMark(databaseFile), { force: true });
  // SQLite gives files that it makes later the mode of the first; what they hold is nobody else's business.
  for (const file of filesOf(databaseFile)) chmodSync(file, 0o600);
}

/**
 * A fingerprint of the tables in a database of the development server; null where there are none that can be read. The server changes
 * no tables that exist: a newer one starts on those of an older one, and then fails at whatever needs a table that is missing.
 */
export function tablesOf(databaseFile: string): string | null {
  if (!existsSync(databaseFile)) return null;
  try {
    const database = new DatabaseSync(databaseFile);
    try {
      const rows = database
        .prepare("select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by type, name")
        .all();
      if (rows.length === 0) return null;
      return createHash('sha256')
        .update(rows.map(({ sql }) => sql).join('\n'))
        .digest('hex');
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

/** Puts a database out of the server's way, under a name with the time, and returns that name. */
function setAside(databaseFile: string): string {
  const at = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const aside = `${databaseFile}.${at}`;
  for (const end of endings) if (existsSync(databaseFile + end)) renameSync(databaseFile + end, aside + end);
  return aside;
}

/** Puts back what was set aside. */
function takeBack(databaseFile: string, aside: string): void {
  for (const file of [...filesOf(databaseFile), unfinishedMark(databaseFile)]) rmSync(file, { force: true });
  for (const end of endings) if (existsSync(aside + end)) renameSync(aside + end, databaseFile + end);
}
