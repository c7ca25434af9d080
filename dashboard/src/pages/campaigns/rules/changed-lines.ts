import { diffLines } from 'diff';

/** Lines that stayed, went or came, or stand for unchanged ones that are not shown. */
export interface ChangedLines {
  type: 'same' | 'removed' | 'added' | 'hidden';
  lines: string[];
}

/** Unchanged lines that are shown beside each change. */
const context = 2;

/** Returns the differences between two HTML sources in order; empty where there are none. Long runs of unchanged lines are hidden. */
export function changedLines(before: string, after: string): ChangedLines[] {
  const parts = diffLines(linesOf(before), linesOf(after)).map(({ value, added, removed }) => ({
    type: added ? ('added' as const) : removed ? ('removed' as const) : ('same' as const),
    lines: value.replace(/\n$/, '').split('\n'),
  }));
  if (parts.every(({ type }) => type === 'same')) return [];
  return parts.flatMap((part, place) =>
    part.type === 'same' ? shortened(part.lines, place === 0, place === parts.length - 1) : [part],
  );
}

// Compiled blocks have few line breaks.
function linesOf(html: string): string {
  return `${html
    .replace(/\r\n?/g, '\n')
    .replace(/>(?=<)/g, '>\n')
    .trimEnd()}\n`;
}

function shortened(lines: string[], isFirst: boolean, isLast: boolean): ChangedLines[] {
  const [head, tail] = [isFirst ? 0 : context, isLast ? 0 : context];
  // To hide a single line would save nothing.
  if (lines.length <= head + tail + 1) return [{ type: 'same', lines }];
  const shown: ChangedLines[] = [
    { type: 'same', lines: lines.slice(0, head) },
    { type: 'hidden', lines: lines.slice(head, lines.length - tail) },
    { type: 'same', lines: tail === 0 ? [] : lines.slice(-tail) },
  ];
  return shown.filter((part) => part.lines.length > 0);
}
