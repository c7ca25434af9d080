import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
/** The last commit with the earlier name of the product. */
const commit = '01ce82dd';

/**
 * The folder of the release with the earlier name, installed: UPGRADE_FROM; with FULL_TESTS=1 else one that is made of the history of this
 * repository and kept. Null without either, and where the history is not there, as in a shallow clone.
 */
export async function earlierRelease(): Promise<string | null> {
  if (process.env.UPGRADE_FROM) return process.env.UPGRADE_FROM;
  if (process.env.FULL_TESTS !== '1') return null;
  const isThere = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  );
  return isThere ? installedRelease(commit) : null;
}

/** The folder of a commit of this repository, installed, which is made once and kept. */
export async function installedRelease(name: string): Promise<string> {
  const folder = join(root, '.cache', `release-${name}`);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(join(dirname(folder), 'release-'));
  try {
    await run('sh', ['-c', `git archive ${name} | tar -x -C "$0"`, unfinished], { cwd: root });
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: unfinished });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    throw error;
  }
  return folder;
}
