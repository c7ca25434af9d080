import { type Area, enoughFor, isAnimated, type Size, shownWidth, wholeOf } from './rules/image-size.ts';

const quality = 0.85;

/** An image as it is to be uploaded, and how wide it is shown; null is as wide as its place. */
export interface Prepared {
  file: File;
  width: number | null;
}

/**
 * Cuts an image and makes it as small as it may be for a column of an email, where it is shown sharp on every screen. An image that
 * moves, or that the browser cannot read, stays as it is.
 */
export async function prepared(file: File, column: number, cut?: Area): Promise<Prepared> {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (bitmap === null) return { file, width: null };
  try {
    const area = cut ?? wholeOf(bitmap);
    const size = enoughFor(area, column);
    const isWhole = area.width === bitmap.width && area.height === bitmap.height;
    const width = shownWidth(area.width, column);
    if ((isWhole && size.width === bitmap.width) || (await isAnimated(file)))
      return { file, width: shownWidth(bitmap.width, column) };
    const drawn = await redrawn(bitmap, area, size, file.type);
    // What was compressed well may be smaller than its own half.
    if (drawn === null || (isWhole && drawn.size >= file.size)) return { file, width };
    const name = file.name.replace(/\.[^.]*$/, '');
    return { file: new File([drawn], `${name}.${extensions[drawn.type] ?? 'png'}`, { type: drawn.type }), width };
  } finally {
    bitmap.close();
  }
}

const extensions: Record<string, string> = { 'image/jpeg': 'jpg', 'image/webp': 'webp' };

function redrawn(bitmap: ImageBitmap, area: Area, size: Size, type: string): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = size.width;
  canvas.height = size.height;
  const context = canvas.getContext('2d');
  if (context === null) return Promise.resolve(null);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, area.x, area.y, area.width, area.height, 0, 0, size.width, size.height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, quality));
}

/** The file of a `data:` URL with an image that mail can show; null for anything else. */
export function fileOfDataUrl(url: string): File | null {
  const found = /^data:(image\/(png|jpeg|gif|webp));base64,/i.exec(url);
  if (found === null) return null;
  const [head, type = '', extension = ''] = found;
  try {
    const text = atob(url.slice(head.length).replace(/\s+/g, ''));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new File([bytes], `pasted.${extension.toLowerCase().replace('jpeg', 'jpg')}`, { type: type.toLowerCase() });
  } catch {
    return null;
  }
}
