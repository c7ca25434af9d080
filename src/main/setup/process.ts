import { once } from 'node:events';
import { type Logger, pino } from 'pino';
import { type Config, ConfigError, type RequiredSetting, readConfigOrExit } from '../../lib/config/config.ts';
import { unsafeSettings } from '../../lib/config/secrets.ts';
import { DatabaseAddressError } from '../../store/postgres/connection.ts';
import { keepMemoryLow } from './outside.ts';

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

/** Starts a part in this process. What keeps it from starting is logged, with the setting to change, and ends the process. */
export async function startPart(part: Part, config: Config): Promise<RunningPart> {
  const log = createLogger(config, part.name);
  for (const warning of unsafeSettings(config)) log.warn(warning);
  try {
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
