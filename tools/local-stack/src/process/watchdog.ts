import { spawn } from 'node:child_process';

/** A process that is stopped when ours dies without having stopped it. */
export interface WatchedProcess {
  pid: number;
  /** The first signal; SIGKILL follows ten seconds later. */
  signal: 'TERM' | 'INT';
  /** How long it is left alone first, so that those who use it can finish. */
  graceSeconds: number;
  /** A temporary folder to remove after it ended. */
  remove?: string;
}

/** A watch that is being kept. */
export interface Watchdog {
  /** Ends the watch: the process has ended, or is about to by our own hand. */
  dismiss(): void;
}

// Waits on a pipe that only our process holds open. A line says that all is well; its end without a line says that we died, be it by
// SIGKILL. A shell costs a thousandth of the memory of a second Node, and every Unix has one.
const script = `
read -r word
[ "$word" = end ] && exit 0
sleep "$3"
kill -s "$2" -- "-$1" 2>/dev/null || kill -s "$2" "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ "$n" -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
kill -s KILL -- "-$1" 2>/dev/null || kill -s KILL "$1" 2>/dev/null
[ -n "$4" ] && rm -rf -- "$4"
exit 0
`;

/** Makes sure that a process group ends soon after this process does, however this process ends. */
export function watchOver({ pid, signal, graceSeconds, remove = '' }: WatchedProcess): Watchdog {
  const dog = spawn('/bin/sh', ['-c', script, 'fernpost-watchdog', String(pid), signal, String(graceSeconds), remove], {
    cwd: '/',
    detached: true,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  dog.unref();
  dog.on('error', () => {});
  dog.stdin.on('error', () => {});
  // The pipe must not keep this process alive, only live as long as it.
  if ('unref' in dog.stdin && typeof dog.stdin.unref === 'function') dog.stdin.unref();
  return {
    dismiss: () => {
      dog.stdin.end('end\n');
    },
  };
}
