import { setTimeout as sleep } from 'node:timers/promises';
import {
  continueUnlessStopped,
  keepRunning,
  openTerminal,
  type RunRecord,
  reasonOf,
  requireFreePorts,
  StartError,
  StartInterrupted,
  type Supervised,
  type SupervisedPart,
  takeDataDir,
} from '@fernpost/local-stack';
import * as v from 'valibot';
import { unsafeSettings } from '../lib/config/secrets.ts';
import { keepMemoryLow } from './setup/process.ts';
import { serviceProcesses, stopInOrder, untilReady } from './start/our-processes.ts';
import {
  buildDashboard,
  buildDownloads,
  type PickedServer,
  pickPostgres,
  pickTemporal,
  temporalAddress,
} from './start/servers.ts';
import {
  keptSecrets,
  readStartConfig,
  type StartConfig,
  smtpAddress,
  wantedPorts,
  withoutTaken,
} from './start/settings.ts';
import { type FirstProject, FirstProjectSent, keepFirstProject, type Places, summaryLines } from './start/summary.ts';

const terminal = openTerminal();
const stopping = new AbortController();
const { signal } = stopping;
/** The running parts, in the order in which they are to be stopped. */
const running: Supervised[] = [];
let record: RunRecord | null = null;
/** Builds that go on while the service runs already. */
let builds: Promise<unknown> = Promise.resolve();

async function start(): Promise<void> {
  const began = Date.now();
  requireNode();
  const settings = readStartConfig(process.env);
  record = await takeDataDir(settings.DATA_DIR, terminal.line);
  const taken = await requireFreePorts(wantedPorts(settings));
  const config = withoutTaken(settings, taken);
  const secrets = keptSecrets(config.DATA_DIR);
  const context = { config, terminal, signal };

  terminal.part('Node', nodeDescription());
  await describe(config);
  for (const { problem } of taken) terminal.part('Warning', `${problem} Fernpost starts without it.`);

  // Each server starts as soon as it is found, and our processes load their code meanwhile.
  const postgres = pickPostgres(context, secrets);
  const servers = allOf([runPicked('Postgres', postgres), runPicked('Temporal', pickTemporal(context))]);
  const dashboard = buildDashboard(terminal, signal);
  builds = Promise.all([dashboard.ended, buildDownloads(terminal, signal).catch(() => undefined)]);
  const places = placesOf(config);
  let project: FirstProject | null = null;
  let needed: string[] = [];
  const service = postgres.then(({ address }) => {
    const env = {
      ...process.env,
      ...Object.fromEntries(taken.map(({ setting }) => [setting, '0'])),
      DATA_DIR: config.DATA_DIR,
      DATABASE_URL: address,
      TEMPORAL_ADDRESS: temporalAddress(config),
      ...secretsOf(process.env, secrets.jwtSecret),
    };
    return serviceProcesses({ config, env, terminal }, servers, (sent) => {
      const first = v.parse(FirstProjectSent, sent);
      needed = first.needed;
      project = keepFirstProject(config.DATA_DIR, first.project, places);
    });
  });
  await allOf([servers, service.then(({ parts }) => runTogether(parts))]);
  const { ready, parts } = await service;
  await untilReady(() => ready.size === parts.length, running, signal);
  for (const supervised of running) supervised.settle();

  const seconds = Math.round((Date.now() - began) / 1000);
  const [smtp, dashboardPending] = [smtpAddress(config), dashboard.isPending()];
  for (const line of summaryLines({ project, places, smtp, dashboardPending, dataDir: config.DATA_DIR, seconds }))
    terminal.line(line);
  for (const problem of needed) terminal.part('Project', `none was made: ${problem}`);
}

/** Says who delivers mail, and what is unsafe. */
async function describe(config: StartConfig): Promise<void> {
  if (config.mailProvider === 'sandbox')
    terminal.part('Mail', 'the sandbox, nothing leaves this machine', 'POSTMARK_SERVER_TOKEN turns Postmark on');
  else
    terminal.part(
      'Mail',
      (await import('./setup/mail.ts')).describeMail(config),
      'unset MAIL_PROVIDER and POSTMARK_SERVER_TOKEN for the sandbox',
    );
  for (const warning of unsafeSettings(config)) terminal.part('Warning', warning);
}

/** Says which server was picked, and starts it where it is ours. */
async function runPicked(name: string, picking: Promise<PickedServer>): Promise<void> {
  const { line, part } = await picking;
  continueUnlessStopped(signal);
  terminal.part(name, ...line);
  if (part !== null) await run(part);
}

/** The secret in use. Once one is set, what was made with ours before stays valid. */
function secretsOf(env: NodeJS.ProcessEnv, ours: string): { JWT_SECRET: string; JWT_SECRET_PREVIOUS?: string } {
  const set = env.JWT_SECRET?.trim() || ours;
  const previous = env.JWT_SECRET_PREVIOUS?.trim() || (set === ours ? '' : ours);
  return previous === '' ? { JWT_SECRET: set } : { JWT_SECRET: set, JWT_SECRET_PREVIOUS: previous };
}

async function run(part: SupervisedPart): Promise<Supervised> {
  const supervised = await keepRunning(part, terminal, (name, pid) => record?.started(name, pid));
  running.unshift(supervised);
  return supervised;
}

/** Starts parts side by side. */
function runTogether(parts: readonly SupervisedPart[]): Promise<void> {
  return allOf(parts.map(run));
}

/** Waits for all. When one fails the others are given up too, and waited for, so that nothing they do is left behind. */
async function allOf(tasks: readonly Promise<unknown>[]): Promise<void> {
  const failures: unknown[] = [];
  const ends = tasks.map((task) =>
    task.catch((error: unknown) => {
      failures.push(error);
      stopping.abort();
    }),
  );
  await Promise.all(ends);
  if (failures.length > 0) throw failures.find((error) => !(error instanceof StartInterrupted)) ?? failures[0];
}

function placesOf(config: StartConfig): Places {
  return {
    baseUrl: config.PUBLIC_URL,
    sandboxUrl: config.mailProvider === 'sandbox' ? config.SANDBOX_URL : null,
    temporalAddress: config.TEMPORAL_ADDRESS ?? `localhost:${config.TEMPORAL_PORT}`,
    temporalUiUrl:
      config.TEMPORAL_ADDRESS === null || process.env.TEMPORAL_UI_URL?.trim() ? config.TEMPORAL_UI_URL : null,
  };
}

function requireNode(): void {
  if (process.platform === 'win32')
    throw new StartError('npm start runs on Linux and macOS. On Windows use WSL, or docker compose up.');
  const major = Number.parseInt(process.versions.node, 10);
  if (major < 24)
    throw new StartError(
      `This is Node ${process.versions.node}; 24 or later is needed. "npm start" uses the one that npm ci installed.`,
    );
}

function nodeDescription(): string {
  const pinned = process.execPath.includes('/node_modules/');
  return `${process.versions.node}, ${pinned ? 'pinned by the npm package node' : process.execPath}`;
}

async function stopAll(): Promise<void> {
  await stopInOrder(running);
  await builds;
  record?.end();
}

let firstSignalAt = 0;
function onSignal(): void {
  if (firstSignalAt === 0) {
    firstSignalAt = Date.now();
    terminal.line('\nStopping: the service, Temporal, Postgres');
    stopping.abort();
    return;
  }
  // npm hands on the same Ctrl-C that the terminal has already sent to us; only a later one means impatience.
  if (Date.now() - firstSignalAt < 1_000) return;
  for (const supervised of running) supervised.kill();
}

// npm hands a SIGTERM to the shell in between, which ends without handing it on.
function stopWhenNpmEnds(): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onSignal();
  }, 250).unref();
}

async function main(): Promise<number> {
  stopWhenNpmEnds();
  keepMemoryLow();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  // A closed terminal must not end us before what we started.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  let status = 0;
  try {
    await start();
    while (!signal.aborted) await sleep(2 ** 31 - 1, undefined, { signal }).catch(() => {});
  } catch (error) {
    if (!(error instanceof StartInterrupted)) {
      status = 1;
      terminal.line();
      for (const line of error instanceof StartError ? error.lines : [reasonOf(error)])
        terminal.line(`fernpost: ${line}`);
      if (!(error instanceof StartError) && error instanceof Error) terminal.line(error.stack ?? '');
    }
    stopping.abort();
  }
  await stopAll();
  if (status === 0) terminal.line('Stopped.');
  return status;
}

process.exit(await main());
