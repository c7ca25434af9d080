import { decodeEntities, liquidExpression, quoteFinder } from './expression.ts';
import { TemplateSyntaxError, TemplateTooLargeError } from './nodes.ts';

/** The longest template that is read, in characters (docs/contract/campaigns-and-workflows.md#1-3). */
export const sourceLimit = 2_000_000;

/** How many steps parsing a template may take, and how deep its blocks may nest. See `ParseSteps`. */
export const parseLimits = { steps: 40_000, depth: 100 };

/**
 * One part of a template. `start` and `end` are offsets in the source as written. `code` is the same part in plain
 * Liquid. `verbatim` is the inside of a `raw` block, which shows as it is.
 */
export type Piece =
  | { kind: 'text' | 'verbatim'; start: number; end: number; code: string; shown: string }
  | { kind: 'output' | 'comment'; start: number; end: number; code: string }
  | { kind: 'tag'; start: number; end: number; code: string; name: string };

/** Cuts a template into text, outputs and tags. Throws `TemplateSyntaxError` where a delimiter or block is left open. */
export function cutSource(source: string): Piece[] {
  if (source.length > sourceLimit)
    throw new TemplateSyntaxError(
      `The template is longer than ${sourceLimit.toLocaleString('en-US')} characters`,
      source,
      sourceLimit,
    );
  const pieces: Piece[] = [];
  const steps = new ParseSteps(source);
  let at = 0;
  while (at < source.length) {
    const open = nextDelimiter(source, at);
    if (open > at) {
      const shown = source.slice(at, open);
      steps.text(shown, at);
      pieces.push({ kind: 'text', start: at, end: open, code: shown, shown });
    }
    if (open === source.length) break;
    at = source[open + 1] === '{' ? cutOutput(source, open, pieces) : cutTag(source, open, pieces);
    steps.piece(pieces.at(-1));
  }
  return pieces;
}

const opensBlock = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture']);

/**
 * Counts what reading a template will cost, before anything but its delimiters is looked for: 10 for each output and tag, 1
 * for each 4 characters in it, 2 for each `<` of its text and 1 for each 128 characters.
 */
class ParseSteps {
  private readonly source: string;
  private steps = 0;
  private depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  text(text: string, at: number): void {
    let elements = 0;
    for (let open = text.indexOf('<'); open !== -1; open = text.indexOf('<', open + 1)) elements += 1;
    this.take(2 * elements + (text.length >> 7), at);
  }

  piece(piece: Piece | undefined): void {
    if (piece === undefined) return;
    if (piece.kind === 'verbatim') this.text(piece.shown, piece.start);
    this.take(10 + (piece.code.length >> 2), piece.start);
    if (piece.kind !== 'tag') return;
    if (opensBlock.has(piece.name)) this.depth += 1;
    else if (piece.name.startsWith('end')) this.depth -= 1;
    if (this.depth > parseLimits.depth)
      throw new TemplateSyntaxError(
        `Tags are nested too deeply, at most ${parseLimits.depth} are allowed`,
        this.source,
        piece.start,
      );
  }

  private take(steps: number, at: number): void {
    this.steps += steps;
    if (this.steps > parseLimits.steps)
      throw new TemplateTooLargeError(
        `The template takes more than ${parseLimits.steps.toLocaleString('en-US')} steps to parse`,
        this.source,
        at,
      );
  }
}

/** The whole template in plain Liquid, and the way back from a place in it to the source as written. */
export function joinPieces(pieces: readonly Piece[]): { code: string; sourceOffset(codeOffset: number): number } {
  return {
    code: pieces.map((piece) => piece.code).join(''),
    sourceOffset(codeOffset) {
      let begin = 0;
      for (const piece of pieces) {
        if (codeOffset < begin + piece.code.length)
          return piece.kind === 'text' ? piece.start + codeOffset - begin : piece.start;
        begin += piece.code.length;
      }
      return pieces.at(-1)?.end ?? 0;
    },
  };
}

function nextDelimiter(source: string, from: number): number {
  for (let open = source.indexOf('{', from); open !== -1; open = source.indexOf('{', open + 1)) {
    const next = source[open + 1];
    if (next === '{' || next === '%') return open;
  }
  return source.length;
}

function cutOutput(source: string, open: number, pieces: Piece[]): number {
  const close = outputEnd(source, open + 2);
  if (close === -1) throw new TemplateSyntaxError('"{{" is not closed', source, open);
  const { trimmedLeft, inside, trimmedRight } = withoutTrimMarks(source.slice(open + 2, close));
  const expression = liquidExpression(decodeEntities(inside));
  const code = `{{${trimmedLeft} ${expression} ${trimmedRight}}}`;
  if (!closesAtItsEnd(code)) throw new TemplateSyntaxError('A quote is not closed', source, open);
  pieces.push({ kind: 'output', start: open, end: close + 2, code });
  return close + 2;
}

// The first `}}` outside quotes. A quote that only closes on a later line or in another output is taken for an apostrophe.
// It looks no further than the next output or tag, so that each costs its own length.
function outputEnd(source: string, from: number): number {
  const plainEnd = source.indexOf('}}', from);
  if (plainEnd === -1) return -1;
  const to = firstOf(source, plainEnd, /\{[{%]/g);
  const quoteEnd = quoteFinder(source, from, to);
  let breakAt = firstOf(source, from, /[\n{]/g);
  for (let i = from; i < to; i++) {
    if (source.startsWith('}}', i)) return i;
    const end = quoteEnd(i);
    if (end === -1) continue;
    if (breakAt < i) breakAt = firstOf(source, i, /[\n{]/g);
    if (end < plainEnd || breakAt > end) i = end;
  }
  return plainEnd;
}

function firstOf(text: string, from: number, wanted: RegExp): number {
  wanted.lastIndex = from;
  return wanted.exec(text)?.index ?? text.length;
}

// Liquid itself takes every quote for the begin of quoted text; what it would then swallow must not pass unseen.
function closesAtItsEnd(code: string): boolean {
  for (let i = 2; i < code.length; i++) {
    const char = code[i];
    if (char === '"' || char === "'") {
      for (i += 1; i < code.length && code[i] !== char; i++) if (code[i] === '\\') i += 1;
    } else if (code.startsWith('}}', i)) return i === code.length - 2;
  }
  return false;
}

function cutTag(source: string, open: number, pieces: Piece[]): number {
  const close = source.indexOf('%}', open + 2);
  if (close === -1) throw new TemplateSyntaxError('"{%" is not closed', source, open);
  const { trimmedLeft, inside, trimmedRight } = withoutTrimMarks(source.slice(open + 2, close));
  const decoded = decodeEntities(inside);
  const name = /^\s*(#|[\w-]*)/.exec(decoded)?.[1] ?? '';
  if (name === 'raw' || name === 'comment') return cutOpaque(source, name, open, close + 2, pieces);
  const code = `{%${trimmedLeft}${decoded}${trimmedRight}%}`;
  pieces.push({ kind: 'tag', start: open, end: close + 2, code, name });
  return close + 2;
}

// The content of a `raw` or `comment` block is not parsed, so its delimiters need not match.
function cutOpaque(source: string, name: 'raw' | 'comment', open: number, inner: number, pieces: Piece[]): number {
  const match = endOfBlock(source, name, inner);
  if (match === null) throw new TemplateSyntaxError(`"{% ${name} %}" is not closed`, source, open);
  const { begin, end } = match;
  if (name === 'raw') {
    const shown = source.slice(inner, begin);
    pieces.push({ kind: 'verbatim', start: open, end, code: source.slice(open, end), shown });
  } else {
    pieces.push({ kind: 'comment', start: open, end, code: source.slice(open, inner) + source.slice(begin, end) });
  }
  return end;
}

const blankAfter = /\s*-?%\}/y;

// Looked for from the word, of which there is one in each ending: so blanks and `{%` that lead to none are read once.
function endOfBlock(source: string, name: 'raw' | 'comment', from: number): { begin: number; end: number } | null {
  const word = `end${name}`;
  for (let at = source.indexOf(word, from); at !== -1; at = source.indexOf(word, at + word.length)) {
    let begin = at;
    while (begin > from && /\s/.test(source[begin - 1] ?? '')) begin -= 1;
    if (source[begin - 1] === '-') begin -= 1;
    begin -= 2;
    if (begin < from || !source.startsWith('{%', begin)) continue;
    blankAfter.lastIndex = at + word.length;
    if (blankAfter.test(source)) return { begin, end: blankAfter.lastIndex };
  }
  return null;
}

function withoutTrimMarks(content: string): { trimmedLeft: string; inside: string; trimmedRight: string } {
  const trimmedLeft = content.startsWith('-') ? '-' : '';
  const trimmedRight = content.length > 1 && content.endsWith('-') ? '-' : '';
  return { trimmedLeft, inside: content.slice(trimmedLeft.length, content.length - trimmedRight.length), trimmedRight };
}
