import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../process/command.ts';
import { testedTemporal } from './dev-server.ts';
import { type Fetched, fetchInto } from './temporal-fetch.ts';
import { type TemporalSearch, temporalEnv } from './temporal-search.ts';

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
