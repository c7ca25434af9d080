import type { Markup } from './markup.ts';
import { TemplateSyntaxError } from './nodes.ts';
import { type ParsedBody, type ParsedTemplate, parsePieces } from './parse.ts';
import { renderBody } from './render.ts';
import { filledBy } from './run.ts';
import type { Piece } from './source.ts';
import { layOutWithin, markText } from './text-layout.ts';
import { layOutParts } from './text-layout-parts.ts';
import { markedTextPrinter, NeedsHtml } from './text-printer.ts';
import { Filled } from './values.ts';
import type { Variables } from './variables.ts';

/** The text of an HTML template, as a template of its own. */
export interface TextTemplate {
  readonly body: ParsedBody;
}

/**
 * Derives the text part of an HTML template, once, so that a message only needs its values filled in. Answers null where
 * that could read differently from the text of the rendered HTML: where tags cross the edges of elements, change what
 * attributes there are, or keep variables in places that have no text. Then each message's own HTML has to be converted,
 * as it has to where rendering it inserted markup (`insertedMarkup`).
 */
export function deriveText(template: ParsedTemplate): TextTemplate | null {
  const { source, pieces, markup, escapeValues } = template;
  if (markup === null || /<pre[\s>]/i.test(source)) return null;
  if (!markup.isEven || !capturesAreText(pieces)) return null;
  const marked = markText(standIns(pieces));
  const derived = restore(marked, pieces, markup);
  if (derived === null) return null;
  try {
    return { body: parsePieces(source, derived, markedTextPrinter({ escapeValues })) };
  } catch (error) {
    if (error instanceof TemplateSyntaxError || error instanceof NeedsHtml) return null;
    throw error;
  }
}

/**
 * The text part of one message with its marks, to be laid out by `layOutParts`; null where its values call for converting
 * the message's HTML.
 */
export function renderMarkedText(template: TextTemplate, variables: Variables, slot: Filled): Filled | null {
  try {
    return filledBy(renderBody(template.body, variables, slot));
  } catch {
    return null;
  }
}

/** The text part of one message; null where its values call for converting the message's HTML. */
export function renderText(template: TextTemplate, variables: Variables): string | null {
  const marked = renderMarkedText(template, variables, Filled.empty);
  return marked === null ? null : String(layOutParts(marked));
}

const standIn = /\ue000(\d+)\ue001/;

// The template as HTML in which a pair of private characters stands for each output and tag.
function standIns(pieces: readonly Piece[]): string {
  return pieces
    .map((piece, i) => {
      if (!('shown' in piece)) return `\ue000${i}\ue001`;
      const shown = piece.shown.replace(/[\ue000\ue001]/g, '');
      return piece.kind === 'text' ? trimmed(shown, pieces[i - 1], pieces[i + 1]) : shown;
    })
    .join('');
}

// Does what `-` at a delimiter asks for; the text around it may be another once the markup is gone.
function trimmed(shown: string, before: Piece | undefined, after: Piece | undefined): string {
  const left = before && /-[%}]\}$/.test(before.code) ? shown.trimStart() : shown;
  return after && /^\{[%{]-/.test(after.code) ? left.trimEnd() : left;
}

// Tags that do something even where their own place in the HTML has no text.
const lasting = new Set([
  'assign',
  'capture',
  'endcapture',
  'increment',
  'decrement',
  'cycle',
  'liquid',
  'echo',
  'break',
  'continue',
]);

// Puts outputs and tags back where their stand-ins came out; null when one that matters did not, or not in its place.
function restore(marked: string, pieces: readonly Piece[], { places }: Markup): Piece[] | null {
  const parts = marked.split(standIn);
  const derived: Piece[] = [];
  const kept = new Set<number>();
  let lastInText = -1;
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0) {
      if (part !== '') derived.push(textPiece(narrow(layOutWithin(part))));
      continue;
    }
    const index = Number(part);
    const piece = pieces[index];
    const place = places[index];
    if (!piece || !place || kept.has(index)) return null;
    kept.add(index);
    if (place.kind === 'text') {
      if (index < lastInText) return null;
      lastInText = index;
    }
    derived.push(untrimmed(piece));
  }
  for (const [index, piece] of pieces.entries()) {
    const place = places[index];
    if ('shown' in piece) continue;
    if (!place || place.kind === 'tag') return null;
    if (piece.kind !== 'tag') continue;
    if (piece.name === 'tablerow') return null;
    if (place.kind !== 'text' && lasting.has(piece.name)) return null;
    if (place.kind === 'text' && !kept.has(index)) return null;
    if (/\|\s*(?:escape|xml_escape|escape_once|newline_to_br)\b/.test(piece.code)) return null;
  }
  return derived;
}

// V8 keeps a part of a string with wide characters wide, and what is built from it; the stand-ins are wide.
function narrow(text: string): string {
  return /[\u0100-\uffff]/.test(text) ? text : Buffer.from(text, 'latin1').toString('latin1');
}

function textPiece(text: string): Piece {
  const isPlain = !text.includes('{{') && !text.includes('{%');
  const code = isPlain ? text : text.replace(/\{(?=[{%])/g, '{{ "{" }}');
  return { kind: 'text', start: 0, end: 0, code, shown: text };
}

function untrimmed(piece: Piece): Piece {
  return { ...piece, code: piece.code.replace(/^(\{[%{])-/, '$1').replace(/-([%}]\})$/, '$1') };
}

// A captured text is the same with and without markup only where it has none and is printed as it is.
function capturesAreText(pieces: readonly Piece[]): boolean {
  let depth = 0;
  const names = new Set<string>();
  for (const piece of pieces) {
    if (piece.kind === 'tag' && piece.name === 'capture') {
      depth += 1;
      names.add(/capture\s+["']?([\w-]+)/.exec(piece.code)?.[1] ?? '');
    } else if (piece.kind === 'tag' && piece.name === 'endcapture') depth -= 1;
    else if (depth > 0 && 'shown' in piece && /[<&]/.test(piece.shown)) return false;
  }
  if (names.size === 0) return true;
  return !names.has('') && pieces.every((piece) => 'shown' in piece || printsOnly(piece, names));
}

function printsOnly(piece: Piece, names: ReadonlySet<string>): boolean {
  if (!(piece.code.match(/[\w-]+/g) ?? []).some((word) => names.has(word))) return true;
  if (piece.kind === 'tag') return piece.name === 'capture';
  return names.has(/^\{\{-? ([\w-]+) -?\}\}$/.exec(piece.code)?.[1] ?? '');
}
