import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { relative, sep } from 'node:path';
import { runCommand } from './process/command.ts';
import { StartError } from './terminal.ts';

/** A path as a person would type it: relative where it lies below the current folder. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith(`..${sep}`) || short === '..' ? path : short;
}

const listening = '0A';

/** The program that listens on a TCP port of this machine, as "name (process 123)"; null where the system does not say. */
async function listenerOn(port: number): Promise<string | null> {
  if (process.platform === 'linux') return listenerByProc(port);
  const { stdout } = await runCommand('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { limitMs: 5_000 });
  const [, pid, name] = /^p(\d+)\n(?:f.*\n)?c(.+)$/m.exec(stdout) ?? [];
  return pid === undefined ? null : `${name} (process ${pid})`;
}

function listenerByProc(port: number): string | null {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => socketsOf(`/proc/net/${table}`, port)));
  if (sockets.size === 0) return null;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const owns = readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
      if (owns) return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} (process ${pid})`;
    } catch {
      // Another user's process, or one that has just ended.
    }
  }
  return null;
}

function socketsOf(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  try {
    return readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === listening)
      .map((columns) => `socket:[${columns[9]}]`);
  } catch {
    return [];
  }
}

/** A port that something of ours is going to listen on. */
export interface WantedPort {
  port: number;
  host: string;
  /** The program that wants it, as a person calls it. */
  wantedBy: string;
  /** The setting that moves it. */
  setting: string;
  /** Whether Fernpost starts without it where the port is taken. */
  optional?: boolean;
}

/** A port that is not free. */
export interface TakenPort extends WantedPort {
  /** A sentence that says why, and which setting moves it. */
  problem: string;
}

/**
 * Makes sure that every port is free before anything is started. Returns the optional ones that are not.
 * @throws StartError with one line for each other port that is not free
 */
export async function requireFreePorts(wanted: readonly WantedPort[]): Promise<TakenPort[]> {
  const taken: TakenPort[] = [];
  for (const [index, want] of wanted.entries()) {
    const twin = wanted.slice(0, index).find((other) => other.port === want.port);
    const reason = twin ? `is also ${twin.setting}` : await whyNotFree(want);
    if (reason)
      taken.push({
        ...want,
        problem: `Port ${want.port} ${reason}; ${want.wantedBy} wants it. Set ${want.setting} to another.`,
      });
  }
  const needed = taken.filter(({ optional }) => !optional);
  if (needed.length > 0) throw new StartError(...needed.map(({ problem }) => problem));
  return taken;
}

async function whyNotFree({ port, host }: WantedPort): Promise<string | null> {
  const failure = await tryToListen(port, host);
  if (failure === 'EADDRINUSE') return inUseBy(await listenerOn(port));
  if (failure === 'EACCES') return 'may not be opened by this user';
  if (failure) return `cannot be opened on ${host} (${failure})`;
  // A program on ::1 alone does not stop us from listening on 127.0.0.1, but would answer for http://localhost in our place.
  if (host === '127.0.0.1' && (await answers(port, '::1'))) return `${inUseBy(await listenerOn(port))} (on ::1)`;
  return null;
}

function inUseBy(program: string | null): string {
  return program === null ? 'is in use' : `is in use by ${program}`;
}

function tryToListen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Whether something accepts connections there. */
export function answers(port: number, host: string, limitMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: limitMs });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

// Below the ports that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere): one of those could be taken
// between its choice and its use.
const lowestPort = 10_000;
const highestPort = 32_000;

/** Ports on the loopback address that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const chosen = new Set<number>();
  while (chosen.size < count) {
    const port = randomInt(lowestPort, highestPort + 1);
    if (!chosen.has(port) && (await tryToListen(port, '127.0.0.1')) === null) chosen.add(port);
  }
  return [...chosen];
}
