import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Types of requests and answers, from the document that the API serves at /openapi.json. Written to src/api/schema.d.ts.
const folder = fileURLToPath(new URL('.', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'fernpost-openapi-'));
const document = join(place, 'openapi.json');
const tool = join(dirname(createRequire(import.meta.url).resolve('openapi-typescript/package.json')), 'bin/cli.js');
try {
  run([join(folder, '../src/main/write-docs.ts'), 'openapi'], openSync(document, 'w'));
  run([tool, document, '--output', join(folder, 'src/api/schema.d.ts')], 'ignore');
} finally {
  rmSync(place, { recursive: true });
}

function run(options: string[], output: number | 'ignore'): void {
  const { status } = spawnSync(process.execPath, options, { stdio: ['ignore', output, 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}
