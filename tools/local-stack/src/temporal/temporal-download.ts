import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../process/command.ts';
import { reasonOf } from '../terminal.ts';
import { testedTemporal } from './dev-server.ts';
import { type TemporalSearch, temporalEnv } from './temporal-search.ts';

/** A `temporal` program, or why there is none. */
export type Fetched = { path: string } | string;

const limitWithoutProgressMs = 20_000;

/**
 * Runs a download into a folder of its own and puts the program that came of it in the place of `target` by one rename, so that starts
 * side by side never see half of one. Shows how much has come, and aborts the download's signal when nothing comes any more.
 */
export async function fetchInto(
  target: string,
  { terminal, signal }: Pick<TemporalSearch, 'terminal' | 'signal'>,
  download: (folder: string, signal: AbortSignal) => Promise<Fetched>,
): Promise<Fetched> {
  let folder: string;
  try {
    mkdirSync(dirname(target), { recursive: true });
    folder = mkdtempSync(join(dirname(target), 'download-'));
  } catch (error) {
    return reasonOf(error);
  }
  const progress = terminal.progress('downloading the Temporal CLI');
  const stalled = new AbortController();
  let bytes = 0;
  let changedAt = Date.now();
  const timer = setInterval(() => {
    const now = folderBytes(folder);
    if (now !== bytes) {
      bytes = now;
      changedAt = Date.now();
      progress.update(`${(bytes / 2 ** 20).toFixed(0)} MB`);
    } else if (Date.now() - changedAt > limitWithoutProgressMs) stalled.abort();
  }, 500);
  try {
    const got = await download(folder, AbortSignal.any([signal, stalled.signal]));
    if (typeof got === 'string') return got;
    renameSync(got.path, target);
    return { path: target };
  } catch (error) {
    if (signal.aborted) throw error;
    return stalled.signal.aborted ? `nothing came for ${limitWithoutProgressMs / 1000} s` : reasonOf(error);
  } finally {
    clearInterval(timer);
    progress.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function folderBytes(folder: string): number {
  let sum = 0;
  try {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const { size } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { size: 0 };
      sum += size;
    }
  } catch {
    // A folder that went away while it was read.
  }
  return sum;
}

const downloader = fileURLToPath(new URL('./temporal-downloader.ts', import.meta.url));

/**
 * Lets the Temporal SDK download the CLI into a file. It runs in a process of its own, because the SDK has no way to stop it: a
 * network that swallows packets would hold up the start for minutes.
 */
export function downloadTemporal(
  target: string,
  search: Pick<TemporalSearch, 'terminal' | 'signal'>,
): Promise<Fetched> {
  return fetchInto(target, search, async (folder, signal) => {
    const { failure, stderr } = await runCommand(process.execPath, [downloader, folder, `v${testedTemporal.cli}`], {
      env: temporalEnv(),
      signal,
    });
    const file = readdirSync(folder).find((name) => name.startsWith('temporal') && !name.endsWith('.downloading'));
    if (failure === null && file !== undefined) return { path: join(folder, file) };
    return causeOf(stderr.trim().split('\n').at(-1)?.trim() ?? '') || failure || 'nothing was downloaded';
  });
}

/** The address and the innermost cause of a message in which the SDK names both several times. */
function causeOf(message: string): string {
  const host = /https?:\/\/([^/)\s]+)/.exec(message)?.[1];
  if (host === undefined) return message;
  return `${host}: ${message.slice(message.lastIndexOf('): ') + 1).replace(/^: /, '')}`;
}
