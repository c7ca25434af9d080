/** Black or white: whichever reads better on a color such as `#1a2b3c`. */
export function readableOn(color: string): string {
  return luminance(color) > 0.36 ? '#111827' : '#ffffff';
}

/** A color that reads on nearly black, of the same hue where it is too dark. */
export function onDark(color: string): string {
  let parts = channels(color);
  while (luminanceOf(parts) < 0.3) parts = parts.map((part) => part + (255 - part) * 0.2 + 1);
  return `#${parts.map((part) => Math.min(255, Math.round(part)).toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: string): number {
  return luminanceOf(channels(color));
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

// WCAG 2.2, relative luminance.
function luminanceOf(parts: number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = Math.min(255, part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
