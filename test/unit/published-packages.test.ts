import { execFile } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, Script } from 'node:vm';
import { init, parse } from 'es-module-lexer';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildDownloads, unpack } from '../support/published.ts';

// What the service hands out below /downloads, and `npm publish` would upload. `test/e2e/downloads.ts` installs and uses it.
const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const run = promisify(execFile);

let folder: string;

/** Where an archive is unpacked: in a node_modules, so that programs find it by its name. */
const placeOf = (name: 'sdk' | 'cli') => join(folder, 'node_modules/@fernpost', name);
const read = (name: 'sdk' | 'cli', path: string) => readFileSync(join(placeOf(name), path), 'utf8');
const filesOf = (name: 'sdk' | 'cli') =>
  globSync('**/*', { cwd: placeOf(name), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(placeOf(name).length + 1));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-published-'));
  await init;
  await buildDownloads(join(folder, 'downloads'));
  for (const name of ['sdk', 'cli'] as const) {
    mkdirSync(placeOf(name), { recursive: true });
    await unpack(join(folder, `downloads/${name}.tgz`), placeOf(name));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the same sources give the same archives, so that an integrity hash stays, also where two build at once', async () => {
  mkdirSync(join(folder, 'again'));
  writeFileSync(join(folder, 'again/fernpost-0.0.9-py3-none-any.whl'), 'of an earlier version');
  await Promise.all([buildDownloads(join(folder, 'again')), buildDownloads(join(folder, 'again'))]);
  expect(readdirSync(folder).filter((name) => name.startsWith('again'))).toEqual(['again']);
  expect(readdirSync(join(folder, 'again'))).toEqual(readdirSync(join(folder, 'downloads')));
  expect(readFileSync(join(folder, 'again/index.json'), 'utf8')).toBe(
    readFileSync(join(folder, 'downloads/index.json'), 'utf8'),
  );
  const [one, other] = ['downloads', 'again'].map((name) => join(folder, name));
  for (const name of readdirSync(one ?? ''))
    expect(readFileSync(join(one ?? '', name)).equals(readFileSync(join(other ?? '', name))), name).toBe(true);
});

describe.each(['sdk', 'cli'] as const)('%s', (name) => {
  test('can be published as it is', () => {
    const manifest = JSON.parse(read(name, 'package.json'));
    expect(manifest).toMatchObject({
      ...{ name: `@fernpost/${name}`, version, license: 'MIT', engines: { node: '>=20' } },
      ...{ keywords: expect.arrayContaining(['fernpost']), publishConfig: { access: 'public', provenance: true } },
    });
    for (const field of ['private', 'scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(field);
    // Set in the package.json of the project once they are known, and then in every package.
    const { repository, homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect([manifest.repository === undefined, manifest.homepage]).toEqual([repository === undefined, homepage]);
    expect(read(name, 'LICENSE')).toContain('MIT License');
    expect(read(name, 'THIRD-PARTY-NOTICES.txt')).toMatch(/\d\.\d\.\d \(MIT\)\n\n/);
  });

  test('has all that it imports', () => {
    const manifest = JSON.parse(read(name, 'package.json'));
    const carried: string[] = manifest.bundleDependencies ?? [];
    expect(Object.keys(manifest.dependencies ?? {})).toEqual(carried);
    const allowed = [...carried, ...Object.keys(manifest.peerDependencies ?? {})];
    const outside = filesOf(name)
      .filter((path) => /^lib\/.*\.m?js$/.test(path))
      .flatMap((path) => importsOf(read(name, path)).map((specifier) => ({ path, specifier })))
      .filter(({ path, specifier }) =>
        specifier.startsWith('.')
          ? !existsSync(join(placeOf(name), dirname(path), specifier))
          : !(isBuiltin(specifier) || allowed.includes(specifier)),
      );
    expect(outside).toEqual([]);
    for (const other of carried)
      expect(existsSync(join(placeOf(name), 'node_modules', other, 'package.json'))).toBe(true);
  });
});

function importsOf(code: string): string[] {
  const required = [...code.matchAll(/\brequire\(["']([^"']+)["']\)/g)].map(([, name = '']) => name);
  try {
    return [...parse(code)[0].flatMap(({ n }) => n ?? []), ...required];
  } catch {
    return required;
  }
}

test('the program of the command line begins as one, and tells the version of the project', async () => {
  expect(read('cli', 'lib/main.js')).toMatch(/^#!\/usr\/bin\/env node\n/);
  const { stdout } = await run(process.execPath, [join(placeOf('cli'), 'lib/main.js'), '--version']);
  expect(stdout).toBe(`${version}\n`);
});

test('the SDK is imported and required, with its part for tests', async () => {
  const ask = 'console.log(typeof sdk.Fernpost, typeof testing.SandboxInbox, sdk.version)';
  const programs = {
    'app.mjs': `import * as sdk from '@fernpost/sdk';\nimport * as testing from '@fernpost/sdk/testing';\n${ask}`,
    'app.cjs': `const sdk = require('@fernpost/sdk');\nconst testing = require('@fernpost/sdk/testing');\n${ask}`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text);
    // Node 24 could load the modules in place of the bundle for `require`.
    const { stdout } = await run(process.execPath, ['--no-experimental-require-module', name], { cwd: folder });
    expect(stdout).toBe(`function function ${version}\n`);
  }
});

test.each([
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])(
  'the types of the SDK are found by modules of the kind %s, and by %s resolution',
  async (module, moduleResolution) => {
    const text = `import { Fernpost, FernpostError, verifyWebhook } from '@fernpost/sdk';
import { SandboxInbox } from '@fernpost/sdk/testing';
const fernpost = new Fernpost({ baseUrl: 'https://mail.test', key: 'sk_1' });
export const sent: Promise<{ email: string }[]> = Promise.resolve(fernpost.send({ to: 'a@b.test', subject: 'Hi', body: 'Hi', from: 'c@d.test' }));
export const code = (error: FernpostError): string => error.code;
export const inbox: SandboxInbox = new SandboxInbox();
export const type: string = verifyWebhook('', {}, '').type;
// @ts-expect-error: a send has no such field
export const wrong = fernpost.send({ recipient: 'a@b.test' });
`;
    for (const name of ['typed.mts', 'typed.cts']) writeFileSync(join(folder, name), text);
    const compilerOptions = { module, moduleResolution, target: 'es2022', strict: true, noEmit: true, types: [] };
    // A bundler reads modules only.
    const include = module === 'esnext' ? ['typed.mts'] : ['typed.mts', 'typed.cts'];
    const lib = ['es2022', 'dom', 'dom.iterable'];
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib }, include }),
    );
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
    expect(stdout).toBe('');
  },
);

test('the SDK bundles for browsers and edge runtimes, and sends with nothing but what they have', async () => {
  const bundle = await rolldown({ input: join(placeOf('sdk'), 'lib/index.mjs'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', name: 'sdk' });
  await bundle.close();
  expect(output).toHaveLength(1);
  const [{ code, imports }] = output;
  expect(imports).toEqual([]);
  expect(code).not.toContain('node:');
  const sent: { url: string; init: RequestInit }[] = [];
  const answer = (url: URL, init: RequestInit) => {
    sent.push({ url: String(url), init });
    return Promise.resolve(Response.json({ success: true, data: { emails: [{ email: 'one' }] } }));
  };
  // The interfaces that WinterTC lists for every runtime, of which the SDK uses these.
  const world = createContext({
    AbortSignal,
    FormData,
    Headers,
    Response,
    TextEncoder,
    URL,
    clearTimeout,
    crypto,
    fetch: answer,
    setTimeout,
  });
  const emails = await new Script(
    `${code}; new sdk.Fernpost({ baseUrl: 'https://mail.test', key: 'sk_1' }).send({ to: 'ada@example.com' })`,
  ).runInContext(world);
  expect(emails).toEqual([{ email: 'one' }]);
  expect(sent).toMatchObject([{ url: 'https://mail.test/v1/send', init: { method: 'POST' } }]);
});

test('every package of the workspace has the version of the project', () => {
  const manifests = globSync('{dashboard,packages/*,tools/*}/package.json', { cwd: root });
  expect(manifests.length).toBeGreaterThan(8);
  for (const path of ['package.json', ...manifests]) {
    const {
      version: own,
      dependencies = {},
      devDependencies = {},
    } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    const ours = Object.entries<string>({ ...dependencies, ...devDependencies }).filter(([name]) =>
      name.startsWith('@fernpost/'),
    );
    expect({ path, versions: [...new Set([own, ...ours.map(([, one]) => one)])] }).toEqual({
      path,
      versions: [version],
    });
  }
});
