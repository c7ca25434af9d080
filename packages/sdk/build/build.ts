import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tarGz } from './archive.ts';
import { cliFiles, projectVersion, root, sdkFiles } from './npm-package.ts';
import { wheel } from './wheel.ts';

/*
 * Builds the clients that the service hands out below /downloads, into dist/downloads or the folder of an argument: the SDK and the
 * command line as npm installs them, and the wheel for Python. The same sources give the same bytes. It takes about a second, so it is
 * done at every start of `npm start`.
 */
const folder = resolve(process.argv[2] ?? join(root, 'dist/downloads'));

const archives: Record<string, Buffer> = {
  'sdk.tgz': tarGz(await sdkFiles()),
  'cli.tgz': tarGz(await cliFiles()),
  [`fernpost-${projectVersion}-py3-none-any.whl`]: wheel(projectVersion),
};
const files = Object.entries(archives).map(([name, content]) => ({
  name,
  bytes: content.length,
  integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  sha256: createHash('sha256').update(content).digest('hex'),
}));

// Other processes may serve from this folder, or build into it; the index is last, because it says what there is.
mkdirSync(folder, { recursive: true });
const parts = mkdtempSync(`${folder}-`);
try {
  for (const [name, content] of Object.entries(archives)) put(name, content);
  put('index.json', `${JSON.stringify({ version: projectVersion, files }, null, 2)}\n`);
} finally {
  rmSync(parts, { recursive: true });
}
for (const name of readdirSync(folder))
  if (name.endsWith('.whl') && !(name in archives)) rmSync(join(folder, name), { force: true });

function put(name: string, content: Buffer | string): void {
  writeFileSync(join(parts, name), content);
  renameSync(join(parts, name), join(folder, name));
}
