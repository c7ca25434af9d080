import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { runCommand } from './process/command.ts';

const listening = '0A';

/** The program that listens on a TCP port of this machine, as "name (process 123)"; null where the system does not say. */
export async function listenerOn(port: number): Promise<string | null> {
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
