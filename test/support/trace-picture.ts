import type { ReadableSpan } from '@opentelemetry/sdk-trace';

const rowHeight = 26;
const nameWidth = 250;
const timeWidth = 610;
const colors: Record<string, string> = { api: '#2f6fb3', worker: '#2e8b57', temporal: '#8a5fb0' };

/** A span as the picture shows it. */
interface Bar {
  name: string;
  depth: number;
  from: number;
  to: number;
  part: 'api' | 'worker' | 'temporal';
}

/** The spans of one trace in the order of a waterfall: each below the one it belongs to, by their beginning. */
export function waterfall(spans: readonly ReadableSpan[]): { span: ReadableSpan; depth: number }[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, depth: number): { span: ReadableSpan; depth: number }[] =>
    spans
      .filter(({ parentSpanContext: above }) =>
        parent === undefined ? above === undefined || !ids.has(above.spanId) : above?.spanId === parent,
      )
      .toSorted((one, other) => startOf(one) - startOf(other))
      .flatMap((span) => [{ span, depth }, ...below(span.spanContext().spanId, depth + 1)]);
  return below(undefined, 0);
}

/**
 * Draws a trace as an SVG. Spans of the later reports stand in a part of their own behind a gap, because they come seconds or days after the mail,
 * which one scale could not show.
 */
export function drawTrace(spans: readonly ReadableSpan[]): string {
  const rows = waterfall(spans);
  const first = Math.min(...spans.map(startOf));
  const bars = rows.map(
    ({ span, depth }): Bar => ({
      name: span.name,
      depth,
      from: startOf(span) - first,
      to: endOf(span) - first,
      part: partOf(span.name),
    }),
  );
  const isLater = (bar: Bar) => bar.name.startsWith('report ');
  const end = Math.max(...bars.filter((bar) => !isLater(bar)).map((bar) => bar.to));
  const scale = (timeWidth * 0.78) / end;
  const lines: string[] = [];
  let laterPlace = 0;
  for (const [row, bar] of bars.entries()) {
    const y = 48 + row * rowHeight;
    const later = isLater(bar);
    const x = later ? nameWidth + timeWidth * (0.84 + 0.07 * laterPlace++) : nameWidth + bar.from * scale;
    const width = later ? 12 : Math.max(2, (bar.to - bar.from) * scale);
    const took = `${(bar.to - bar.from).toFixed(1)} ms`;
    const label = x + width + 60 > nameWidth + timeWidth ? [x - 5, 'end'] : [x + width + 5, 'start'];
    lines.push(
      `<text x="${10 + bar.depth * 12}" y="${y + 16}">${bar.name}</text>`,
      `<rect x="${x.toFixed(1)}" y="${y + 4}" width="${width.toFixed(1)}" height="16" rx="2" fill="${colors[bar.part]}"/>`,
      `<text x="${Number(label[0]).toFixed(1)}" y="${y + 16}" text-anchor="${label[1]}" fill="#555">${took}</text>`,
    );
  }
  const height = 60 + bars.length * rowHeight;
  const gap = nameWidth + timeWidth * 0.81;
  const key = Object.entries(colors).map(
    ([part, color], place) =>
      `<rect x="${nameWidth + place * 110}" y="12" width="12" height="12" fill="${color}"/><text x="${nameWidth + 18 + place * 110}" y="22">${part}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="880" height="${height}" viewBox="0 0 880 ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>The trace of one mail, from the request to the report of its open</title>',
    `<rect width="880" height="${height}" fill="#fff"/>`,
    ...key,
    `<path d="M${gap} 36V${height - 8}" stroke="#aaa" stroke-dasharray="4 4"/><text x="${gap + 6}" y="38" fill="#555">later</text>`,
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

function partOf(name: string): Bar['part'] {
  if (name.startsWith('wake ') || name.startsWith('outbox ')) return 'temporal';
  return /^(activity|send|deliver) /.test(name) ? 'worker' : 'api';
}

function startOf({ startTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1e3 + nanos / 1e6;
}

function endOf({ endTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1e3 + nanos / 1e6;
}
