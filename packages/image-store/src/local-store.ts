import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isImageKey } from './image-type.ts';
import { type ImageStore, StoreUnusable } from './store.ts';

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
