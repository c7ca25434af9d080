import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
  const found = await commitOf(commit);
  return found && installedRelease(commit);
}

/**
 * The commit that added the last of these migrations to the history of this repository, and the one before it. Null where the history is not
 * there.
 */
export async function commitsAround(migrations: readonly string[]): Promise<{ before: string; since: string } | null> {
  const files = migrations.map((name) => `migrations/${name}.ts`);
  const added = await run('git', ['log', '--diff-filter=A', '--format=%H', '-1', '--', ...files], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  const before = added && (await commitOf(`${added}^`));
  return before ? { before: before.slice(0, 12), since: added.slice(0, 12) } : null;
}

/** Names of the migrations of a release in its folder. */
export function migrationsIn(folder: string): string[] {
  return readdirSync(join(folder, 'migrations'))
    .filter((file) => /^Migration\d+_\w+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length));
}

/** The next release: a folder with this one as it is on the disk, and a migration more. */
export async function releaseWith(name: string, statements: readonly string[]): Promise<string> {
  const folder = join(root, '.cache', 'release-next');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const copied =
    'git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -c | tar -x -C "$0"';
  await run('sh', ['-c', `${copied} && ${links}`, folder], { cwd: root });
  const queries = statements.map((statement) => `this.addSql(${JSON.stringify(statement)});`).join(' ');
  const text = `import { Migration } from '@mikro-orm/migrations';
export class ${name} extends Migration { override up(): void { ${queries} } }
`;
  writeFileSync(join(folder, `migrations/${name}.ts`), text);
  const list = readFileSync(join(folder, 'migrations/index.ts'), 'utf8');
  const longer = `import { ${name} } from './${name}.ts';\n${list.replace(/\];\s*$/, `  { name: '${name}', class: ${name} },\n];\n`)}`;
  writeFileSync(join(folder, 'migrations/index.ts'), longer);
  return folder;
}

async function commitOf(name: string): Promise<string | null> {
  const found = run('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root });
  return found.then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

const links =
  'for place in . dashboard packages/*; do [ ! -d $place/node_modules ] || cp -al $place/node_modules "$0/$place/"; done';

/** The folder of a commit of this repository, installed, which is made once and kept. */
export async function installedRelease(name: string): Promise<string> {
  const folder = join(root, '.cache', `release-${name}`);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(join(dirname(folder), 'release-'));
  try {
    await run('sh', ['-c', `git archive ${name} | tar -x -C "$0"`, unfinished], { cwd: root });
    const [ours, theirs] = [root, unfinished].map((place) => readFileSync(join(place, 'package-lock.json'), 'utf8'));
    // Packages that are the same need no second place on the disk: links to files take a second, an installation a minute.
    const linked =
      ours === theirs &&
      (await run('sh', ['-c', links, unfinished], { cwd: root }).then(
        () => true,
        () => false,
      ));
    if (!linked) await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: unfinished });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    throw error;
  }
  return folder;
}
