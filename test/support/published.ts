import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** Builds the downloads as `npm run build` does: where the service looks for them, or into another folder. */
export async function buildDownloads(folder = join(root, 'dist/downloads')): Promise<void> {
  await run(process.execPath, [join(root, 'packages/sdk/build/build.ts'), folder]);
}

/** Unpacks an archive of npm into a folder. */
export async function unpack(archive: string, folder: string): Promise<void> {
  await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
}
