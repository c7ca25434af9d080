import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** The packages that are published, each after those that it needs. */
export const publishedPackages = ['sdk', 'mcp', 'earlier-name', 'cli'] as const;
export type PublishedPackage = (typeof publishedPackages)[number];

/** Builds a package as npm gets it, into `folder`. */
async function buildPackage(name: PublishedPackage, folder: string): Promise<void> {
  const build = join(root, 'packages/sdk/build-package.ts');
  await run(process.execPath, [build, folder], { cwd: join(root, 'packages', name) }).catch(({ stdout, stderr }) => {
    throw new Error(`${name} does not build:\n${stdout}${stderr}`);
  });
}

/** Builds a package and packs it into `folder`; answers the path of the tarball with the files in it. */
export async function packPackage(
  name: PublishedPackage,
  folder: string,
): Promise<{ tarball: string; files: string[] }> {
  const built = join(folder, `built-${name}`);
  mkdirSync(built, { recursive: true });
  await buildPackage(name, built);
  const { stdout } = await run('npm', ['pack', built, '--json', '--pack-destination', folder], { cwd: folder });
  const [pack] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (pack === undefined) throw new Error(`npm packed nothing of ${name}`);
  return { tarball: join(folder, pack.filename), files: pack.files.map(({ path }) => path) };
}
