import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  continueUnlessStopped,
  launchNode,
  openLog,
  StartError,
  type Supervised,
  type SupervisedPart,
  surfaceErrors,
  type Terminal,
} from '@fernpost/local-stack';
import { workerNodeOptions } from '../setup/process.ts';
import { type StartConfig, smtpAddress } from './settings.ts';

const stopOrder = ['service', 'api', 'smtp', 'worker', 'sandbox', 'temporal', 'postgres'];

/**
 * Stops what runs, users before what they use. Requests that take long do not hold up the worker, which needs nothing of
 * those who take them: it gets the signal `headStartMs` after API and SMTP submission at the latest.
 */
export async function stopInOrder(
  running: readonly { name: string; stop(): Promise<void> }[],
  headStartMs = 2_000,
): Promise<void> {
  const ordered = [...running].sort((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
  const callers = ordered.filter(({ name }) => name === 'api' || name === 'smtp');
  const answered = Promise.all(callers.map((supervised) => supervised.stop()));
  if (callers.length > 0) await within(answered, headStartMs);
  const worker = ordered.find(({ name }) => name === 'worker');
  await worker?.stop();
  await answered;
  for (const supervised of ordered) if (supervised !== worker && !callers.includes(supervised)) await supervised.stop();
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Threads of Node and of the SDK take turns in two arenas of glibc; with one for each thread, what they free stays with them.
const allocation = { MALLOC_ARENA_MAX: '2' };

const labels = {
  service: 'The service',
  api: 'The API',
  smtp: 'SMTP submission',
  worker: 'The worker',
  sandbox: 'The mail sandbox',
};

// Which parts run in which process, as arguments of `service.ts`.
const together = { service: ['prepare', 'sandbox', 'worker', 'api', 'smtp'] };
const apart = { sandbox: ['sandbox'], api: ['prepare', 'api'], worker: ['worker'], smtp: ['smtp'] };

/** The parts of `npm start` that our processes need. */
interface Ours {
  config: StartConfig;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
}

/** The processes of the service. */
interface ServiceProcesses {
  parts: SupervisedPart[];
  /** Names of those that work. */
  ready: Set<string>;
}

/**
 * One process for all parts of the service, or one for each. They load their code at once, and begin when the servers run; those that
 * need the database, when the one that prepares it has done so. `keepProject` gets the first project before the API listens.
 */
export function serviceProcesses(
  ours: Ours,
  servers: Promise<unknown>,
  keepProject: (made: unknown) => void,
): ServiceProcesses {
  const { config } = ours;
  const absent = new Set<string>();
  if (config.mailProvider !== 'sandbox') absent.add('sandbox');
  if (smtpAddress(config) === null) absent.add('smtp');
  const migrated = Promise.withResolvers<void>();
  const service: ServiceProcesses = { parts: [], ready: new Set() };
  for (const [name, all] of Object.entries(config.START_SEPARATE_PROCESSES ? apart : together)) {
    const parts = all.filter((part) => !absent.has(part));
    if (parts.length === 0) continue;
    const prepares = parts.includes('prepare');
    const onMessage = (message: unknown, reply: (answer: string) => void) => {
      if (message === 'prepared') migrated.resolve();
      else if (message === 'ready') service.ready.add(name);
      else {
        keepProject(message);
        reply('kept');
      }
    };
    const mayBegin = prepares ? servers : migrated.promise;
    service.parts.push(ourPart({ name: name as keyof typeof labels, parts, mayBegin, onMessage }, ours));
  }
  return service;
}

function ourPart(
  own: {
    name: keyof typeof labels;
    parts: string[];
    mayBegin: Promise<unknown>;
    onMessage(message: unknown, reply: (answer: string) => void): void;
  },
  { config, env, terminal }: Ours,
): SupervisedPart {
  const { name, parts, mayBegin, onMessage } = own;
  const log = openLog(join(config.DATA_DIR, `logs/${name}.log`));
  // All of it stops within 15 seconds, unless the settings say that requests may take longer.
  const set = process.env.SHUTDOWN_GRACE_SECONDS?.trim();
  const graceSeconds = set ? config.SHUTDOWN_GRACE_SECONDS : name === 'sandbox' ? 1 : 6;
  return {
    name,
    label: labels[name],
    log,
    stopLimitMs: Math.max(graceSeconds * 1_000, 6_000) + 2_500,
    start: () => {
      const surface = surfaceErrors(name, terminal);
      const output = (chunk: Buffer) => {
        log.write(chunk);
        surface(chunk);
      };
      return launchNode({
        file: 'src/main/service.ts',
        args: parts,
        cwd: root,
        env: { ...allocation, ...env, SHUTDOWN_GRACE_SECONDS: String(graceSeconds) },
        output,
        onMessage,
        mayBegin,
        nodeOptions: parts.includes('worker') ? workerNodeOptions : [],
      });
    },
  };
}

// Long enough for a machine that is busy with something else.
const limitMs = 120_000;

/** Waits for our processes; fails as soon as any of those that are starting ends. */
export async function untilReady(
  isReady: () => boolean,
  starting: readonly Supervised[],
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  const ended: StartError[] = [];
  for (const { part, firstEnd } of starting)
    void firstEnd.then(
      (how) => how !== null && ended.push(failed(`${part.label} ${how} before it was ready`, part.log)),
    );
  while (!isReady()) {
    continueUnlessStopped(signal);
    if (ended[0]) throw ended[0];
    if (Date.now() > giveUpAt)
      throw new StartError(`The service is not ready after ${limitMs / 1000} s. See DATA_DIR/logs.`);
    await sleep(20);
  }
  if (ended[0]) throw ended[0];
}

function failed(what: string, log: SupervisedPart['log']): StartError {
  const lines = log.tail(10).map((line) => `  ${line.slice(0, 500)}`);
  return new StartError(lines.length === 0 ? `${what}.` : `${what}. Its last lines, from ${log.path}:`, ...lines);
}
