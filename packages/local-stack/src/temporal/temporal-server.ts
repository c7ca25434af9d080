import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answers } from '../ports.ts';
import { runCommand } from '../process/command.ts';
import { launch, type RunningProcess } from '../process/launch.ts';
import type { LogFile } from '../process/log-file.ts';
import { continueUnlessStopped, StartError } from '../start-error.ts';
import type { Terminal } from '../terminal.ts';
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

const limitMs = 60_000;

/** Starts the development server and waits until its default namespace answers. */
export async function startTemporal(options: TemporalOptions): Promise<RunningProcess> {
  const { cli, log, terminal, signal, port, databaseFile } = options;
  if (databaseFile !== null) prepareDatabase(databaseFile);
  const running = await launch({
    command: cli.path,
    args: devServerArguments(options),
    env: temporalEnv(),
    log,
    stopSignal: 'SIGTERM',
    orphanGraceSeconds: 6,
  });
  const waiting = terminal.progress('Temporal starts');
  const giveUpAt = Date.now() + limitMs;
  try {
    while (!(await isReady(cli.path, port, signal))) {
      if (running.hasExited()) throw didNotStart(await running.exited, log);
      if (Date.now() > giveUpAt) throw didNotStart(`it does not answer after ${limitMs / 1000} s`, log);
      await sleep(50);
    }
    if (databaseFile !== null) acceptDatabase(databaseFile);
    return running;
  } catch (error) {
    await running.stop(3_000);
    throw error;
  } finally {
    waiting.end();
  }
}

const unfinishedMark = (databaseFile: string) => `${databaseFile}.unfinished`;
const filesOf = (databaseFile: string) =>
  ['', '-wal', '-shm'].map((end) => databaseFile + end).filter((file) => existsSync(file));

// The server makes its tables only where there is no file yet. One that was killed while it made them would never start again, so a
// mark stands beside the file until the server has answered once.
function prepareDatabase(databaseFile: string): void {
  const mark = unfinishedMark(databaseFile);
  if (existsSync(mark)) for (const file of filesOf(databaseFile)) rmSync(file, { force: true });
  if (!existsSync(databaseFile)) writeFileSync(mark, '');
}

function acceptDatabase(databaseFile: string): void {
  rmSync(unfinishedMark(databaseFile), { force: true });
  // SQLite gives files that it makes later the mode of the first; what they hold is nobody else's business.
  for (const file of filesOf(databaseFile)) chmodSync(file, 0o600);
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
