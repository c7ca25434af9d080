import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// `npm run notices`: writes THIRD_PARTY_NOTICES.md, the licenses of the packages that the service runs with, from the lock file and what
// is installed. The image is built with it, so it uses nothing but Node.
const root = join(import.meta.dirname, '../..');

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
const lines: string[] = [];
const texts = new Map<string, string[]>();

for (const [path, { version = '', dev, optional, link, ...locked }] of Object.entries(packages)) {
  if (!path.includes('node_modules/') || dev || link) continue;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const folder = join(root, path);
  if (!existsSync(join(folder, 'package.json'))) {
    // Programs for other platforms are not installed; their main package has the license.
    if (optional) continue;
    throw new Error(`${path} is in package-lock.json and not installed: run npm ci`);
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (manifest.version !== version) throw new Error(`${path} is not the version of package-lock.json: run npm ci`);
  const license: string =
    locked.license ?? manifest.license?.type ?? manifest.license ?? manifest.licenses?.[0]?.type ?? 'see its text';
  lines.push(`| ${name} | ${version} | ${license} |`);
  const text = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file) && !/\.(js|ts|json)$/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n');
  if (text !== '') texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
}

const unique = [...new Set(lines)].sort();
const head =
  '# Third-party notices\n\nPackages that Fernpost runs with, and their licenses.\n\n| Package | Version | License |\n|---|---|---|\n';
const body = [...texts].map(
  ([text, names]) => `## ${[...new Set(names)].join(', ')}\n\n~~~text\n${text.replaceAll('~~~', '~ ~')}\n~~~\n`,
);
const file = process.argv[2] ?? join(root, 'THIRD_PARTY_NOTICES.md');
writeFileSync(file, `${head}${unique.join('\n')}\n\n${body.join('\n')}`);
console.log(`${unique.length} packages, ${texts.size} texts: ${file}`);
