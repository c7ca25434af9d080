import type { Readable } from 'node:stream';

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
