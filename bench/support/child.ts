import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { workerNodeOptions } from '../../src/main/setup/process.ts';
import type { Request } from './campaign-child.ts';

/** A process of a benchmark that answers requests one after the other. */
export interface Child {
  child: ChildProcess;
  url: string;
  ask<Answer = unknown>(request: Request): Promise<Answer>;
}

/** Starts a file of this folder, and resolves when it has said that it is ready. */
export async function startChild(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    // As `npm start` and the image set it.
    env: { MALLOC_ARENA_MAX: '2', ...env },
    execArgv: args[0] === 'worker' ? [...process.execArgv, ...workerNodeOptions] : process.execArgv,
    stdio: ['ignore', process.env.BENCH_LOG ? 'inherit' : 'ignore', 'inherit', 'ipc'],
  });
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      const fail = (code: number | null) => reject(new Error(`${file} ${args[0] ?? ''} ended with ${code}`));
      child.once('exit', fail);
      child.once('message', (message) => {
        child.off('exit', fail);
        resolve(message);
      });
    });
  const { url = '' } = (await next()) as { url?: string };
  let last: Promise<unknown> = Promise.resolve();
  return {
    child,
    url,
    ask<Answer>(request: Request) {
      const answer = last.then(() => {
        const reply = next();
        child.send(request);
        return reply;
      });
      last = answer.catch(() => undefined);
      return answer as Promise<Answer>;
    },
  };
}
