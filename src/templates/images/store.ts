import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';

/** Where uploaded images are kept. Keys are `<project id>/<epoch ms>-<16 hex>.<extension>`. */
export interface ImageStore {
  /** A folder for files that are being received. */
  incoming: string;
  /**
   * Takes over a complete file, which may be gone from its old place afterwards. The key is not found before
   * this resolves. @throws StoreUnusable, or another error where only this file could not be written
   */
  put(key: string, file: string, contentType: string): Promise<void>;
  /** Deletes an image; one that is not there counts as deleted. */
  remove(key: string): Promise<void>;
  /** The public address of an image. */
  url(key: string): string;
  /** The bytes of an image that this process serves itself; null when there is none. */
  open(key: string): Promise<{ stream: Readable; bytes: number } | null>;
  /** Creates what is missing, where that is allowed. Returns what an operator should know, or null. */
  prepare(): Promise<string | null>;
}

/** The store is unavailable: nothing is wrong with this file. */
export class StoreUnusable extends Error {
  override name = 'StoreUnusable';
}

/** An accepted type of image. SVG is not accepted: it can carry scripts. */
export interface ImageType {
  contentType: string;
  extension: 'jpg' | 'png' | 'gif' | 'webp';
}

const types: Record<string, ImageType> = {
  'image/jpeg': { contentType: 'image/jpeg', extension: 'jpg' },
  'image/png': { contentType: 'image/png', extension: 'png' },
  'image/gif': { contentType: 'image/gif', extension: 'gif' },
  'image/webp': { contentType: 'image/webp', extension: 'webp' },
};
// An older name, and animated PNG.
const otherNames: Record<string, string> = { 'image/jpg': 'image/jpeg', 'image/apng': 'image/png' };

/** How many of the first bytes `detectedType` needs. */
export const decidingBytes = 4100;

/** The type that a `Content-Type` names; null when it is not accepted. */
export function declaredType(contentType: string): ImageType | null {
  const name = contentType.toLowerCase();
  return types[otherNames[name] ?? name] ?? null;
}

/** The type of the image that begins with these bytes; null when it is not accepted. */
export async function detectedType(start: Uint8Array): Promise<ImageType | null> {
  const found = await fileTypeFromBuffer(start);
  if (found === undefined) return null;
  const type = declaredType(found.mime);
  // The library accepts "GIF" alone; mail clients ask for the version as well.
  const first = Buffer.from(start.subarray(0, 6)).toString('latin1');
  return type?.extension === 'gif' && !/^GIF8[79]a/.test(first) ? null : type;
}

/** The `Content-Type` for the extension of a key. */
export function typeOfExtension(extension: string): string | null {
  return Object.values(types).find((type) => type.extension === extension)?.contentType ?? null;
}

/** A new key. Nothing of it comes from the client. */
export function newImageKey(projectId: string, type: ImageType, now: Date): string {
  return `${projectId}/${now.getTime()}-${randomBytes(8).toString('hex')}.${type.extension}`;
}

/** Whether a text is a key that `newImageKey` made; no other text ever becomes part of a path. */
export function isImageKey(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d{1,16}-[0-9a-f]{16}\.(jpg|png|gif|webp)$/.test(text);
}

const unusable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);
const leftoverMs = 86_400_000;

/** Images in a folder of this machine, served by this service below `/uploads/files`. */
export function localStore(folder: string, apiUrl: string): ImageStore {
  const root = resolve(folder);
  const incoming = join(root, '.incoming');
  return {
    incoming,
    async put(key, file) {
      const target = join(root, key);
      try {
        await mkdir(dirname(target), { recursive: true });
        // Atomic, so that nobody reads a part of the file.
        await rename(file, target);
      } catch (error) {
        if (!unusable.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
        throw new StoreUnusable('The folder of uploads cannot be written', { cause: error });
      }
    },
    async remove(key) {
      if (isImageKey(key)) await rm(join(root, key), { force: true });
    },
    url: (key) => `${apiUrl}/uploads/files/${key}`,
    async open(key) {
      if (!isImageKey(key)) return null;
      try {
        const file = await open(join(root, key));
        const { size } = await file.stat();
        return { stream: file.createReadStream(), bytes: size };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    async prepare() {
      try {
        await mkdir(incoming, { recursive: true });
        await removeLeftovers(incoming);
        return null;
      } catch (error) {
        return `images cannot be uploaded, ${root} cannot be written: ${(error as Error).message}`;
      }
    },
  };
}

// Files of a process that was killed.
async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const file = join(incoming, name);
    const found = await stat(file).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > leftoverMs) await rm(file, { force: true });
  }
}
