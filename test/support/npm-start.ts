import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answers, freePorts, isAlive, type ProcessIdentity } from '@fernpost/local-stack';
import { eventually } from '../../tools/local-stack/test/fakes.ts';

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A place of its own for runs of `npm start`: a data folder and free ports. */
export interface Place extends Disposable {
  dataDir: string;
  env: Record<string, string>;
  ports: number[];
  baseUrl: string;
  sandboxUrl: string;
}

/** One run of what `npm start` runs. */
export interface Run extends AsyncDisposable {
  pid: number;
  /** What the terminal shows. */
  text(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Signals the whole process group, as Ctrl-C in a terminal does. */
  signalGroup(signal: NodeJS.Signals): void;
  /** Waits until the service is ready, and fails with what the terminal shows when it ends before. */
  untilReady(): Promise<void>;
  /** The processes it has noted as its own. */
  processes(): (ProcessIdentity & { name: string })[];
}

/** Makes a place. Other Temporal and Postgres settings of the machine do not reach it. */
export async function aPlace(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fernpost-start-'));
  // As root, Postgres runs as another user, which has to get in.
  chmodSync(dataDir, 0o755);
  const ports = await freePorts(6);
  const names = ['PORT', 'SANDBOX_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'POSTGRES_PORT', 'SMTP_IN_PORT'];
  const kept = ['PATH', 'HOME', 'XDG_CACHE_HOME', 'TEMPORAL_CLI', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value ? [[name, value]] : [];
  });
  return {
    dataDir,
    ports,
    env: {
      ...Object.fromEntries(kept),
      ...Object.fromEntries(names.map((name, index) => [name, String(ports[index])])),
      DATA_DIR: dataDir,
      SANDBOX_DELAY_MS: '0',
    },
    baseUrl: `http://127.0.0.1:${ports[0]}`,
    sandboxUrl: `http://127.0.0.1:${ports[1]}`,
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/**
 * Starts the service in a place, with further settings if need be, and that of another release from its folder `root`; with `shell` from a
 * shell that waits for it, as npm does. The run is then that of the shell.
 */
export function startIn(
  place: Place,
  settings: Record<string, string> = {},
  { shell = false, root = ownRoot }: { shell?: boolean; root?: string } = {},
): Run {
  const start = join(root, 'src/main/start.ts');
  const [command, args] = shell
    ? ['/bin/sh', ['-c', '"$0" "$1"; exit $?', process.execPath, start]]
    : [process.execPath, [start]];
  const child = spawn(command, args, {
    env: { ...place.env, ...settings },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the start could not be started');
  let text = '';
  let hasEnded = false;
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve({ code, signal });
    });
  });
  const signalGroup = (signal: NodeJS.Signals) => {
    if (!hasEnded) process.kill(-pid, signal);
  };
  return {
    pid,
    ended,
    signalGroup,
    text: () => text,
    async untilReady() {
      await eventually(() => hasEnded || /^\w+ is ready after/m.test(text));
      if (hasEnded) throw new Error(`it ended before it was ready:\n${text}`);
    },
    processes: () => {
      const path = join(place.dataDir, 'run.json');
      return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).processes : [];
    },
    async [Symbol.asyncDispose]() {
      signalGroup('SIGTERM');
      await ended;
    },
  };
}

/** What is left of a run: living processes, and ports that answer. */
export async function leftOf(place: Place, processes: readonly ProcessIdentity[]): Promise<(number | string)[]> {
  const open = await Promise.all(place.ports.map((port) => answers(port, '127.0.0.1')));
  return [
    ...processes.filter(isAlive).map(({ pid }) => `process ${pid}`),
    ...place.ports.filter((_port, index) => open[index]),
  ];
}
