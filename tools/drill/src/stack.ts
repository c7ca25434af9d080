import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  freePorts,
  identityOf,
  isAlive,
  launchNode,
  type ProcessIdentity,
  postgresUrl,
  StartError,
} from '@fernpost/local-stack';
import type { Target } from './plan.ts';

/** How to start the service that is drilled, which `tools/drill` knows from outside only. */
export interface DrilledService {
  /** The root folder of the project. */
  root: string;
  /** The program that `npm start` runs, below it. */
  program: string;
  /** Names of its settings: none of this process' own reaches the drill's stack. */
  settings: readonly string[];
  /** The password of the Postgres that it runs, from its data folder. */
  postgresPassword(dataDir: string): string;
}

/** The parts of `first-project.json` that the drill reads. */
interface FirstProject {
  baseUrl: string;
  secretKey: string;
  sender: string;
}

/** A Fernpost of the drill's own, run by what `npm start` runs: its own data, its own ports. */
export interface Stack {
  dataDir: string;
  project: FirstProject;
  sandboxUrl: string;
  databaseUrl: string;
  /** Kills a process with SIGKILL. Answers false when it was not running within the time allowed. */
  kill(victim: Target): Promise<boolean>;
  /** Aborts, with the last lines of its supervisor, when that ends although nobody asked it to. */
  lost: AbortSignal;
  /** Returns the supervisor's lines about processes that ended and were started again. */
  restarts(): string[];
  /** Stops everything; removes the data unless it is to be kept. */
  stop(keep: boolean): Promise<void>;
}

const startMinutes = 10;
const stopMs = 20_000;
// The supervisor waits longer each time a process dies young.
const restartMs = 45_000;

/** Starts it and waits until it is ready. `own` are settings beyond those that keep it apart from everything else. */
export async function startStack(
  service: DrilledService,
  own: Record<string, string>,
  signal: AbortSignal,
): Promise<Stack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fernpost-drill-'));
  // As root, Postgres runs as another user, which has to get in.
  chmodSync(dataDir, 0o755);
  const [api = 0, sandbox = 0, temporal = 0, ui = 0, postgres = 0] = await freePorts(5);
  const env = {
    ...withoutSettings(process.env, service.settings),
    ...own,
    DATA_DIR: dataDir,
    PORT: String(api),
    SANDBOX_PORT: String(sandbox),
    TEMPORAL_PORT: String(temporal),
    TEMPORAL_UI_PORT: String(ui),
    POSTGRES_PORT: String(postgres),
    SMTP_IN_PORT: '0',
    // API and worker are killed one by one.
    START_SEPARATE_PROCESSES: 'true',
  };
  let output = '';
  const running = await launchNode({
    file: service.program,
    cwd: service.root,
    env,
    output: (chunk) => {
      output += chunk.toString();
    },
  });
  const lost = new AbortController();
  let stopping = false;
  void running.exited.then((how) => {
    if (!stopping)
      lost.abort(
        new StartError(`The supervisor of the drill's stack ${how}:`, ...output.trim().split('\n').slice(-12)),
      );
  });
  const stop = async (keep: boolean) => {
    stopping = true;
    await running.stop(stopMs);
    if (!keep) rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const giveUpAt = Date.now() + startMinutes * 60_000;
    while (!output.includes('Fernpost is ready')) {
      signal.throwIfAborted();
      if (running.hasExited() || Date.now() > giveUpAt)
        throw new StartError('The stack of the drill did not start:', ...output.trim().split('\n').slice(-12));
      await sleep(100);
    }
    return {
      dataDir,
      project: JSON.parse(readFileSync(join(dataDir, 'first-project.json'), 'utf8')) as FirstProject,
      sandboxUrl: `http://127.0.0.1:${sandbox}`,
      databaseUrl: postgresUrl({ port: postgres, password: service.postgresPassword(dataDir) }),
      lost: lost.signal,
      kill: (victim) => killNamed(dataDir, victim),
      restarts: () => restartLines(output),
      stop,
    };
  } catch (error) {
    await stop(false);
    throw error;
  }
}

// Each with the last words of the process, which the supervisor shows below.
function restartLines(output: string): string[] {
  return output
    .split(/\n(?! {2})/)
    .filter((line) => / and starts again in /.test(line))
    .map((line) => line.trim());
}

// A drill must reach neither a database nor a mail provider that somebody uses.
function withoutSettings(env: NodeJS.ProcessEnv, settings: readonly string[]): NodeJS.ProcessEnv {
  const kept = new Set(['TEMPORAL_CLI']);
  const own = Object.entries(env).filter(
    ([name]) => kept.has(name) || !(settings.includes(name) || name.startsWith('npm_')),
  );
  return { HOME: homedir(), ...Object.fromEntries(own) };
}

async function killNamed(dataDir: string, victim: Target): Promise<boolean> {
  const giveUpAt = Date.now() + restartMs;
  while (Date.now() < giveUpAt) {
    const found = processesOf(dataDir).find(({ name }) => name === victim);
    if (found !== undefined && isAlive(found)) {
      process.kill(found.pid, 'SIGKILL');
      while (identityOf(found.pid)?.born === found.born) await sleep(5);
      return true;
    }
    await sleep(50);
  }
  return false;
}

function processesOf(dataDir: string): (ProcessIdentity & { name: string })[] {
  const note = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
    processes: (ProcessIdentity & { name: string })[];
  };
  return note.processes;
}
