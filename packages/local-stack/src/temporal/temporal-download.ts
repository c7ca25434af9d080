import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../process/command.ts';
import { reasonOf } from '../start-error.ts';
import { temporalCliVersion } from './dev-server.ts';
import { type TemporalSearch, temporalEnv } from './temporal-search.ts';

const downloader = fileURLToPath(new URL('./temporal-downloader.ts', import.meta.url));
const limitWithoutProgressMs = 20_000;

/**
 * Lets the Temporal SDK download the pinned CLI into a file. It runs in a process of its own, because the SDK has no way to stop it:
 * a network that swallows packets would hold up the start for minutes. Answers the file, or why there is none.
 */
export async function downloadTemporal(
  target: string,
  { terminal, signal }: Pick<TemporalSearch, 'terminal' | 'signal'>,
): Promise<{ path: string } | string> {
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
    const result = await runCommand(process.execPath, [downloader, folder, `v${temporalCliVersion}`], {
      env: temporalEnv(),
      signal: AbortSignal.any([signal, stalled.signal]),
    });
    const file = readdirSync(folder).find((name) => name.startsWith('temporal') && !name.endsWith('.downloading'));
    if (result.failure || file === undefined)
      return result.stderr.trim().split('\n').at(-1)?.trim() || result.failure || 'nothing was downloaded';
    renameSync(join(folder, file), target);
    return { path: target };
  } catch (error) {
    if (signal.aborted || !stalled.signal.aborted) throw error;
    return `nothing came for ${limitWithoutProgressMs / 1000} s`;
  } finally {
    clearInterval(timer);
    progress.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function folderBytes(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
