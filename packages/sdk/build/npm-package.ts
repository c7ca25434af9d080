import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { type ArchiveFile, noticesOf } from './archive.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Manifest {
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

/** Manifest fields of every package. The repository and the homepage are set in the package.json of the root, once they are known. */
const { version, author, repository, homepage, bugs } = manifestOf(root);

/** The version of the project, which is that of everything built here. */
export const projectVersion = version as string;

/** Addresses of the project that are known, with what they are. */
export const projectUrls = Object.entries({ Homepage: homepage, Source: repositoryUrl(repository) }).filter(
  (one): one is [string, string] => typeof one[1] === 'string',
);

/** The SDK as npm gets it: bundles for `import` and for `require`, one set of types, no dependencies. */
export async function sdkFiles(): Promise<ArchiveFile[]> {
  const folder = join(root, 'packages/sdk');
  const input = { index: join(folder, 'src/index.ts'), testing: join(folder, 'src/testing.ts') };
  run(join(folder, 'generate-types.ts'), '--schema');
  const modules = await bundle({ input, platform: 'neutral', format: 'esm', extension: 'mjs' });
  const required = await bundle({ input, platform: 'neutral', format: 'cjs', extension: 'js' });
  const entry = (name: string) => ({
    import: { types: `./lib/${name}.d.mts`, default: `./lib/${name}.mjs` },
    require: { types: `./lib/${name}.d.ts`, default: `./lib/${name}.js` },
  });
  const { type: _, dependencies: __, ...manifest } = publicManifest(folder);
  return packageOf(folder, [...modules.files, ...required.files, ...declarations(folder)], modules.bundled, {
    ...manifest,
    // Without "type": "module" the types are those of CommonJS, which modules may import as well: one set serves both.
    main: './lib/index.js',
    module: './lib/index.mjs',
    types: './lib/index.d.ts',
    exports: { '.': entry('index'), './testing': entry('testing'), './package.json': './package.json' },
  });
}

// It loads parts of itself by their place, so no bundle can have it.
const carried = ['jiti'];

/** The command line as npm gets it: one bundle, and beside it the packages that cannot be bundled. */
export async function cliFiles(): Promise<ArchiveFile[]> {
  const folder = join(root, 'packages/cli');
  const input = { main: join(folder, 'src/main.ts') };
  const { files, bundled } = await bundle({ input, platform: 'node', format: 'esm', extension: 'js' }, carried);
  // The packages that render templates belong to the project that has them: as peers, npx would look all of it up in the registry.
  const { peerDependencies: _, peerDependenciesMeta: __, ...manifest } = publicManifest(folder);
  const dependencies = Object.entries(manifest.dependencies ?? {}).filter(([name]) => carried.includes(name));
  return packageOf(folder, [...files, ...carried.flatMap((name) => installed(folder, name))], bundled, {
    ...manifest,
    bin: { fernpost: 'lib/main.js' },
    dependencies: Object.fromEntries(dependencies),
    bundleDependencies: carried,
  });
}

interface Bundle {
  input: Record<string, string>;
  platform: 'neutral' | 'node';
  format: 'esm' | 'cjs';
  extension: string;
}

/** Bundles everything but the packages that stay outside. */
async function bundle({ input, platform, format, extension }: Bundle, outside: readonly string[] = []) {
  const build = await rolldown({
    input,
    platform,
    cwd: root,
    transform: { target: 'es2022' },
    resolve: { mainFields: ['module', 'main'] },
    external: (id) => isBuiltin(id) || outside.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [{ name: 'only-the-version', load: onlyVersion }],
  });
  try {
    const { output } = await build.generate({
      format,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `[name].${extension}`,
    });
    const chunks = output.filter((part) => part.type === 'chunk');
    const files = chunks.map(({ fileName, code, isEntry }) => ({
      path: `lib/${fileName}`,
      content: Buffer.from(code),
      isExecutable: isEntry && code.startsWith('#!'),
    }));
    const bundled = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => /\/node_modules\//.test(id));
    return { files, bundled };
  } finally {
    await build.close();
  }
}

// Sources read their version from the package.json of the root, which has no place in a bundle.
function onlyVersion(id: string): { code: string; moduleType: 'js' } | null {
  return id === join(root, 'package.json')
    ? { code: `export default ${JSON.stringify({ version })};`, moduleType: 'js' }
    : null;
}

/** The types of the SDK. */
function declarations(folder: string): ArchiveFile[] {
  const place = mkdtempSync(join(tmpdir(), 'fernpost-build-'));
  try {
    const config = join(place, 'tsconfig.json');
    const compilerOptions = {
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, rewriteRelativeImportExtensions: true },
      ...{ rootDir: root, outDir: join(place, 'types'), typeRoots: [join(root, 'node_modules/@types')] },
    };
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [join(folder, 'src')] }),
    );
    run(join(root, 'node_modules/typescript/bin/tsc'), '-p', config);
    const emitted = join(place, 'types/packages/sdk/src');
    const files = readdirSync(emitted, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => declaration(join(emitted, name), name.replaceAll('\\', '/')));
    // The compiler emits nothing for types that are declared already.
    const declared = readdirSync(join(folder, 'src')).filter((name) => name.endsWith('.d.ts'));
    const forModules = ['index', 'testing'].map((name) => ({
      path: `lib/${name}.d.mts`,
      content: Buffer.from(`export * from './${name}.js';\n`),
    }));
    return [...files, ...declared.map((name) => declaration(join(folder, 'src', name), name)), ...forModules];
  } finally {
    rmSync(place, { recursive: true });
  }
}

function run(program: string, ...options: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed:\n${stdout}${stderr}`);
}

/** Declarations name sources, where the compiler rewrites the names in JavaScript only. */
function declaration(file: string, name: string): ArchiveFile {
  const text = readFileSync(file, 'utf8');
  const named = text.replaceAll(/((?:from|import\() ?['"]\.[^'"]*?)(?:\.d)?\.ts(?=['"])/g, '$1.js');
  return { path: `lib/${name}`, content: Buffer.from(named) };
}

/** An installed package with what it needs at run time, for `bundleDependencies`. */
function installed(folder: string, name: string): ArchiveFile[] {
  const place = dirname(createRequire(join(folder, 'package.json')).resolve(`${name}/package.json`));
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.d\.[cm]?ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      path: `node_modules/${name}/${file.slice(place.length + 1)}`,
      content: readFileSync(file),
    }));
}

function packageOf(
  folder: string,
  files: readonly ArchiveFile[],
  bundled: readonly string[],
  manifest: object,
): ArchiveFile[] {
  const texts = {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'README.md': readFileSync(join(folder, 'README.md'), 'utf8'),
    LICENSE: readFileSync(join(root, 'LICENSE'), 'utf8'),
    'THIRD-PARTY-NOTICES.txt': noticesOf(bundled),
  };
  const all = [...files, ...Object.entries(texts).map(([path, text]) => ({ path, content: Buffer.from(text) }))];
  return all.map((file) => ({ ...file, path: `package/${file.path}` }));
}

/** The manifest of a package without what is there for the workspace alone: `private` keeps its sources from being published. */
function publicManifest(folder: string): Manifest {
  const { private: _, scripts: __, devDependencies: ___, bin: ____, exports: _____, ...kept } = manifestOf(folder);
  const directory = folder.slice(root.length);
  const source = repositoryUrl(repository);
  return {
    ...kept,
    version,
    ...(author === undefined ? {} : { author }),
    ...(homepage === undefined ? {} : { homepage }),
    ...(bugs === undefined ? {} : { bugs }),
    ...(source === undefined ? {} : { repository: { type: 'git', url: source, directory } }),
    files: ['lib', 'THIRD-PARTY-NOTICES.txt'],
    publishConfig: { access: 'public', provenance: true },
  };
}

function repositoryUrl(repository: unknown): string | undefined {
  return typeof repository === 'string' ? repository : (repository as { url: string } | undefined)?.url;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
