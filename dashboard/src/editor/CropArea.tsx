import type { CSSProperties, KeyboardEvent, PointerEvent } from 'react';
import { type Area, movedArea, resizedArea, type Size } from './rules/image-size.ts';

const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

// All style sheets come with every page, so what only a dialog has is said here.
const frame: CSSProperties = { position: 'relative', overflow: 'hidden', width: 'fit-content', marginInline: 'auto' };
const handle: CSSProperties = {
  position: 'absolute',
  border: '2px solid #fff',
  outlineOffset: -4,
  touchAction: 'none',
};
// What is left out is darkened by the shadow of what is kept.
const kept: CSSProperties = {
  ...handle,
  boxShadow: '0 0 0 1px #000, 0 0 0 100rem rgb(0 0 0 / 55%)',
  cursor: 'move',
};
const grip: CSSProperties = {
  ...handle,
  width: '1.5rem',
  height: '1.5rem',
  translate: '-100% -100%',
  background: '#000',
  cursor: 'nwse-resize',
};

/** An image with the rectangle of it that is kept, which is moved and resized by pointer or by arrow keys. */
export function CropArea({
  url,
  size,
  area,
  ratio,
  onChange,
}: {
  url: string;
  size: Size;
  area: Area;
  /** Width by height that the rectangle keeps; null for any. */
  ratio: number | null;
  onChange: (area: Area) => void;
}) {
  const by = (change: (x: number, y: number) => Area) => ({
    onKeyDown: (event: KeyboardEvent) => {
      const arrow = arrows[event.key];
      if (arrow === undefined) return;
      event.preventDefault();
      // A hundredth of the image, and a tenth with Shift.
      const step = Math.max(1, Math.round((size.width / 100) * (event.shiftKey ? 10 : 1)));
      onChange(change(arrow[0] * step, arrow[1] * step));
    },
    onPointerDown: (event: PointerEvent) => event.currentTarget.setPointerCapture(event.pointerId),
    onPointerMove: (event: PointerEvent) => {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
      const shown = event.currentTarget.parentElement?.clientWidth || size.width;
      onChange(change((event.movementX * size.width) / shown, (event.movementY * size.width) / shown));
    },
  });
  const share = (value: number, of: number) => `${(100 * value) / of}%`;
  const { x, y, width, height } = area;
  const place = {
    left: share(x, size.width),
    top: share(y, size.height),
    width: share(width, size.width),
    height: share(height, size.height),
  };
  const corner = { left: share(x + width, size.width), top: share(y + height, size.height) };
  return (
    <div className="stack">
      <div style={frame}>
        <img src={url} alt="Preview" draggable={false} style={{ maxWidth: '100%', maxHeight: '20rem' }} />
        <button
          type="button"
          aria-label="Crop area"
          aria-describedby="crop-keys"
          style={{ ...kept, ...place }}
          {...by((right, down) => movedArea(area, size, right, down))}
        />
        <button
          type="button"
          aria-label="Crop size"
          aria-describedby="crop-keys"
          style={{ ...grip, ...corner }}
          {...by((right, down) => resizedArea(area, size, right, down, ratio))}
        />
      </div>
      <span className="muted" id="crop-keys">
        {width} × {height} px. Drag the area or its corner, or use the arrow keys (with Shift for larger steps).
      </span>
    </div>
  );
}
