import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

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
