import { spawn } from 'node:child_process';
import { StartInterrupted } from '../terminal.ts';
import { watchOver } from './watchdog.ts';

/** How a command is run; all of it is optional. */
export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  /** Ends the command, and everything it started, when it takes longer. */
  limitMs?: number;
  /** Ends the command when aborted; the promise then rejects with StartInterrupted. */
  signal?: AbortSignal;
  /** Called with each line of either output as it comes. */
  onLine?: (line: string) => void;
}

/** The result of a command. `failure` is null when it ended with status 0, else a few words. */
export interface CommandResult {
  failure: string | null;
  stdout: string;
  stderr: string;
}

const keptBytes = 256 * 1024;

/** Runs a program to its end, without a shell, in a process group of its own that never outlives this process. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { limitMs, signal, onLine, ...rest } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new StartInterrupted());
      return;
    }
    const child = spawn(command, args, { ...rest, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    let cut: string | null = null;
    const watchdog = child.pid === undefined ? null : watchOver({ pid: child.pid, signal: 'TERM', graceSeconds: 0 });
    const end = (reason: string) => {
      cut ??= reason;
      if (child.pid !== undefined && child.exitCode === null) killGroup(child.pid, 'SIGTERM');
      setTimeout(
        () => child.pid !== undefined && child.exitCode === null && killGroup(child.pid, 'SIGKILL'),
        2_000,
      ).unref();
    };
    const timer = limitMs === undefined ? null : setTimeout(() => end(`no answer within ${limitMs / 1000} s`), limitMs);
    const onAbort = () => end('interrupted');
    signal?.addEventListener('abort', onAbort, { once: true });
    for (const name of ['stdout', 'stderr'] as const) {
      let rest = '';
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(-keptBytes);
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        if (onLine) for (const line of lines) onLine(line);
      });
    }
    const settle = (failure: string | null) => {
      if (timer) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      watchdog?.dismiss();
      if (signal?.aborted) reject(new StartInterrupted());
      else resolve({ failure, ...output });
    };
    child.once('error', (error: NodeJS.ErrnoException) => settle(spawnFailure(error)));
    child.once('close', (code, killedBy) =>
      settle(
        code === 0 && cut === null ? null : (cut ?? (killedBy ? `ended by ${killedBy}` : `ended with status ${code}`)),
      ),
    );
  });
}

/** Explains why a program could not be started. */
export function spawnFailure(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such program';
  if (error.code === 'EACCES') return 'it may not be executed';
  return `it cannot be started (${error.code ?? error.message})`;
}

/** Signals a process group, and the process alone where it leads none. Gone is fine. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // No such group, or it ended a moment ago.
    }
  }
}
