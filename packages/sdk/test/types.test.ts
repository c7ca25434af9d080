import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { init, parse } from 'es-module-lexer';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));

test('has the types of the API as it is', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'generate-types.ts'), '--check'], {
    encoding: 'utf8',
  });
  expect(stderr.replaceAll(/^npm warn.*$/gm, '')).toBe('');
  expect(status).toBe(0);
});

test('uses nothing of Node, so that it runs in browsers and at the edge', async () => {
  await init;
  const seen = new Map<string, string[]>();
  const visit = (file: string, code: string) => {
    if (seen.has(file)) return;
    const [imports] = parse(code);
    // Packages of CommonJS say it by `require`.
    const required = [...code.matchAll(/\brequire\(["']([^"']+)["']\)/g)].map(([, name = '']) => name);
    const names = [...imports.flatMap(({ n }) => (n === undefined ? [] : [n])), ...required];
    seen.set(file, names);
    for (const name of names.filter((one) => !(isBuiltin(one) || one.endsWith('.json')))) {
      const next = name.startsWith('.')
        ? fileURLToPath(new URL(name, `file://${file}`))
        : fileURLToPath(import.meta.resolve(name));
      const path = next.endsWith('s') ? next : `${next}.js`;
      if (!path.endsWith('.d.ts')) visit(path, sourceOf(path));
    }
  };
  for (const name of readdirSync(join(folder, 'src')).filter((one) => /^(index|testing)\.ts$/.test(one)))
    visit(join(folder, 'src', name), sourceOf(join(folder, 'src', name)));
  expect([...seen.keys()].some((file) => file.includes('standardwebhooks'))).toBe(true);
  expect([...seen].flatMap(([file, names]) => names.filter(isBuiltin).map((name) => `${file}: ${name}`))).toEqual([]);
  for (const file of seen.keys()) expect(sourceOf(file), file).not.toMatch(/\b(process\.env|Buffer\.from)\b/);
});

function sourceOf(file: string): string {
  const code = readFileSync(file, 'utf8');
  return file.endsWith('.ts') ? stripTypeScriptTypes(code) : code;
}
