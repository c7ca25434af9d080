import { bullet, isEdge, layOut, linkAddress, marks } from './text-layout.ts';
import { Filled, type FilledPart, Literal, textOf } from './values.ts';

/** A part of a literal of a text with marks. `raw` is its source. */
export type TextToken =
  /** Begins and ends with neither a blank nor a mark, and is laid out within. */
  | { kind: 'body'; raw: string; literal: Literal }
  /** A run of marks and blanks: see `replaceEdges`. */
  | { kind: 'edge'; raw: string; lines: number; breaks: number; lists: string }
  | { kind: 'item' | 'link' | 'linkTarget' | 'linkEnd'; raw: string };

/** `layOut` of a text in parts, as parts. Its literals are cut into tokens once; a message only joins them with its values. */
export function layOutParts(marked: Filled): Filled {
  const layout = new Layout();
  for (const part of marked.parts) {
    const fits = typeof part === 'string' ? layout.value(part) : layout.tokens(tokensOf(part));
    if (!fits) return Filled.of(layOut(String(marked)));
  }
  return layout.end() ?? Filled.of(layOut(String(marked)));
}

function tokensOf(literal: Literal): readonly TextToken[] {
  literal.tokens ??= [...cut(literal.text)];
  return literal.tokens;
}

const markKinds: Record<string, 'item' | 'link' | 'linkTarget' | 'linkEnd'> = {
  [marks.item]: 'item',
  [marks.link]: 'link',
  [marks.linkTarget]: 'linkTarget',
  [marks.linkEnd]: 'linkEnd',
};

function* cut(text: string): Generator<TextToken> {
  let at = 0;
  while (at < text.length) {
    const kind = markKinds[text.charAt(at)];
    let end = at + 1;
    if (kind !== undefined) yield { kind, raw: text.charAt(at) };
    else if (isEdge(text.charCodeAt(at))) {
      while (isEdge(text.charCodeAt(end))) end += 1;
      yield edgeOf(text.slice(at, end));
    } else {
      while (end < text.length && !endsBody(text, end)) end += 1;
      const raw = text.slice(at, end);
      yield { kind: 'body', raw, literal: new Literal(raw) };
    }
    at = end;
  }
}

// A single blank between words is a part of the body.
function endsBody(text: string, at: number): boolean {
  const isMark = (place: number) => isEdge(text.charCodeAt(place)) || text.charAt(place) in markKinds;
  if (text.charCodeAt(at) !== blank) return isMark(at);
  return at + 1 === text.length || isMark(at + 1);
}

function edgeOf(raw: string): TextToken {
  let lines = 0;
  let breaks = 0;
  let lists = '';
  for (const mark of raw) {
    const code = mark.charCodeAt(0);
    if (code <= 2) lines = Math.max(lines, code);
    else if (code === 3) breaks += 1;
    else if (code !== blank) lists += mark;
  }
  return { kind: 'edge', raw, lines, breaks, lists };
}

const blank = 32;
const gaps = [new Literal(' '), new Literal('\n'), new Literal('\n\n')] as const;
const beforeAddress = new Literal(' (');
const afterAddress = new Literal(')');
// Of a value: what `tidyText` would have taken out, or what shapes text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const untidy = /[\u0000-\u001f]| {2}/;

/** A link whose end has not come yet. */
interface OpenLink {
  /** Its text without the edges around it, as it stands in the text with marks. */
  shown: string;
  /** Edges since then. */
  gap: string;
  /** Its address so far, once that has begun. */
  target: string | null;
}

// Takes tokens and values in their order. Whatever it cannot be sure of makes it answer false, and the text is laid out whole.
class Layout {
  private readonly parts: FilledPart[] = [];
  private length = 0;
  private hasEdge = false;
  private lines = 0;
  private breaks = 0;
  private lists = '';
  /** The last that was written is a bullet, behind which no line is broken. */
  private afterItem = false;
  private link: OpenLink | null = null;
  /** The number of the last item of each open list; null where items have bullets. */
  private readonly open: (number | null)[] = [];

  tokens(tokens: readonly TextToken[]): boolean {
    for (const token of tokens) {
      if (this.link !== null && this.link.target !== null && token.kind !== 'linkEnd') {
        if (token.kind !== 'body') return false;
        this.link.target += token.raw;
      } else if (token.kind === 'body') this.body(token.literal, token.raw);
      else if (token.kind === 'edge') this.edge(token.raw, token.lines, token.breaks, token.lists);
      else if (!this.mark(token.kind, token.raw)) return false;
    }
    return true;
  }

  value(value: string): boolean {
    if (this.link !== null && this.link.target !== null) {
      this.link.target += value;
      return true;
    }
    if (untidy.test(value)) return false;
    const begins = value.charCodeAt(0) === blank;
    const ends = value.length > 1 && value.charCodeAt(value.length - 1) === blank;
    if (begins) this.edge(' ', 0, 0, '');
    const inside = begins || ends ? value.slice(begins ? 1 : 0, ends ? -1 : undefined) : value;
    if (inside !== '') this.body(inside, inside);
    if (ends) this.edge(' ', 0, 0, '');
    return true;
  }

  /** The laid-out text; null where that is not certain. */
  end(): Filled | null {
    const { parts, length, link, afterItem } = this;
    if (link !== null || afterItem) return null;
    const first = parts[0];
    const last = parts.at(-1);
    if (first === undefined || last === undefined) return Filled.empty;
    const isTrimmed = textOf(first).trimStart() === textOf(first) && textOf(last).trimEnd() === textOf(last);
    return isTrimmed ? new Filled(parts, length) : null;
  }

  private mark(kind: 'item' | 'link' | 'linkTarget' | 'linkEnd', raw: string): boolean {
    const { link } = this;
    switch (kind) {
      case 'item':
        this.flush();
        this.noteShown(raw);
        this.write(this.parts.length === 0 ? bullet(this.open).trimStart() : bullet(this.open));
        this.afterItem = true;
        return true;
      case 'link':
        this.link = { shown: '', gap: '', target: null };
        return link === null;
      case 'linkTarget':
        if (link !== null) link.target = '';
        return link !== null;
      case 'linkEnd':
        this.link = null;
        return link !== null && link.target !== null && this.address(link.shown, link.target);
    }
  }

  // The address of a link comes right behind its text, before the edges that end it.
  private address(shown: string, target: string): boolean {
    // A text that a filter breaks into lines has blanks, so that no mark of a value is overlooked.
    if (target.includes(' ')) return false;
    const address = linkAddress(target);
    if (address === null || shown === address || shown === target.trim()) return true;
    if (this.afterItem) return false;
    if (shown === '') {
      this.flush();
      this.write(address);
      return true;
    }
    this.write(beforeAddress);
    this.write(address);
    this.write(afterAddress);
    return true;
  }

  private body(part: FilledPart, raw: string): void {
    if (this.link !== null) this.noteShown(raw);
    if (this.hasEdge) this.flush();
    this.afterItem = false;
    this.write(part);
  }

  private edge(raw: string, lines: number, breaks: number, lists: string): void {
    if (this.link !== null) this.link.gap += raw;
    this.hasEdge = true;
    if (lines > this.lines) this.lines = lines;
    this.breaks += breaks;
    this.lists += lists;
  }

  private noteShown(raw: string): void {
    const { link } = this;
    if (link === null) return;
    link.shown += link.shown === '' ? raw : link.gap + raw;
    link.gap = '';
  }

  // Writes the edges that have met. What would come first is trimmed away.
  private flush(): void {
    if (!this.hasEdge) return;
    const count = Math.max(this.lines, Math.min(this.breaks, 2));
    if (!this.afterItem && this.parts.length > 0 && (count > 0 || this.lists === ''))
      this.write(gaps[count] ?? gaps[0]);
    for (const mark of this.lists) {
      if (mark === marks.listEnd) this.open.pop();
      else this.open.push(mark === marks.numberedList ? 0 : null);
    }
    this.hasEdge = false;
    this.lines = 0;
    this.breaks = 0;
    this.lists = '';
  }

  private write(part: FilledPart): void {
    this.parts.push(part);
    this.length += textOf(part).length;
  }
}
