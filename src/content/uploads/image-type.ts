import { fileTypeFromBuffer } from 'file-type';

/** A kind of image that is taken. SVG is none of them: it can carry scripts. */
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
// An older name, and a PNG that moves.
const otherNames: Record<string, string> = { 'image/jpg': 'image/jpeg', 'image/apng': 'image/png' };

/** How many of the first bytes decide. */
export const decidingBytes = 4100;

/** The kind of image that a `Content-Type` names; null when it is not taken. */
export function declaredType(contentType: string): ImageType | null {
  const name = contentType.toLowerCase();
  return types[otherNames[name] ?? name] ?? null;
}

/** The kind of image that the first bytes are; null when they are none that is taken. */
export async function detectedType(start: Uint8Array): Promise<ImageType | null> {
  const found = await fileTypeFromBuffer(start);
  if (found === undefined) return null;
  const type = declaredType(found.mime);
  // The library is content with "GIF"; what shows images asks for the version as well.
  const first = Buffer.from(start.subarray(0, 6)).toString('latin1');
  return type?.extension === 'gif' && !/^GIF8[79]a/.test(first) ? null : type;
}

/** The `Content-Type` for the extension of a key. */
export function typeOfExtension(extension: string): string | null {
  return Object.values(types).find((type) => type.extension === extension)?.contentType ?? null;
}
