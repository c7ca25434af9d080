import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Logger, pino } from 'pino';
import { type Config, ConfigError, type RequiredSetting, readConfigOrExit } from '../../lib/config/config.ts';
import { unsafeSettings } from '../../lib/config/secrets.ts';
import { DatabaseAddressError } from '../../store/postgres/connection.ts';
import type { RunningTracing } from './tracing.ts';

/** The log of a process: JSON lines on standard output, without secrets wherever they might slip in. */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, process: string): Logger {
  return pino({
    level: config.LOG_LEVEL,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'authorization',
      'password',
      'secretKey',
      'publicKey',
      'token',
      '*.authorization',
      '*.password',
      '*.token',
      'err.config',
      'err.request',
      'err.response',
    ],
  });
}

const checkEveryMs = 10_000;
// Timers, polls and health checks of a process without work take less.
const busyShare = 0.15;

// By how much the heap may grow beyond what was live at its last full collection, in percent. On a machine with much memory V8 lets it grow
// to three times that: 700 MB of `npm start` under load where these are 450, at the same rate of requests.
const heapGrowth = 60;

/**
 * Keeps the heap near what is live in it, and gives memory back to the system when this process has had little to do for ten seconds, once
 * after each time it was busy. V8 keeps what a start or a burst needed until the next full collection, which without work never
 * comes (measured: 40 to 100 MB).
 */
export function keepMemoryLow(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  let wasBusy = true;
  let before = process.cpuUsage();
  const check = () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const isBusy = user + system > busyShare * checkEveryMs * 1_000;
    if (wasBusy && !isBusy) collect();
    wasBusy = isBusy;
  };
  setInterval(check, checkEveryMs).unref();
}

// The flag makes `gc` in contexts that are made later, not in ours.
function collect(): void {
  flushCompileCache();
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  void gc({ type: 'major', flavor: 'last-resort', execution: 'async' });
}

/**
 * Options of Node for a worker. What a campaign has on its way lives for some hundred milliseconds; with V8's usual room for
 * young objects it is copied twice by collections before it dies. Measured: a tenth of the worker's processor time.
 */
export const workerNodeOptions: readonly string[] = ['--max-semi-space-size=32'];

/** A part of the service that runs in this process. */
export interface RunningPart {
  /** Lets what is under way finish, and lets go of everything. */
  stop(): Promise<void>;
  /** Resolves when it has begun to work, where that is later than its start. */
  ready?: Promise<void>;
}

/** A part of the service as a program of its own and `npm start` run it. */
export interface Part {
  name: 'api' | 'smtp' | 'worker' | 'sandbox';
  /** How messages call it. */
  label: string;
  needs: readonly RequiredSetting[];
  start(config: Config, log: Logger): Promise<RunningPart>;
  /** How long its end may take. */
  stopWithinMs(config: Config): number;
}

// Ctrl-C in a terminal reaches a process twice when npm runs it: from the terminal, and handed on by npm.
const oneSignalMs = 1_000;

/** Resolves at the first SIGTERM or SIGINT; another one, a second or more later, ends the process at once. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let signalledAt: number | null = null;
    const stop = () => {
      if (signalledAt === null) {
        signalledAt = performance.now();
        resolve();
      } else if (performance.now() - signalledAt >= oneSignalMs) process.exit(1);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

/** Does what is left to do before the end, and ends the process: with status 1 when it takes longer than the limit. */
export async function finishAndExit(work: () => Promise<void>, limitMs: number): Promise<never> {
  setTimeout(() => process.exit(1), limitMs).unref();
  await work();
  await (await tracing)?.close();
  // Native threads of Temporal's SDK may linger for a while after everything is closed.
  process.exit(0);
}

/** Runs one part as the program of this process, until it is asked to stop. */
export async function runAlone(part: Part): Promise<never> {
  keepMemoryLow();
  const config = readConfigOrExit(part.needs);
  const stopped = untilStopped();
  let hasStarted = false;
  // Nothing has begun yet that would need an end.
  void stopped.then(() => hasStarted || process.exit(0));
  const running = await startPart(part, config);
  hasStarted = true;
  await stopped;
  return finishAndExit(() => running.stop(), part.stopWithinMs(config));
}

let tracing: Promise<RunningTracing> | null = null;

// Once for all parts of the process. Without an endpoint nothing of OpenTelemetry is loaded.
async function startTracing(config: Config): Promise<void> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === null) return;
  tracing ??= import('./tracing.ts').then((loaded) => loaded.startTracing(config));
  await tracing;
}

/** Starts a part in this process. What keeps it from starting is logged, with the setting to change, and ends the process. */
export async function startPart(part: Part, config: Config): Promise<RunningPart> {
  const log = createLogger(config, part.name);
  for (const warning of unsafeSettings(config)) log.warn(warning);
  try {
    await startTracing(config);
    return await part.start(config, log);
  } catch (error) {
    for (const problem of problemsOf(error, config)) log.fatal(problem);
    if (problemsOf(error, config).length === 0) log.fatal({ err: error }, `${part.label} cannot start`);
    process.exit(1);
  }
}

const portSettings = [
  'PORT',
  'API_METRICS_PORT',
  'SMTP_IN_PORT',
  'SMTP_IN_TLS_PORT',
  'SMTP_IN_METRICS_PORT',
  'WORKER_METRICS_PORT',
  'SANDBOX_PORT',
] as const;

/** Returns the problems that an operator has to fix; empty for an error that is no fault of theirs. */
function problemsOf(error: unknown, config: Config): string[] {
  if (error instanceof DatabaseAddressError) return [error.message];
  if (error instanceof ConfigError) return error.problems;
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const setting = portSettings.find((name) => config[name] === port) ?? 'PORT';
  if (code === 'EADDRINUSE') return [`port ${port} is in use: set ${setting} to another one`];
  if (code === 'EACCES' && port !== undefined)
    return [`port ${port} needs more rights than this process has: set ${setting} to another one`];
  return [];
}

/** Resolves with the next word of `npm start`, which runs this process; at once without it. */
export async function supervisorSays(): Promise<void> {
  if (!process.channel) return;
  process.channel.ref();
  await once(process, 'message');
  process.channel.unref();
}
