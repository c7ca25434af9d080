import { decodeEntities, liquidExpression, quoteEnd } from './expression.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

/** The longest template that is read, in characters (contract page 2, 1.3). */
export const sourceLimit = 2_000_000;

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
  let at = 0;
  while (at < source.length) {
    const open = nextDelimiter(source, at);
    if (open > at) {
      const shown = source.slice(at, open);
      pieces.push({ kind: 'text', start: at, end: open, code: shown, shown });
    }
    if (open === source.length) break;
    at = source[open + 1] === '{' ? cutOutput(source, open, pieces) : cutTag(source, open, pieces);
  }
  return pieces;
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
function outputEnd(source: string, from: number): number {
  const plainEnd = source.indexOf('}}', from);
  if (plainEnd === -1) return -1;
  for (let i = from; i < source.length; i++) {
    if (source.startsWith('}}', i)) return i;
    const end = quoteEnd(source, i);
    if (end !== -1 && (end < plainEnd || !/[\n{]/.test(source.slice(i, end)))) i = end;
  }
  return plainEnd;
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

// What stands in a `raw` or `comment` block is not read as template, so its delimiters need not match.
function cutOpaque(source: string, name: 'raw' | 'comment', open: number, inner: number, pieces: Piece[]): number {
  const ending = new RegExp(`\\{%-?\\s*end${name}\\s*-?%\\}`, 'g');
  ending.lastIndex = inner;
  const match = ending.exec(source);
  if (!match) throw new TemplateSyntaxError(`"{% ${name} %}" is not closed`, source, open);
  const end = match.index + match[0].length;
  if (name === 'raw') {
    const shown = source.slice(inner, match.index);
    pieces.push({ kind: 'verbatim', start: open, end, code: source.slice(open, end), shown });
  } else {
    pieces.push({ kind: 'comment', start: open, end, code: source.slice(open, inner) + match[0] });
  }
  return end;
}

function withoutTrimMarks(content: string): { trimmedLeft: string; inside: string; trimmedRight: string } {
  const trimmedLeft = content.startsWith('-') ? '-' : '';
  const trimmedRight = content.length > 1 && content.endsWith('-') ? '-' : '';
  return { trimmedLeft, inside: content.slice(trimmedLeft.length, content.length - trimmedRight.length), trimmedRight };
}
