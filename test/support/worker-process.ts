import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { workerNodeOptions } from '../../src/main/setup/process.ts';
import { programEnv } from './program-env.ts';

/** A worker as `npm run worker` starts it, which a test may kill as a crash would. */
export interface WorkerProcess extends AsyncDisposable {
  /** SIGKILL: no clean-up of any kind. */
  kill(): Promise<void>;
  /** SIGTERM, and the exit that follows. */
  stop(): Promise<number | null>;
  /** Log lines so far. */
  readonly log: string;
}

const ownRoot = fileURLToPath(new URL('../../', import.meta.url));

/** Starts a worker process with these settings, of another release from its folder `root`, and resolves once it serves its queues. */
export async function workerProcess(settings: Record<string, string>, root = ownRoot): Promise<WorkerProcess> {
  const child: ChildProcess = spawn(process.execPath, [...workerNodeOptions, 'src/main/worker.ts'], {
    cwd: root,
    env: {
      ...programEnv(),
      NODE_ENV: 'test',
      LOG_LEVEL: 'info',
      TEMPORAL_SETUP: 'false',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const ended = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('the worker works')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code} before it worked:\n${log}`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  };
  return {
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    get log() {
      return log;
    },
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}
