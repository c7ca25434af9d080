import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import { init, parse } from 'es-module-lexer';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packPackage, publishedPackages } from '../support/published.ts';

// What `npm publish` would upload. `test/e2e/published.test.ts` installs it and sends with it.
const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
const packs = new Map<string, { files: string[]; place: string }>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-published-'));
  await init;
  for (const name of publishedPackages) {
    const { files } = await packPackage(name, folder);
    packs.set(name, { files, place: join(folder, `built-${name}`) });
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function pack(name: (typeof publishedPackages)[number]) {
  const { files = [], place = '' } = packs.get(name) ?? {};
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  return { files, place, manifest };
}

test.each(publishedPackages)('%s has JavaScript with types, its license and its page, and nothing else', (name) => {
  const { files, place } = pack(name);
  const sources = files.filter((path) => path.startsWith('lib/'));
  expect(files.filter((path) => !sources.includes(path)).sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(sources.length).toBeGreaterThan(1);
  for (const path of sources) {
    expect(path).toMatch(/^lib\/[\w/-]+\.(js|d\.ts)$/);
    if (path.endsWith('.js')) expect(files).toContain(path.replace(/js$/, 'd.ts'));
    // Every import names a file that is there.
    const text = readFileSync(join(place, path), 'utf8');
    for (const [, target = ''] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)['"]/g)) {
      const file = join(place, path, '..', target);
      expect(target, path).toMatch(/\.js$/);
      expect(existsSync(path.endsWith('.d.ts') ? file.replace(/js$/, 'd.ts') : file), `${path}: ${target}`).toBe(true);
    }
  }
});

test.each(publishedPackages)('%s can be published, and declares what it imports', (name) => {
  const { files, place, manifest } = pack(name);
  expect(manifest).toMatchObject({ name: `@fernpost/${name}`, license: 'MIT', type: 'module' });
  for (const field of ['private', 'scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(field);
  const entries = [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.bin ?? {})].flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry as object),
  );
  expect(entries.length).toBeGreaterThan(0);
  for (const entry of entries) expect(files).toContain(entry.replace(/^\.\//, ''));
  const imported = files
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) => parse(readFileSync(join(place, path), 'utf8'))[0].flatMap(({ n }) => n ?? []))
    .filter((specifier) => !(specifier.startsWith('.') || isBuiltin(specifier)))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
  for (const needed of new Set(imported)) expect(manifest.dependencies).toHaveProperty([needed]);
});

test('the SDK needs nothing but standardwebhooks, and the program begins as one', () => {
  expect(Object.keys(pack('sdk').manifest.dependencies)).toEqual(['standardwebhooks']);
  expect(readFileSync(join(pack('cli').place, 'lib/main.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test('the SDK bundles for browsers and edge runtimes, and sends with nothing but what they have', async () => {
  const { place } = pack('sdk');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const bundle = await rolldown({ input: join(place, 'lib/index.js'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', name: 'sdk' });
  await bundle.close();
  expect(output).toHaveLength(1);
  const [{ code, imports }] = output;
  expect(imports).toEqual([]);
  const sent: { url: string; init: RequestInit }[] = [];
  const answer = (url: URL, init: RequestInit) => {
    sent.push({ url: String(url), init });
    return Promise.resolve(Response.json({ success: true, data: { emails: [{ email: 'one' }] } }));
  };
  // The interfaces that WinterTC lists for every runtime, of which the SDK uses these.
  const world = createContext({ AbortSignal, FormData, Response, TextEncoder, URL, crypto, fetch: answer, setTimeout });
  const emails = await new Script(
    `${code}; new sdk.Fernpost({ baseUrl: 'https://mail.test', key: 'sk_1' }).send({ to: 'ada@example.com' })`,
  ).runInContext(world);
  expect(emails).toEqual([{ email: 'one' }]);
  expect(sent).toMatchObject([{ url: 'https://mail.test/v1/send', init: { method: 'POST' } }]);
});
