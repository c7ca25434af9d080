import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

interface Licensed {
  name: string;
  license: string;
  repository?: string | { url: string };
}

/** The licenses of packages that are bundled, given some file of each: a text that names every package once, with its version. */
export function noticesOf(files: Iterable<string>): string {
  const notices = new Map<string, string>();
  for (const file of files) {
    const folder = packageFolderOf(file);
    const { name, version, license, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    notices.set(name, `${name} ${version} (${license})\n\n${licenseOf(folder, { name, license, repository })}\n`);
  }
  const sorted = [...notices].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, notice]) => notice);
  return `This package contains the following software.\n\n${sorted.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function licenseOf(folder: string, { name, license, repository }: Licensed): string {
  const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  if (license !== 'MIT') throw new Error(`${name} is bundled, and has no license file`);
  // Its own archive leaves the file out; the text of the license is one and the same (https://spdx.org/licenses/MIT.html).
  const source = typeof repository === 'string' ? repository : repository?.url;
  const mit = readFileSync(new URL('../../../LICENSE', import.meta.url), 'utf8');
  return mit.replace(/^Copyright.*$/m, `Copyright (c) the authors of ${name} (${source})`).trim();
}

// Some packages have a further package.json in the folder of a module format, without a name.
function packageFolderOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version !== undefined) return folder;
  }
  throw new Error(`${file} belongs to no package`);
}

/** A file of an archive. */
export interface ArchiveFile {
  /** With `/` between folders. */
  path: string;
  content: Buffer;
  isExecutable?: boolean;
}

// The moment that npm gives to every file of its archives, in seconds: an archive depends on nothing but what is in it.
const packedAt = 499_162_500;

/** A gzipped tar archive of the files in the order of their paths. The same files give the same bytes. */
export function tarGz(files: readonly ArchiveFile[]): Buffer {
  const blocks = inOrder(files).flatMap((file) => [tarHeader(file), file.content, padding(file.content.length)]);
  return gzip(Buffer.concat([...blocks, Buffer.alloc(1_024)]));
}

/** A zip archive of the files in the order of their paths. The same files give the same bytes. */
export function zip(files: readonly ArchiveFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of inOrder(files)) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content, { level: 9 });
    const fields = zipFields(name, content, packed);
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
    const place = Buffer.alloc(14);
    // A regular file that its owner writes and everybody reads.
    place.writeUInt32LE(0o100_644 * 2 ** 16, 6);
    place.writeUInt32LE(offset, 10);
    // "Made by" a Unix system, by version 2.0 of the format.
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), fields, place, name);
    bodies.push(body);
    offset += body.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, entries, end]);
}

function inOrder(files: readonly ArchiveFile[]): ArchiveFile[] {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function tarHeader({ path, content, isExecutable = false }: ArchiveFile): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for a tar archive: ${path}`);
  const header = Buffer.alloc(512);
  const octal = (value: number, offset: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), offset);
  header.write(path, 0);
  octal(isExecutable ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(content.length, 124, 11);
  octal(packedAt, 136, 11);
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header[154] = 0;
  return header;
}

function padding(length: number): Buffer {
  return Buffer.alloc((512 - (length % 512)) % 512);
}

// Written here because `gzipSync` notes the operating system.
function gzip(content: Buffer): Buffer {
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(content), 0);
  end.writeUInt32LE(content.length, 4);
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
  return Buffer.concat([header, deflateRawSync(content, { level: 9 }), end]);
}

// Returns the fields that the local header and the directory of a zip archive share: deflated, with a name in UTF-8, at the beginning of 1980.
function zipFields(name: Buffer, content: Buffer, packed: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x0800, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt16LE(0x0021, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}
