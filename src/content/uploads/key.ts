import { randomBytes } from 'node:crypto';
import type { ImageType } from './image-type.ts';

const pattern =
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\/\d{1,16}-[0-9a-f]{16}\.(jpg|png|gif|webp)$/;

/** A new key: nothing of it comes from the client. */
export function newImageKey(projectId: string, type: ImageType, now: Date): string {
  return `${projectId}/${now.getTime()}-${randomBytes(8).toString('hex')}.${type.extension}`;
}

/** Whether a text is a key of ours; no other text ever becomes part of a path. */
export function isImageKey(text: string): boolean {
  return pattern.test(text);
}
