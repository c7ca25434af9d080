import type { Piece } from './source.ts';

/** Where in its HTML a piece of a template stands. */
export interface MarkupPlace {
  kind: 'text' | 'attribute' | 'tag' | 'comment' | 'hidden';
  /** The same for all pieces of one attribute value, one comment and so on; 0 for all that stands in text. */
  region: number;
  /** In an attribute: the lower-case name of its element, its own, and the quote around its value, if any. */
  element: string;
  attribute: string;
  quote: string;
}

/** An opening tag of interest. Offsets are those of the template's source. */
interface Anchor {
  /** Right behind the name of the element. */
  nameEnd: number;
  /** Indexes of the pieces in its `href`. */
  href: number[];
}

/** The HTML of a template as far as it is known while values are missing. */
export interface Markup {
  /** One place for each piece; that of text is where it begins. */
  places: MarkupPlace[];
  anchors: Anchor[];
  /** Attribute values without quotes that hold an output: from, to. */
  unquoted: { start: number; end: number }[];
  /** Where the last `</body>` begins, or null. `conditional` when a Liquid block decides whether it is there. */
  bodyEnd: { offset: number; conditional: boolean } | null;
  /** Whether the template brings its own `<html>`, `<body>` or doctype. */
  isDocument: boolean;
  /** Whether the branches of its Liquid blocks open and close their elements evenly. */
  isEven: boolean;
}

const voidElements = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
const textElements = new Set('script style title textarea xmp iframe noembed noframes'.split(' '));
const blockTags = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture']);
const middleTags = new Set(['else', 'elsif', 'when']);

/** Reads the HTML around the outputs and tags of a template. */
export function readMarkup(source: string, pieces: readonly Piece[]): Markup {
  return new MarkupReader(source, pieces).read();
}

// Stands for a piece in the text that is scanned.
const stand = '\ue000';
const stands = /\ue000/g;

interface Block {
  name: string;
  region: number;
  /** How many elements are open where the block begins. */
  depth: number;
}

class MarkupReader {
  private readonly source: string;
  private readonly pieces: readonly Piece[];
  private readonly text: string;
  /** Where each segment of `text` begins, there and in the source; -1 when the source shows it otherwise. */
  private readonly segments: { at: number; source: number }[] = [];
  private readonly places: MarkupPlace[] = [];
  private nextPiece = 0;
  private nextRegion = 1;
  private readonly elements: string[] = [];
  /** How many elements of a name are open, so that an end without a begin is known at once. */
  private readonly openElements = new Map<string, number>();
  private readonly blocks: Block[] = [];
  /** Those of `blocks` that stand in text. */
  private readonly textBlocks: Block[] = [];
  private readonly loops: Block[] = [];
  private readonly result: Markup;

  constructor(source: string, pieces: readonly Piece[]) {
    this.source = source;
    this.pieces = pieces;
    let text = '';
    for (const piece of pieces) {
      this.segments.push({ at: text.length, source: piece.kind === 'verbatim' ? -1 : piece.start });
      text += 'shown' in piece ? piece.shown.replace(stands, '\ufffd') : stand;
    }
    this.text = text;
    this.result = { places: this.places, anchors: [], unquoted: [], bodyEnd: null, isDocument: false, isEven: true };
  }

  read(): Markup {
    const { text } = this;
    let at = 0;
    while (at < text.length) {
      const open = text.indexOf('<', at);
      this.note(at, open === -1 ? text.length : open, { kind: 'text' });
      if (open === -1) break;
      at = this.markup(open);
    }
    this.fill(this.pieces.length);
    if (this.blocks.length > 0) this.result.isEven = false;
    return this.result;
  }

  // Reads what begins with `<` and answers where it ends.
  private markup(open: number): number {
    const { text } = this;
    if (text.startsWith('<!--', open)) return this.skip(open, '-->', 'comment');
    const next = text[open + 1] ?? '';
    if (next === '!' || next === '?') {
      if (/^<!doctype/i.test(text.slice(open, open + 9))) this.result.isDocument = true;
      return this.skip(open, '>', 'comment');
    }
    if (next === '/' && /[a-z]/i.test(text[open + 2] ?? '')) return this.closingTag(open);
    if (/[a-z]/i.test(next)) return this.openingTag(open);
    return open + 1;
  }

  private skip(open: number, ending: string, kind: MarkupPlace['kind']): number {
    const found = this.text.indexOf(ending, open);
    const end = found === -1 ? this.text.length : found + ending.length;
    this.note(open, end, { kind, region: this.nextRegion++ });
    return end;
  }

  private closingTag(open: number): number {
    const name = this.nameAt(open + 2);
    const end = this.skip(open, '>', 'tag');
    if (name === 'body') {
      const offset = this.sourceOffset(open);
      if (offset !== null) this.result.bodyEnd = { offset, conditional: this.textBlocks.length > 0 };
    }
    const depth = this.closeElement(name);
    // As long as the template is even, no block in text began deeper than one that began later.
    if (depth !== -1 && this.result.isEven && depth < (this.textBlocks.at(-1)?.depth ?? 0)) this.result.isEven = false;
    return end;
  }

  private openingTag(open: number): number {
    const name = this.nameAt(open + 1);
    if (name === 'html' || name === 'body') this.result.isDocument = true;
    const anchor: Anchor = { nameEnd: this.sourceOffset(open + 1 + name.length) ?? -1, href: [] };
    const end = this.attributes(open + 1 + name.length, name, anchor);
    if (name === 'a' && anchor.nameEnd !== -1) this.result.anchors.push(anchor);
    if (textElements.has(name)) return this.hiddenText(end, name);
    if (!voidElements.has(name)) {
      this.elements.push(name);
      this.openElements.set(name, (this.openElements.get(name) ?? 0) + 1);
    }
    return end;
  }

  // Closes the innermost element of the name and those within it, and answers how many stay open; -1 when there is none.
  private closeElement(name: string): number {
    if (!this.openElements.get(name)) return -1;
    for (let last = this.elements.pop(); last !== undefined; last = this.elements.pop()) {
      this.openElements.set(last, (this.openElements.get(last) ?? 1) - 1);
      if (last === name) break;
    }
    return this.elements.length;
  }

  private nameAt(at: number): string {
    return (/^[^\s/>\ue000]*/.exec(this.text.slice(at, at + 64))?.[0] ?? '').toLowerCase();
  }

  private attributes(from: number, element: string, anchor: Anchor): number {
    const { text } = this;
    const region = this.nextRegion++;
    let at = from;
    while (at < text.length && text[at] !== '>') {
      if (/[\s/=]/.test(text[at] ?? '')) {
        at += 1;
        continue;
      }
      const nameEnd = endOf(text, at, /[\s/=>]/g);
      const attribute = text.slice(at, nameEnd).toLowerCase();
      this.note(at, nameEnd, { kind: 'tag', region });
      at = endOf(text, nameEnd, /\S/g);
      if (text[at] !== '=') continue;
      at = this.attributeValue(endOf(text, at + 1, /\S/g), element, attribute, anchor);
    }
    return Math.min(at + 1, text.length);
  }

  private attributeValue(at: number, element: string, attribute: string, anchor: Anchor): number {
    const { text } = this;
    const quote = text[at] === '"' || text[at] === "'" ? (text[at] ?? '') : '';
    const start = at + quote.length;
    const found = quote === '' ? endOf(text, start, /[\s>]/g) : text.indexOf(quote, start);
    const end = found === -1 ? text.length : found;
    const first = this.nextPieceAt(start);
    this.note(start, end, { kind: 'attribute', region: this.nextRegion++, element, attribute, quote });
    const inside: number[] = [];
    for (let i = first; i < this.nextPiece; i++) if (!('shown' in (this.pieces[i] as Piece))) inside.push(i);
    if (attribute === 'href') anchor.href.push(...inside);
    if (quote === '' && inside.length > 0) {
      const from = this.sourceOffset(start);
      const to = this.sourceOffset(end);
      if (from !== null && to !== null) this.result.unquoted.push({ start: from, end: to });
    }
    return end + quote.length;
  }

  private hiddenText(from: number, element: string): number {
    const closing = new RegExp(`</${element}(?=[\\s/>])`, 'gi');
    closing.lastIndex = from;
    const end = closing.exec(this.text)?.index ?? this.text.length;
    this.note(from, end, { kind: 'hidden', region: this.nextRegion++ });
    return end;
  }

  // Gives their place to all pieces that begin in a stretch of the text.
  private note(from: number, to: number, place: Partial<MarkupPlace> & Pick<MarkupPlace, 'kind'>): void {
    const full: MarkupPlace = { region: 0, element: '', attribute: '', quote: '', ...place };
    this.fill(this.nextPieceAt(from), full);
    while (this.nextPiece < this.pieces.length && (this.segments[this.nextPiece]?.at ?? 0) < to) this.place(full);
  }

  private nextPieceAt(at: number): number {
    let next = this.nextPiece;
    while (next < this.pieces.length && (this.segments[next]?.at ?? 0) < at) next += 1;
    return next;
  }

  // Pieces between two stretches stand in the middle of a tag.
  private fill(until: number, like?: MarkupPlace): void {
    while (this.nextPiece < until)
      this.place({ region: this.nextRegion++, element: '', attribute: '', quote: '', ...like, kind: 'tag' });
  }

  private place(place: MarkupPlace): void {
    const piece = this.pieces[this.nextPiece];
    this.places.push(place);
    this.nextPiece += 1;
    if (piece?.kind === 'tag') this.follow(piece.name, place);
  }

  // Keeps account of the Liquid block that a tag opens, divides or closes.
  private follow(name: string, { region }: MarkupPlace): void {
    if (blockTags.has(name)) {
      const block = { name, region, depth: this.elements.length };
      this.blocks.push(block);
      if (region === 0) this.textBlocks.push(block);
      if (name === 'for') this.loops.push(block);
      return;
    }
    if (name === 'break' || name === 'continue') {
      const loop = this.loops.at(-1);
      if (loop?.region !== region || loop.depth !== this.elements.length) this.result.isEven = false;
    }
    const closes = name.startsWith('end');
    if (!closes && !middleTags.has(name)) return;
    const block = this.blocks.at(-1);
    if (!block || block.region !== region || (region === 0 && block.depth !== this.elements.length))
      this.result.isEven = false;
    if (!closes) return;
    this.blocks.pop();
    if (block === this.textBlocks.at(-1)) this.textBlocks.pop();
    if (block === this.loops.at(-1)) this.loops.pop();
  }

  private sourceOffset(at: number): number | null {
    if (at >= this.text.length) return this.source.length;
    let low = 0;
    let high = this.segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.segments[middle]?.at ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    const segment = this.segments[low];
    return !segment || segment.source === -1 ? null : segment.source + at - segment.at;
  }
}

function endOf(text: string, from: number, stop: RegExp): number {
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}
