import { randomBytes } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';

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
