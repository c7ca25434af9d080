import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  answers,
  continueUnlessStopped,
  launchNode,
  openLog,
  type Part,
  StartError,
  type Supervised,
  surfaceErrors,
  type Terminal,
} from '@posthorn/local-stack';
import { workerNodeOptions } from '../worker-options.ts';
import type { StartConfig } from './settings.ts';
import { reachableHost } from './settings.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const labels = { api: 'The API', smtp: 'SMTP submission', worker: 'The worker', sandbox: 'The mail sandbox' };

const nodeOptions = { api: [], smtp: [], worker: workerNodeOptions, sandbox: [] };

// Threads of Node and of the SDK take turns in two arenas of glibc; with one for each thread, what they free stays with them.
const allocation = { MALLOC_ARENA_MAX: '2' };

/** One of the programs in src/main as a part to keep running. */
export function ourPart(
  name: keyof typeof labels,
  stopLimitMs: number,
  { config, env, terminal }: { config: StartConfig; env: NodeJS.ProcessEnv; terminal: Terminal },
  onMessage?: (message: unknown) => void,
): Part {
  const log = openLog(join(config.DATA_DIR, `logs/${name}.log`));
  return {
    name,
    label: labels[name],
    log,
    stopLimitMs,
    start: () => {
      const surface = surfaceErrors(name, terminal);
      const output = (chunk: Buffer) => {
        log.write(chunk);
        surface(chunk);
      };
      const file = `src/main/${name}.ts`;
      return launchNode({
        file,
        cwd: root,
        env: { ...allocation, ...env },
        output,
        onMessage,
        nodeOptions: nodeOptions[name],
      });
    },
  };
}

/**
 * Runs one of our programs to its end and answers the last message it sent.
 * @throws StartError with its last lines when it fails
 */
export async function runOurs(
  file: string,
  name: string,
  { config, env, signal }: { config: StartConfig; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<unknown> {
  continueUnlessStopped(signal);
  const log = openLog(join(config.DATA_DIR, `logs/${name}.log`));
  let message: unknown = null;
  const running = await launchNode({
    file,
    cwd: root,
    env,
    output: log.write,
    onMessage: (sent) => {
      message = sent;
    },
  });
  const stop = () => void running.stop(5_000);
  signal.addEventListener('abort', stop, { once: true });
  const how = await running.exited;
  signal.removeEventListener('abort', stop);
  continueUnlessStopped(signal);
  if (how !== 'ended with status 0') throw failed(`${file} ${how}`, log);
  return message;
}

/** Waits until the mail sandbox accepts connections. */
export function untilSandboxAnswers(starting: readonly Supervised[], config: StartConfig, signal: AbortSignal) {
  const host = reachableHost(config.SANDBOX_HOST).replace(/^\[|\]$/g, '');
  return untilReady(() => answers(config.SANDBOX_PORT, host), 'The mail sandbox', starting, signal);
}

/** Waits until the API says that it and what it needs are ready. */
export function untilApiReady(starting: readonly Supervised[], config: StartConfig, signal: AbortSignal) {
  const url = `http://${reachableHost(config.HOST)}:${config.PORT}/ready`;
  let said = '';
  const isReady = async () => {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
      said = ` (${url} answers ${(await answer.text()).slice(0, 500)})`;
      return answer.ok;
    } catch {
      return false;
    }
  };
  return untilReady(isReady, 'The API', starting, signal, () => said);
}

// Long enough for a machine that is busy with something else.
const limitMs = 120_000;

/** Waits for one part; fails as soon as any of those that are starting ends. */
export async function untilReady(
  isReady: () => Promise<boolean>,
  label: string,
  starting: readonly Supervised[],
  signal: AbortSignal,
  whyNot = () => '',
): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  const ended: StartError[] = [];
  for (const { part, firstEnd } of starting)
    void firstEnd.then(
      (how) => how !== null && ended.push(failed(`${part.label} ${how} before it was ready`, part.log)),
    );
  while (!(await isReady())) {
    continueUnlessStopped(signal);
    if (ended[0]) throw ended[0];
    if (Date.now() > giveUpAt)
      throw new StartError(`${label} is not ready after ${limitMs / 1000} s${whyNot()}. See DATA_DIR/logs.`);
    await sleep(50);
  }
  if (ended[0]) throw ended[0];
}

function failed(what: string, log: Part['log']): StartError {
  const lines = log.tail(10).map((line) => `  ${line.slice(0, 500)}`);
  return new StartError(lines.length === 0 ? `${what}.` : `${what}. Its last lines, from ${log.path}:`, ...lines);
}
