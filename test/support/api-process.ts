import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@fernpost/local-stack';
import { programEnv } from './program-env.ts';

/** An API as `npm run api` starts it. */
export interface ApiProcess extends AsyncDisposable {
  port: number;
  signal(name: NodeJS.Signals): void;
  /** Resolves to its exit status; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Log lines so far. */
  readonly log: string;
}

const ownRoot = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Starts an API process with these settings on a free port, as npm's child where asked, of another release from its folder `root`, and resolves
 * once it listens.
 */
export async function apiProcess(
  settings: Record<string, string>,
  by: 'node' | 'npm' = 'node',
  root = ownRoot,
): Promise<ApiProcess> {
  const [port = 0] = await freePorts(1);
  const [command, args] =
    by === 'npm' ? ['npm', ['run', '--no-update-notifier', 'api']] : [process.execPath, ['src/main/api.ts']];
  const child = spawn(command, args, {
    cwd: root,
    env: { ...programEnv(), NODE_ENV: 'test', PORT: String(port), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('the API listens')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the API ended with ${code} before it listened:\n${log}`)));
  });
  return {
    port,
    ended,
    signal: (name) => void child.kill(name),
    get log() {
      return log;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
