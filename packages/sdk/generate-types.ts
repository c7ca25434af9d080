import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Writes src/schema.d.ts: the types of the operations that the client has, from the API's own description.
const folder = fileURLToPath(new URL('.', import.meta.url));
const client = readFileSync(join(folder, 'src/index.ts'), 'utf8');

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>;
  components: Record<string, Record<string, unknown>>;
}

const written = spawnSync(process.execPath, [join(folder, '../../src/main/write-openapi.ts')], {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
const document = JSON.parse(written.stdout) as Document;

// An operation belongs to the client when one of its names is written there: `listContacts`, or `SendEmailRequest`.
const isUsed = (id: string) =>
  new RegExp(`'(${id}|${id[0]?.toUpperCase()}${id.slice(1)}(Request|Response))'`).test(client);
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, { operationId }] of Object.entries(methods)) if (!isUsed(operationId)) delete methods[method];
  if (Object.keys(methods).length === 0) delete document.paths[path];
}
const kept = new Set<string>();
keep(document.paths);
for (const [, name = ''] of client.matchAll(/Schemas\['(\w+)'\]/g)) keep({ $ref: `#/components/schemas/${name}` });
for (const [kind, parts] of Object.entries(document.components))
  for (const name of Object.keys(parts))
    if (kind !== 'securitySchemes' && !kept.has(`#/components/${kind}/${name}`)) delete parts[name];

const place = mkdtempSync(join(tmpdir(), 'posthorn-sdk-'));
const tool = join(dirname(createRequire(import.meta.url).resolve('openapi-typescript/package.json')), 'bin/cli.js');
try {
  writeFileSync(join(place, 'openapi.json'), JSON.stringify(document));
  const types = join(folder, 'src/schema.d.ts');
  process.exitCode =
    spawnSync(process.execPath, [tool, join(place, 'openapi.json'), '--output', types], { stdio: 'inherit' }).status ??
    1;
} finally {
  rmSync(place, { recursive: true });
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
