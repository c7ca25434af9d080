import type { Readable } from 'node:stream';

declare module '../../core/http/context.ts' {
  interface App {
    /** Where uploaded images are kept. */
    images: ImageStore;
  }
}

/** Where uploaded images are kept. Keys are `<project id>/<epoch ms>-<16 hex>.<extension>`. */
export interface ImageStore {
  /** A folder for files that are still arriving. */
  incoming: string;
  /**
   * Takes over a complete file, which may be gone from its old place afterwards. Whoever asks for the key before this
   * resolves finds nothing. @throws StoreUnusable, or another error where only this file could not be written
   */
  put(key: string, file: string, contentType: string): Promise<void>;
  /** Deletes an image; one that is not there counts as deleted. */
  remove(key: string): Promise<void>;
  /** The public address of an image. */
  url(key: string): string;
  /** The bytes of an image that this process serves itself; null when there is none. */
  open(key: string): Promise<{ stream: Readable; bytes: number } | null>;
  /** Makes what is missing, where that is allowed. Answers what an operator should know, or null. */
  prepare(): Promise<string | null>;
}

/** The store cannot be used at all at the moment: nothing about this file is wrong. */
export class StoreUnusable extends Error {
  override name = 'StoreUnusable';
}
