import { Readable } from 'node:stream';
import { type Options, stringify } from 'csv-stringify/sync';
import manifest from '../../package.json' with { type: 'json' };

/**
 * The beginning of a text, of so many UTF-16 units at most and never ending in half of a surrogate pair: half a character is
 * none, and Postgres refuses JSON that holds one.
 */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1).toWellFormed();
}

/** A text without U+0000 and with a replacement character for half of a surrogate pair: Postgres stores neither. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** A text as it stands in a pattern of `like`, where it means itself. */
export function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

// RFC 4180; a cell that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, CSV injection).
const format: Options = {
  record_delimiter: 'windows',
  escape_formulas: true,
  cast: { boolean: String },
};

/** Lines of a CSV file with CRLF at their ends. Numbers stay as they are, null is an empty cell, and objects are JSON. */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(rows as unknown[][], format);
}

const linesPerTurn = 100;

/**
 * The text of a CSV file: its titles, together with the first rows, and then all others, some lines at a time, so that a large file keeps no
 * other request waiting.
 */
export async function* csvFile(
  titles: readonly string[],
  pages: AsyncIterable<readonly (readonly unknown[])[]>,
): AsyncGenerator<string> {
  let head = [titles];
  for await (const rows of pages) {
    for (let at = 0; at < rows.length; at += linesPerTurn) {
      yield csvLines([...head, ...rows.slice(at, at + linesPerTurn)]);
      head = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (head.length > 0) yield csvLines(head);
}

/**
 * Whether a text fits a pattern as a whole: `*` stands for any run of characters, `?` for one, everything else for
 * itself. Takes time in proportion to both lengths at most, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let place = 0;
  let at = 0;
  // Where the last `*` stands, and how much of the text it has taken so far.
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    if (pattern[place] === '*') {
      star = place++;
      taken = at;
    } else if (place < pattern.length && (pattern[place] === '?' || pattern[place] === text[at])) {
      place++;
      at++;
    } else if (star !== -1) {
      place = star + 1;
      at = ++taken;
    } else return false;
  }
  while (pattern[place] === '*') place++;
  return place === pattern.length;
}

/** The version of the service. */
export const { version } = manifest;

/**
 * How many slips of the finger lie between two words: a missing, added or wrong letter, or two neighbours swapped
 * (Damerau-Levenshtein in its optimal string alignment form, which edits no place twice). Answers `limit + 1` for
 * everything beyond `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
      best = Math.min(best, cost);
    }
    // A swap reaches back over one row, and that row can be better by one at most: hence the one step of slack.
    if (best > limit + 1) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return Math.min(at(last, b.length), limit + 1);
}

function at(row: number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/**
 * Streams a text that is read while it is sent. Its first piece is read before: what refuses it is then still an answer with a
 * status of its own, not a body that breaks off.
 */
export async function streamOf(text: AsyncGenerator<string>): Promise<Readable> {
  const first = await text.next();
  return Readable.from(pieces());

  async function* pieces(): AsyncGenerator<string> {
    if (first.done) return;
    yield first.value;
    yield* text;
  }
}
