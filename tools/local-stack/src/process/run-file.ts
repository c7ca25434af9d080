import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { reasonOf, StartError } from '../terminal.ts';
import { killGroup } from './command.ts';

/** A process, distinguished from a later one that got the same number. */
export interface ProcessIdentity {
  pid: number;
  /** When it was started, in whatever form this system tells it. */
  born: string;
}

/** The identity of a living process, or null when there is none with this number. */
export function identityOf(pid: number): ProcessIdentity | null {
  const born = birthOf(pid);
  return born === null ? null : { pid, born };
}

/** Whether this very process still lives. */
export function isAlive({ pid, born }: ProcessIdentity): boolean {
  return birthOf(pid) === born;
}

/** The command line of a living process, or an empty text where it cannot be read. */
export function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return ps(pid, 'command=');
  } catch {
    return '';
  }
}

function birthOf(pid: number): string | null {
  try {
    if (existsSync('/proc/self/stat')) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name of the program, in parentheses, may hold spaces; the fields are counted behind it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state] = fields;
      return state === 'Z' || state === 'X' ? null : (fields[19] ?? null);
    }
    return ps(pid, 'lstart=') || null;
  } catch {
    return null;
  }
}

function ps(pid: number, column: string): string {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8', stdio }).trim();
}

const Identity = v.object({ pid: v.pipe(v.number(), v.integer(), v.minValue(2)), born: v.string() });
const RunFile = v.object({
  supervisor: Identity,
  processes: v.array(v.object({ ...Identity.entries, name: v.string() })),
});
type RunFile = v.InferOutput<typeof RunFile>;

/** The note in DATA_DIR that says which processes belong to a run, so that a later start finds what a killed one left. */
export interface RunRecord {
  /** Notes a process that was started, in place of an earlier one of that name. */
  started(name: string, pid: number): void;
  /** Removes the note: everything has been stopped. */
  end(): void;
}

// Who uses something stops before what it uses: ours, which are not listed, come first.
const servers = ['temporal', 'postgres'];
const limitPerProcessMs = 8_000;

/**
 * Takes DATA_DIR for this run. Processes that an earlier run left behind, because it was killed, are stopped first.
 * @throws StartError when another run is using the folder
 */
export async function takeDataDir(dataDir: string, say: (line: string) => void): Promise<RunRecord> {
  const path = join(dataDir, 'run.json');
  try {
    // Nobody else reads it; as root, Postgres runs as another user, which must get through.
    if (mkdirSync(dataDir, { recursive: true }) !== undefined)
      chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be made (${reasonOf(error)}). Set DATA_DIR to a folder of yours.`);
  }
  const earlier = readRunFile(path);
  if (earlier && isAlive(earlier.supervisor))
    throw new StartError(
      `DATA_DIR ${dataDir} is in use by another npm start (process ${earlier.supervisor.pid}). Stop that one, or set DATA_DIR and the ports.`,
    );
  if (earlier) await stopLeftovers(earlier, say);

  const supervisor = identityOf(process.pid);
  if (supervisor === null) throw new StartError('This system does not tell when a process was started (/proc or ps).');
  const file: RunFile = { supervisor, processes: [] };
  const save = () => {
    writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  try {
    save();
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${dataDir} cannot be written (${reasonOf(error)}). Set DATA_DIR to a folder of yours.`,
    );
  }
  return {
    started(name, pid) {
      const identity = identityOf(pid);
      if (identity === null) return;
      file.processes = [...file.processes.filter((process) => process.name !== name), { name, ...identity }];
      save();
    },
    end: () => rmSync(path, { force: true }),
  };
}

function readRunFile(path: string): RunFile | null {
  try {
    return v.parse(RunFile, JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

async function stopLeftovers({ processes }: RunFile, say: (line: string) => void): Promise<void> {
  const left = processes.filter(isAlive).sort((a, b) => servers.indexOf(a.name) - servers.indexOf(b.name));
  if (left.length > 0) say(`Stopping what an earlier run left behind: ${left.map(({ name }) => name).join(', ')}`);
  for (const process of left) await stopLeftover(process.name, process);
}

/** Stops a process that is not our child: politely, then by force. */
export async function stopLeftover(name: string, process: ProcessIdentity, limitMs = limitPerProcessMs): Promise<void> {
  // Ours noticed that their supervisor is gone and are draining; a second signal would cut that short. SIGINT makes Postgres end its
  // connections and shut down cleanly; SIGTERM would wait for them.
  if (servers.includes(name)) killGroup(process.pid, name === 'postgres' ? 'SIGINT' : 'SIGTERM');
  const forceAt = Date.now() + limitMs;
  for (let forced = false; isAlive(process); ) {
    await sleep(50);
    if (Date.now() > forceAt + 5_000)
      throw new StartError(
        `The ${name} of an earlier run (process ${process.pid}) cannot be stopped. Stop it, then start again.`,
      );
    if (forced || Date.now() < forceAt) continue;
    killGroup(process.pid, 'SIGKILL');
    forced = true;
  }
}
