import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ArchiveFile, zip } from './archive.ts';
import { projectUrls, root } from './npm-package.ts';

const folder = fileURLToPath(new URL('../python/', import.meta.url));

/** The client for Python as a wheel (https://packaging.python.org/en/latest/specifications/binary-distribution-format/). */
export function wheel(version: string): Buffer {
  const info = `fernpost-${version}.dist-info`;
  const sources = readdirSync(join(folder, 'fernpost'))
    .filter((name) => /\.(py|typed)$/.test(name))
    .map((name) => ({ path: `fernpost/${name}`, content: readFileSync(join(folder, 'fernpost', name)) }));
  const files: ArchiveFile[] = [
    ...sources,
    text('fernpost/_version.py', `__version__ = "${version}"\n`),
    text(`${info}/METADATA`, metadata(version)),
    text(`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: fernpost\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    { path: `${info}/licenses/LICENSE`, content: readFileSync(join(root, 'LICENSE')) },
  ];
  const rows = files.map(({ path, content }) => {
    const hash = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${hash},${content.length}\n`;
  });
  return zip([...files, text(`${info}/RECORD`, [...rows.sort(), `${info}/RECORD,,\n`].join(''))]);
}

function metadata(version: string): string {
  const fields = [
    ['Metadata-Version', '2.4'],
    ['Name', 'fernpost'],
    ['Version', version],
    ['Summary', 'Client of the Fernpost API: send, look up, track and listen'],
    ['License-Expression', 'MIT'],
    ['License-File', 'LICENSE'],
    ['Keywords', 'fernpost,email,transactional-email,newsletter,self-hosted'],
    ['Classifier', 'Programming Language :: Python :: 3'],
    ['Classifier', 'Typing :: Typed'],
    ...projectUrls.map(([name, url]) => ['Project-URL', `${name}, ${url}`]),
    ['Requires-Python', '>=3.9'],
    ['Requires-Dist', 'httpx>=0.25,<1'],
    ['Description-Content-Type', 'text/markdown'],
  ];
  const lines = fields.map(([name, value]) => `${name}: ${value}\n`);
  return `${lines.join('')}\n${readFileSync(join(folder, 'README.md'), 'utf8')}`;
}

function text(path: string, content: string): ArchiveFile {
  return { path, content: Buffer.from(content) };
}
