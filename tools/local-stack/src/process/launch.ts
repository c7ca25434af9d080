import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { killGroup, spawnFailure } from './command.ts';
import type { LogFile } from './log-file.ts';
import { watchOver } from './watchdog.ts';

/** A process that runs until it is stopped. */
export interface Launch {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Where both of its outputs go, straight and not through us: a program must not end because its listener did. */
  log: LogFile;
  /** The signal that asks it to finish what it is doing and end. */
  stopSignal: 'SIGTERM' | 'SIGINT';
  /** How long it lives on when this process dies, for those who use it. */
  orphanGraceSeconds: number;
  /** A temporary folder of its own that goes with it when this process dies. */
  remove?: string;
}

/** A process that was started. */
export interface RunningProcess {
  pid: number;
  /** Resolves when it has ended, to a few words that say how. Never rejects. */
  exited: Promise<string>;
  /** Whether it has ended. */
  hasExited(): boolean;
  /** Asks it to stop and kills it, with all it started, when it has not ended within the limit. Answers whether it ended by itself. */
  stop(limitMs: number): Promise<boolean>;
}

const lastWordsMs = 300;
const parentWatchdog = fileURLToPath(new URL('./parent-watchdog.ts', import.meta.url));

/**
 * Starts a program of others in a session of its own: Ctrl-C reaches only us, and we decide the order in which things stop.
 * It ends soon after this process, however this process ends.
 */
export async function launch(options: Launch): Promise<RunningProcess> {
  const descriptor = options.log.openForProgram();
  const child = spawnApart(options, ['ignore', descriptor, descriptor]);
  closeSync(descriptor);
  const running = await follow(child, options);
  const watchdog = watchOver({
    pid: running.pid,
    signal: options.stopSignal === 'SIGINT' ? 'INT' : 'TERM',
    graceSeconds: options.orphanGraceSeconds,
    ...(options.remove === undefined ? {} : { remove: options.remove }),
  });
  void running.exited.then(() => watchdog.dismiss());
  return running;
}

/** A TypeScript program that runs until it is stopped. */
export interface NodeLaunch {
  /** The program, below `cwd`, and its arguments. */
  file: string;
  args?: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Gets what it writes, to either output. */
  output(chunk: Buffer): void;
  /** Gets the messages that it sends, and may answer them. */
  onMessage?: ((message: unknown, reply: (answer: string) => void) => void) | undefined;
  /** When it may begin what it is there for: it gets a message then. */
  mayBegin?: Promise<unknown>;
  /** Options of its Node. */
  nodeOptions?: readonly string[];
}

/** Starts a TypeScript program in a session of its own. It gets SIGTERM when this process is gone. */
export async function launchNode({
  file,
  cwd,
  env,
  output,
  onMessage,
  mayBegin,
  nodeOptions = [],
  ...launched
}: NodeLaunch): Promise<RunningProcess> {
  const args = [...nodeOptions, '--import', parentWatchdog, file, ...(launched.args ?? [])];
  const options = { command: process.execPath, args, env, cwd };
  const child = spawnApart(options, ['ignore', 'pipe', 'pipe', 'ipc']);
  child.stdout?.on('data', output);
  child.stderr?.on('data', output);
  const send = (message: string) => void (child.connected && child.send(message));
  if (onMessage) child.on('message', (message) => onMessage(message, send));
  mayBegin?.then(
    () => send('begin'),
    () => undefined,
  );
  return follow(child, { ...options, stopSignal: 'SIGTERM' });
}

function spawnApart(
  options: Omit<Launch, 'log' | 'stopSignal' | 'orphanGraceSeconds'>,
  stdio: StdioOptions,
): ChildProcess {
  const { command, args, env, cwd, uid, gid } = options;
  return spawn(command, args, {
    env,
    cwd: cwd ?? '/',
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    detached: true,
    stdio,
  });
}

async function follow(child: ChildProcess, { command, stopSignal }: Pick<Launch, 'command' | 'stopSignal'>) {
  let ended = false;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true;
      const how = signal ? `ended by ${signal}` : `ended with status ${code}`;
      // Its last words may still be on their way; something it started may hold its output open for ever.
      child.once('close', () => resolve(how));
      setTimeout(resolve, lastWordsMs, how);
    });
  });
  // Errors after the first only say that a signal or a message could not be delivered, also to a process that could not be
  // started; the exit tells the rest.
  child.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${command}: ${spawnFailure(error)}`)));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command}: it cannot be started`);

  const running: RunningProcess = {
    pid,
    exited,
    hasExited: () => ended,
    async stop(limitMs) {
      if (ended) return true;
      killGroup(pid, stopSignal);
      let inTime = true;
      const timer = setTimeout(() => {
        inTime = false;
        killGroup(pid, 'SIGKILL');
      }, limitMs);
      await exited;
      clearTimeout(timer);
      return inTime;
    },
  };
  return running;
}
