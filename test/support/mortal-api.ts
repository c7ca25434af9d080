import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** An API process that can be told when to die (see `api-child.ts`). */
export interface MortalApi extends AsyncDisposable {
  url: string;
  /** Lets it be killed at this moment of what it does from now on. */
  arm(moment: number): Promise<void>;
  /** Resolves when it is dead. */
  ended: Promise<unknown>;
}

/** Starts such a process and resolves once it serves. */
export async function mortalApi(settings: Record<string, string>): Promise<MortalApi> {
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('./api-child.ts', import.meta.url)), JSON.stringify(settings)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  let said = '';
  const waiting = new Set<() => void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    for (const check of waiting) check();
  });
  const hear = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        const found = pattern.exec(said);
        if (found === null) return;
        waiting.delete(check);
        said = said.slice(found.index + found[0].length);
        resolve(found[1] ?? '');
      };
      waiting.add(check);
      child.once('exit', (code) => reject(new Error(`the API ended with ${code}`)));
      check();
    });
  const url = await hear(/url (\S+)\n/);
  return {
    url,
    ended,
    async arm(moment) {
      child.stdin?.write(`arm ${moment}\n`);
      await hear(/armed\n/);
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
