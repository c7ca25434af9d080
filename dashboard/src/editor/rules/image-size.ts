/** A size in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** A rectangle of an image, in its pixels. */
export interface Area extends Size {
  x: number;
  y: number;
}

/** Pixels that the text of an email is wide: 600 without the space at both sides. */
export const textWidth = 536;
// Screens with small pixels show two of an image where a mail counts one.
const density = 2;
const smallest = 16;

/** The whole image. */
export const wholeOf = ({ width, height }: Size): Area => ({ x: 0, y: 0, width, height });

/** The largest rectangle in the middle of an image; `ratio` is its width by its height. */
export function largestArea(size: Size, ratio: number): Area {
  const width = Math.max(1, Math.round(Math.min(size.width, size.height * ratio)));
  const height = Math.max(1, Math.min(size.height, Math.round(width / ratio)));
  return { x: Math.round((size.width - width) / 2), y: Math.round((size.height - height) / 2), width, height };
}

const within = (value: number, least: number, most: number) => Math.round(Math.max(least, Math.min(value, most)));

/** The rectangle moved by some pixels, as far as the image goes. */
export function movedArea(area: Area, size: Size, x: number, y: number): Area {
  return {
    ...area,
    x: within(area.x + x, 0, size.width - area.width),
    y: within(area.y + y, 0, size.height - area.height),
  };
}

/** The rectangle with its lower right corner moved by some pixels, as far as the image goes; a ratio is kept. */
export function resizedArea(area: Area, size: Size, x: number, y: number, ratio: number | null): Area {
  const least = { width: Math.min(smallest, size.width), height: Math.min(smallest, size.height) };
  const most = { width: size.width - area.x, height: size.height - area.y };
  if (ratio === null)
    return {
      ...area,
      width: within(area.width + x, least.width, most.width),
      height: within(area.height + y, least.height, most.height),
    };
  const grown = Math.abs(x) >= Math.abs(y) ? x : y * ratio;
  const width = within(area.width + grown, least.width, Math.min(most.width, most.height * ratio));
  return { ...area, width, height: within(width / ratio, 1, most.height) };
}

/** How wide an image is shown where a column has so many pixels: never larger than it is. Null for one that is too small to say. */
export function shownWidth(natural: number, column: number): number | null {
  return natural < smallest ? null : Math.min(natural, column);
}

/** The size that is enough for a part of an image which is shown in a column: twice what is shown. */
export function enoughFor({ width, height }: Size, column: number): Size {
  const share = Math.min(1, (density * column) / width);
  return { width: Math.round(width * share), height: Math.max(1, Math.round(height * share)) };
}

/** Whether an image moves, which a canvas would end. Every GIF counts as moving. */
export async function isAnimated(file: Blob): Promise<boolean> {
  if (file.type === 'image/gif') return true;
  const start = new TextDecoder('latin1').decode(await file.slice(0, 65_536).arrayBuffer());
  if (file.type === 'image/png') return start.includes('acTL');
  return file.type === 'image/webp' && start.startsWith('VP8X', 12) && ((start.charCodeAt(20) >> 1) & 1) === 1;
}
