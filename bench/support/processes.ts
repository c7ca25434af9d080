import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from '../../src/store/sql.ts';

/** A process as Linux tells of it. */
export interface ProcessStat {
  pid: number;
  parent: number;
  name: string;
  /** Seconds of processor time of its own, and of its children that have ended. */
  own: number;
  children: number;
}

/** Reads `/proc/<pid>/stat`. Throws when there is no such process. */
function statOf(pid: number): ProcessStat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // proc(5): fields 4 parent, 14 and 15 own time, 16 and 17 that of ended children, in ticks of 10 ms.
  const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) / 100;
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    parent: fields[1] ?? 0,
    own: ticks(11),
    children: ticks(13),
  };
}

/** Every process there is. */
function allProcesses(): ProcessStat[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [statOf(Number(name))];
    } catch {
      // It ended while the list was read.
      return [];
    }
  });
}

/** A process and all that it started, directly or not, as long as each starter lives. */
export function treeOf(pid: number): ProcessStat[] {
  const all = allProcesses();
  const below = (parent: ProcessStat): ProcessStat[] => [
    parent,
    ...all.filter((it) => it.parent === parent.pid).flatMap(below),
  ];
  return all.filter((it) => it.pid === pid).flatMap(below);
}

/** Seconds of processor time of a process, all it started, and all of those that have ended. */
export function cpuOfTree(pid: number): number {
  return treeOf(pid).reduce((sum, it) => sum + it.own + it.children, 0);
}

/** Megabytes of a process: its own memory, and of what it shares with others its share (PSS). */
export function pssMb(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}

/** Postgres, by its first process, and the Temporal servers that this process started. @throws where Postgres runs elsewhere */
export async function serverProcesses(db: Database): Promise<{ Postgres: ProcessStat; Temporal: ProcessStat[] }> {
  const row = await db.row<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    Postgres: statOf(statOf(row?.pid ?? 0).parent),
    Temporal: treeOf(process.pid).filter(({ name }) => name.startsWith('temporal')),
  };
}

/**
 * Seconds of processor time of Postgres with all its backends, also those that have ended, and of the Temporal servers that this process
 * started. Empty where Postgres runs elsewhere.
 */
export async function cpuOfServers(db: Database): Promise<Record<string, number>> {
  try {
    const { Postgres, Temporal } = await serverProcesses(db);
    return { Postgres: cpuOfTree(Postgres.pid), Temporal: Temporal.reduce((sum, it) => sum + it.own, 0) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return {};
  }
}
