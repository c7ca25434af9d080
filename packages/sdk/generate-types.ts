import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonModules } from './generate/python-methods.ts';
import type { Document, Operation } from './generate/python-types.ts';

// Writes src/schema.d.ts, src/operations.ts and the client for Python from the API's own description: every operation that takes a key of
// a project. With `--check` nothing is written, and it fails when the types of the files that git keeps are not what would be written;
// comments may differ. With `--schema` only src/schema.d.ts is written, which git does not keep, where a source of it is newer.
const folder = fileURLToPath(new URL('.', import.meta.url));
const [onlyChecks, onlySchema] = ['--check', '--schema'].map((option) => process.argv.includes(option));
const tool = generator();
// Without development dependencies nothing is compiled either.
if (onlySchema && (tool === null || isCurrent())) process.exit(0);
if (tool === null) throw new Error('openapi-typescript is not installed: run npm ci');

const written = spawnSync(process.execPath, [join(folder, '../../src/main/write-docs.ts'), 'openapi'], {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
const document = JSON.parse(written.stdout) as Document;

const takesKey = ({ security }: Operation) => security?.some((way) => 'secretKey' in way || 'publicKey' in way);
// The dashboard's paths to what `/v1` has.
const isTwin = ({ operationId }: Operation) => operationId.endsWith('InDashboard');
const table: [id: string, row: readonly [string, string, 'once'?]][] = [];
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (!takesKey(operation) || isTwin(operation)) {
      delete methods[method];
      continue;
    }
    const isKeyed = operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey'));
    const row = [method.toUpperCase(), path] as const;
    table.push([operation.operationId, isKeyed ? [...row, 'once'] : row]);
  }
  if (Object.keys(methods).length === 0) delete document.paths[path];
}
table.sort(([one], [other]) => (one < other ? -1 : 1));
const kept = new Set<string>();
keep(document.paths);
for (const [kind, parts] of Object.entries(document.components))
  for (const name of Object.keys(parts))
    if (kind !== 'securitySchemes' && !kept.has(`#/components/${kind}/${name}`)) delete parts[name];

const place = mkdtempSync(join(tmpdir(), 'fernpost-sdk-'));
try {
  if (!onlyChecks) writeSchema(tool);
  put(
    'src/operations.ts',
    `// Written by generate-types.ts.

/** Method and path of every operation that takes a key; \`once\` where an Idempotency-Key makes repeating safe. */
export const operationTable = {
${table.map(([id, row]) => `  ${id}: [${row.map((part) => `'${part}'`).join(', ')}],`).join('\n')}
} as const;
`,
  );
  for (const [name, text] of Object.entries(pythonModules(document, Object.fromEntries(table))))
    put(`python/fernpost/${name}`, text);
} finally {
  rmSync(place, { recursive: true });
}

function generator(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('openapi-typescript/package.json')), 'bin/cli.js');
  } catch {
    return null;
  }
}

function isCurrent(): boolean {
  const cwd = join(folder, '../..');
  const sources = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts', 'package-lock.json', 'packages/sdk/*.ts'], {
    cwd,
  });
  const madeAt = (path: string) => statSync(join(cwd, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const own = madeAt('packages/sdk/src/schema.d.ts');
  return sources.every((path) => madeAt(path) <= own);
}

// Other processes may compile with the types meanwhile.
function writeSchema(program: string): void {
  writeFileSync(join(place, 'openapi.json'), JSON.stringify(document));
  const types = join(folder, `src/.schema-${process.pid}.d.ts`);
  const { status } = spawnSync(process.execPath, [program, join(place, 'openapi.json'), '--output', types]);
  if (status !== 0) throw new Error('openapi-typescript failed');
  renameSync(types, join(folder, 'src/schema.d.ts'));
}

function put(path: string, text: string): void {
  if (onlySchema) return;
  const file = join(folder, path);
  if (!onlyChecks) writeFileSync(file, text);
  else if (typesOf(readFileSync(file, 'utf8')) !== typesOf(text)) {
    console.error(`packages/sdk/${path} is stale: npm run types --workspace packages/sdk`);
    process.exitCode = 1;
  }
}

function typesOf(text: string): string {
  return text.replaceAll(/(\/\*\*.*?\*\/|""".*?""")\s*/gs, '');
}

function keep(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key !== '$ref' || typeof value !== 'string') keep(value);
    else if (!kept.has(value)) {
      kept.add(value);
      const [, , kind = '', name = ''] = value.split('/');
      keep(document.components[kind]?.[name]);
    }
  }
}
