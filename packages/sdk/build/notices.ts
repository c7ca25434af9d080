import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Licensed {
  name: string;
  license: string;
  repository?: string | { url: string };
}

/** The licenses of packages that are bundled, given some file of each: a text that names every package once, with its version. */
export function noticesOf(files: Iterable<string>): string {
  const notices = new Map<string, string>();
  for (const file of files) {
    const folder = packageFolderOf(file);
    const { name, version, license, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    notices.set(name, `${name} ${version} (${license})\n\n${licenseOf(folder, { name, license, repository })}\n`);
  }
  const sorted = [...notices].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, notice]) => notice);
  return `This package contains the following software.\n\n${sorted.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function licenseOf(folder: string, { name, license, repository }: Licensed): string {
  const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  if (license !== 'MIT') throw new Error(`${name} is bundled, and has no license file`);
  // Its own archive leaves the file out; the text of the license is one and the same (https://spdx.org/licenses/MIT.html).
  const source = typeof repository === 'string' ? repository : repository?.url;
  const mit = readFileSync(new URL('../../../LICENSE', import.meta.url), 'utf8');
  return mit.replace(/^Copyright.*$/m, `Copyright (c) the authors of ${name} (${source})`).trim();
}

// Some packages have a further package.json in the folder of a module format, without a name.
function packageFolderOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version !== undefined) return folder;
  }
  throw new Error(`${file} belongs to no package`);
}
