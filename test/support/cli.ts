import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The command line program from its sources. */
export const cliProgram = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

/** The command line program with an environment. */
export interface Cli {
  start(options: readonly string[], changes?: Record<string, string>): ChildProcess;
  /** Runs it to its end; standard input is empty unless given. */
  run(
    options: readonly string[],
    given?: { env?: Record<string, string>; input?: string },
  ): Promise<{ code: number; out: string; err: string }>;
  /** What it prints with `--json`; it must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  json(options: readonly string[]): Promise<any>;
}

/** @param env beside PATH and the folder of what has been compiled; read at each start, so that it may be filled in before the first */
export function cli(env: () => Record<string, string>): Cli {
  // Without what has been compiled before, each start takes three times the processor time.
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const start: Cli['start'] = (options, changes = {}) =>
    spawn(process.execPath, [cliProgram, ...options], { env: { PATH, NODE_COMPILE_CACHE, ...env(), ...changes } });
  const run: Cli['run'] = async (options, { env: changes = {}, input = '' } = {}) => {
    const child = start(options, changes);
    child.stdin?.end(input);
    const [out, err, [code]] = await Promise.all([
      child.stdout ? text(child.stdout) : '',
      child.stderr ? text(child.stderr) : '',
      once(child, 'close'),
    ]);
    return { code: code as number, out, err };
  };
  return {
    start,
    run,
    async json(options) {
      const { code, out, err } = await run(['--json', ...options]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out);
    },
  };
}
