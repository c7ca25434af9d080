import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/*
 * Builds the dashboard into dashboard/dist: the bundle, and compressed copies beside each file. Does nothing when nothing changed
 * since the last build. `--check` only tells whether a build is due (exit code 1). The API serves the earlier build until this one
 * is complete.
 */
const folder = fileURLToPath(new URL('.', import.meta.url));
const root = join(folder, '..');
const place = join(folder, 'dist');
const next = join(folder, 'dist-next');
const stamp = join(place, '.built-from');
const require = createRequire(import.meta.url);

const due = fingerprint();
if (isBuilt()) process.exit(0);
if (process.argv.includes('--check')) process.exit(1);
takeTurn();
if (isBuilt()) process.exit(0);

const vite = join(dirname(require.resolve('vite/package.json')), 'bin/vite.js');
run(vite, 'build', '--logLevel', 'warn', '--outDir', next, '--emptyOutDir');
compress(next);
writeFileSync(join(next, '.built-from'), due);
rmSync(place, { recursive: true, force: true });
renameSync(next, place);

function isBuilt(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === due;
}

// Two builds at once, such as those of tests side by side, would write into the same folder.
function takeTurn(): void {
  const turn = join(folder, '.building');
  for (;;) {
    try {
      writeFileSync(turn, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(turn, { force: true }));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const builder = builderOf(turn);
    // A builder that was killed has left its mark behind.
    if (builder > 0 && !isAlive(builder)) rmSync(turn, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/** The process that is building; 0 where it has just ended, and its mark with it. */
function builderOf(turn: string): number {
  try {
    return Number(readFileSync(turn, 'utf8'));
  } catch {
    return 0;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const own = ['src', 'public'].flatMap((name) => files(join(folder, name)));
  const packages = ['earlier-name', 'email-document', 'workflow-graph'].flatMap((name) =>
    files(join(root, 'packages', name, 'src')),
  );
  const others = ['package.json', 'index.html', 'vite.config.ts', 'build.ts', '../package-lock.json'];
  const all = [...own, ...packages, ...others.map((name) => join(folder, name))];
  for (const path of all.filter((path) => !path.endsWith('schema.d.ts'))) {
    hash.update(path.slice(root.length));
    hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

function files(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function run(script: string, ...options: string[]): void {
  // Tests run with another NODE_ENV, with which React would be bundled for development and kept for everybody.
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(process.execPath, [script, ...options], { cwd: folder, env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

// Worth it once per build, so that no request pays for it.
function compress(place: string): void {
  for (const path of files(place).filter((name) => /\.(js|css|html|svg)$/.test(name))) {
    const content = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
}
