import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchOurs } from './launch.ts';
import { openLog } from './log-file.ts';
import { answers } from './ports.ts';
import type { StartConfig } from './settings.ts';
import { reachableHost } from './settings.ts';
import { continueUnlessStopped, StartError } from './start-error.ts';
import type { Part, Supervised } from './supervise.ts';
import { surfaceErrors } from './surface-errors.ts';
import type { Terminal } from './terminal.ts';

/** One of the programs in src/main as a part to keep running. */
export function ourPart(
  name: 'api' | 'worker' | 'sandbox',
  stopLimitMs: number,
  { config, env, terminal }: { config: StartConfig; env: NodeJS.ProcessEnv; terminal: Terminal },
): Part {
  const log = openLog(join(config.DATA_DIR, `logs/${name}.log`));
  return {
    name,
    log,
    stopLimitMs,
    start: () => {
      const surface = surfaceErrors(name, terminal);
      return launchOurs(`src/main/${name}.ts`, [], env, (chunk) => {
        log.write(chunk);
        surface(chunk);
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
  const running = await launchOurs(file, [], env, log.write, (sent) => {
    message = sent;
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
export async function untilSandboxAnswers(sandbox: Supervised, part: Part, config: StartConfig, signal: AbortSignal) {
  const host = reachableHost(config.SANDBOX_HOST).replace(/^\[|\]$/g, '');
  await until(() => answers(config.SANDBOX_PORT, host), sandbox, part, signal);
}

/** Waits until the API says that it and what it needs are ready. */
export async function untilApiReady(api: Supervised, part: Part, config: StartConfig, signal: AbortSignal) {
  const url = `http://${reachableHost(config.HOST)}:${config.PORT}/ready`;
  const isReady = () =>
    fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      (answer) => answer.ok,
      () => false,
    );
  await until(isReady, api, part, signal);
}

const limitMs = 60_000;

async function until(isReady: () => Promise<boolean>, supervised: Supervised, part: Part, signal: AbortSignal) {
  const giveUpAt = Date.now() + limitMs;
  let ended: string | null = null;
  void supervised.firstEnd.then((how) => {
    ended = how;
  });
  while (!(await isReady())) {
    continueUnlessStopped(signal);
    if (ended !== null) throw failed(`The ${part.name} ${ended} before it was ready`, part.log);
    if (Date.now() > giveUpAt) throw failed(`The ${part.name} is not ready after ${limitMs / 1000} s`, part.log);
    await sleep(50);
  }
}

function failed(what: string, log: Part['log']): StartError {
  const lines = log.tail(10).map((line) => `  ${line.slice(0, 500)}`);
  return new StartError(lines.length === 0 ? `${what}.` : `${what}. Its last lines, from ${log.path}:`, ...lines);
}
