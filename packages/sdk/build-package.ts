import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm run build` in a package that is published: `dist` becomes the package as npm gets it, JavaScript with types in place of the sources
// that the workspace runs. Publish that folder: `npm publish packages/<name>/dist --access public`. An argument names another folder.
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = process.cwd();
const dist = resolve(process.argv[2] ?? 'dist');

interface Manifest {
  exports?: string | Record<string, string>;
  bin?: Record<string, string>;
  [field: string]: unknown;
}

rmSync(dist, { recursive: true, force: true });
compile();
for (const name of readdirSync(join(dist, 'lib'), { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.d.ts')) nameJavaScript(join(dist, 'lib', name));
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`);
copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));

function compile(): void {
  const place = mkdtempSync(join(tmpdir(), 'fernpost-build-'));
  const config = join(place, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(folder, 'src'),
    outDir: join(dist, 'lib'),
    typeRoots: [join(root, 'node_modules/@types')],
  };
  try {
    writeFileSync(
      config,
      JSON.stringify({ extends: resolve(root, 'tsconfig.json'), compilerOptions, include: [join(folder, 'src')] }),
    );
    const { status } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(1);
  } finally {
    rmSync(place, { recursive: true });
  }
  // The compiler emits nothing for types that are declared already.
  for (const name of readdirSync(join(folder, 'src')))
    if (name.endsWith('.d.ts')) copyFileSync(join(folder, 'src', name), join(dist, 'lib', name));
}

/** Declarations name sources where the compiler rewrites the names in JavaScript only. */
function nameJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/((?:from|import\() ?['"]\.[^'"]*?)(?:\.d)?\.ts(?=['"])/g, '$1.js'));
}

function published(): object {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  // What is here for the workspace alone. `private` keeps the sources from being published in place of `dist`.
  const { private: _, scripts: __, devDependencies: ___, exports, bin, ...kept } = manifest;
  const entries = typeof exports === 'string' ? { '.': exports } : exports;
  return {
    ...kept,
    files: ['lib'],
    ...(entries && {
      exports: mapped(entries, (path) => ({ types: built(path, 'd.ts'), default: built(path, 'js') })),
    }),
    ...(bin && { bin: mapped(bin, (path) => built(path, 'js')) }),
  };
}

function built(path: string, extension: string): string {
  return path.replace(/^(\.\/)?src\//, '$1lib/').replace(/ts$/, extension);
}

function mapped<Value>(values: Record<string, string>, change: (value: string) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
