import {
  type Block,
  blocksToHtml,
  escapeHtml,
  type Line,
  type Marks,
  marked,
  noMarks,
  type Opening,
} from './pasted-blocks.ts';

/** A node of HTML from the clipboard. An element has a lower-case name; a text or a comment has data. */
export interface PastedNode {
  type: string;
  name?: string;
  data?: string;
  attribs?: Readonly<Record<string, string>>;
  children?: readonly PastedNode[];
}

/** HTML with the blocks of an email only, and how many of its images could not be kept. */
export interface Cleaned {
  html: string;
  lost: number;
}

/**
 * Cleans HTML from the clipboard for the editor of emails. It keeps headings, lists, tables, links, images, alignment and
 * marks, and drops the rest. Paragraphs that Word numbers itself become lists. `addressOf` gives an image with a `data:` URL the
 * address it is shown at, or null where it is none; images that are files of another computer are lost.
 */
export function cleanPasted(nodes: readonly PastedNode[], addressOf: (dataUrl: string) => string | null): Cleaned {
  let lost = 0;
  const imageOf = ({ attribs = {} }: PastedNode): Block | null => {
    const { src = '', alt = '' } = attribs;
    const width = Math.round(Number(attribs.width ?? Number.NaN));
    // Open tracking and spacers.
    if (width <= 2) return null;
    const address = /^data:/i.test(src) ? addressOf(src) : /^https?:/i.test(src) ? src : null;
    if (address === null) lost += 1;
    return address === null
      ? null
      : { type: 'image', src: address, alt, width: width >= 16 && width <= 600 ? width : null };
  };
  const blocks = new Flow(imageOf).read(nodes);
  return { html: blocksToHtml(blocks), lost };
}

const dropped = new Set(
  'head style script title meta link xml template noscript iframe object svg select option button textarea input'.split(
    ' ',
  ),
);
const blockTags = new Set(
  'p div section article header footer main aside nav blockquote center pre figure figcaption address dl dt dd body html form fieldset tr td th tbody caption'.split(
    ' ',
  ),
);
const markTags: Record<string, Partial<Marks>> = {
  b: { bold: true },
  strong: { bold: true },
  i: { italic: true },
  em: { italic: true },
  u: { underline: true },
  ins: { underline: true },
  s: { strike: true },
  strike: { strike: true },
  del: { strike: true },
  code: { code: true },
};
// Comments in the margin, deleted text that is tracked, and what the writer has hidden.
const hidden = /mso-element:\s*comment|mso-special-character:\s*comment|mso-hide:\s*all|display:\s*none/i;

/** Reads nodes into blocks: text is gathered in a line until a block begins or ends. */
class Flow {
  readonly #imageOf: (node: PastedNode) => Block | null;
  readonly #blocks: Block[] = [];
  #line = '';

  constructor(imageOf: (node: PastedNode) => Block | null) {
    this.#imageOf = imageOf;
  }

  read(nodes: readonly PastedNode[], marks: Marks = noMarks): Block[] {
    const text: Line = { type: 'text', tag: 'p', align: 'left' };
    this.#walkAll(nodes, text, marks, 0);
    this.#end(text);
    return this.#blocks;
  }

  /** Closes the line that was gathered. A further line of the same list item belongs to that item. */
  #end(opening: Opening): void {
    const html = trimmed(this.#line);
    this.#line = '';
    if (html === '') return;
    const last = this.#blocks.at(-1);
    if (opening.type === 'item' && last?.type === 'item' && last.opening === opening) last.lines.push(html);
    else if (opening.type === 'item') this.#blocks.push({ type: 'item', opening, lines: [html] });
    else this.#blocks.push({ type: 'text', opening, html });
  }

  #walkAll(nodes: readonly PastedNode[], opening: Opening, marks: Marks, depth: number): void {
    for (const node of nodes) this.#walk(node, opening, marks, depth);
  }

  #walk(node: PastedNode, opening: Opening, marks: Marks, depth: number): void {
    const { name, children = [], attribs = {} } = node;
    if (name === undefined) {
      if (node.type === 'text') this.#line += marked(escapeHtml(collapsed(node.data ?? '')), marks);
      return;
    }
    if (isDropped(node)) return;
    const inside = (as: Opening, level = depth) => {
      this.#end(opening);
      this.#walkAll(children, as, marksOf(node, marks, as), level);
      this.#end(as);
    };
    const listed = wordItem(node);
    if (listed) {
      this.#end(opening);
      this.#walkAll(listed.children, listed.opening, marksOf(node, marks, listed.opening), depth);
      this.#end(listed.opening);
    } else if (name === 'br') this.#line += '<br>';
    else if (name === 'hr') this.#put({ type: 'divider' }, opening);
    else if (name === 'img') {
      const image = this.#imageOf(node);
      if (image) this.#put(image, opening);
    } else if (name === 'table') {
      this.#end(opening);
      this.#table(node, marks);
    } else if (name === 'ul' || name === 'ol') {
      this.#end(opening);
      const list = { type: 'item', level: depth + 1, ordered: name === 'ol', list: '' } as const;
      for (const child of children)
        if (child.name === 'li' && !isDropped(child)) this.#item(child, list, marks);
        else this.#walk(child, opening, marks, depth + 1);
    } else if (name === 'li')
      this.#item(node, { type: 'item', level: Math.max(1, depth), ordered: false, list: '' }, marks);
    else if (/^h[1-6]$/.test(name) || /\bMsoTitle\b/.test(attribs.class ?? '')) {
      const level = /^h\d$/.test(name) ? Math.min(3, Number(name[1])) : 1;
      inside(opening.type === 'item' ? opening : { type: 'text', tag: `h${level}`, align: alignOf(node, 'left') });
    } else if (blockTags.has(name))
      inside(opening.type === 'item' ? opening : { ...opening, align: alignOf(node, opening.align) });
    else this.#walkAll(children, opening, marksOf(node, marks, opening), depth);
  }

  #put(block: Block, opening: Opening): void {
    this.#end(opening);
    this.#blocks.push(block);
  }

  #item(node: PastedNode, list: Extract<Opening, { type: 'item' }>, marks: Marks): void {
    const { attribs = {}, children = [] } = node;
    // Word for the web has a list for each item, and Google Docs says the level as well.
    const level = Number(attribs['data-aria-level'] ?? attribs['aria-level'] ?? list.level) || list.level;
    const opening = { ...list, level, list: attribs['data-listid'] ?? '' };
    this.#walkAll(children, opening, marksOf(node, marks, opening), level);
    this.#end(opening);
  }

  #table(table: PastedNode, marks: Marks): void {
    const cellsOf = (row: PastedNode) =>
      (row.children ?? [])
        .filter(({ name }) => name === 'td' || name === 'th')
        .map((cell) => {
          const flow = new Flow(this.#imageOf);
          const bold = cell.name === 'th' ? { bold: true } : {};
          return { align: alignOf(cell, 'left'), blocks: flow.read([{ ...cell, name: 'div' }], { ...marks, ...bold }) };
        });
    const rows = rowsOf(table)
      .map(cellsOf)
      .filter((cells) => cells.some(({ blocks }) => blocks.length > 0));
    // One cell a row is a frame around text, no table.
    if (rows.every((cells) => cells.length === 1)) this.#blocks.push(...rows.flatMap(([cell]) => cell?.blocks ?? []));
    else this.#blocks.push({ type: 'table', rows });
  }
}

function rowsOf({ children = [] }: PastedNode): PastedNode[] {
  return children.flatMap((child) => {
    if (child.name === 'tr') return [child];
    return /^(?:thead|tbody|tfoot)$/.test(child.name ?? '') ? rowsOf(child) : [];
  });
}

function isDropped({ name = '', attribs = {} }: PastedNode): boolean {
  return (
    dropped.has(name) ||
    /^[ov]:/.test(name) ||
    /\bmsoDel\b/.test(attribs.class ?? '') ||
    hidden.test(attribs.style ?? '')
  );
}

/** A paragraph that Word draws as an item of a list, without the bullet or number that it has as text; null for others. */
function wordItem(node: PastedNode) {
  const found = /mso-list:\s*(l\d+)\s+level(\d)/i.exec(node.attribs?.style ?? '');
  if (node.name === 'li' || /^h\d$/.test(node.name ?? '') || found === null) return null;
  const [, list = '', level = '1'] = found;
  const { marker, rest } = withoutMarker(node.children ?? []);
  if (marker === null) return null;
  // "o" is the bullet of the second level.
  const ordered = /^\(?(?:\d+|[a-z]{1,5})(?:[.)]|\.\d)/i.test(marker.replace(/[\s\u00a0]+/g, ''));
  const opening: Opening = { type: 'item', level: Number(level), ordered, list };
  return { opening, children: rest };
}

interface Parted {
  /** The text of what Word draws before the item; null where there is none. */
  marker: string | null;
  rest: PastedNode[];
}

// The marker is between two conditional comments, or in an element that says that it is to be ignored.
function withoutMarker(nodes: readonly PastedNode[]): Parted {
  let marker: string | null = null;
  let isMarker = false;
  const rest: PastedNode[] = [];
  const take = (text: string) => {
    marker = (marker ?? '') + text;
  };
  for (const node of nodes) {
    if (node.name === undefined && node.type !== 'text') {
      if (/\[if !supportLists\]/i.test(node.data ?? '')) isMarker = true;
      else if (/\[endif\]/i.test(node.data ?? '')) isMarker = false;
    } else if (isMarker || /mso-list:\s*ignore/i.test(node.attribs?.style ?? '')) take(textOf(node));
    else if (node.children) {
      const inner = withoutMarker(node.children);
      if (inner.marker !== null) take(inner.marker);
      rest.push({ ...node, children: inner.rest });
    } else rest.push(node);
  }
  return { marker, rest };
}

function textOf({ type, data = '', children = [] }: PastedNode): string {
  return type === 'text' ? data : children.map(textOf).join('');
}

function styleOf({ attribs }: PastedNode, property: string): string {
  const found = new RegExp(`(?:^|;)\\s*${property}\\s*:\\s*([^;]+)`, 'i').exec(attribs?.style ?? '');
  return found?.[1]?.trim().toLowerCase() ?? '';
}

function alignOf(node: PastedNode, around: Line['align']): Line['align'] {
  const align = styleOf(node, 'text-align') || node.attribs?.align?.toLowerCase() || '';
  if (align === 'center' || align === 'right') return align;
  return align === 'left' || align === 'justify' ? 'left' : around;
}

/** The marks within an element. A style says more than its tag: Google Docs puts everything into a `<b>` that is not bold. */
function marksOf(node: PastedNode, around: Marks, { type, ...opening }: Opening): Marks {
  const marks = { ...around, ...markTags[node.name ?? ''] };
  const weight = styleOf(node, 'font-weight');
  if (weight !== '') marks.bold = /^(?:bold|bolder|[6-9]00)$/.test(weight);
  const slant = styleOf(node, 'font-style');
  if (slant !== '') marks.italic = /^(?:italic|oblique)/.test(slant);
  const line = styleOf(node, 'text-decoration(?:-line)?');
  if (line !== '')
    Object.assign(marks, { underline: line.includes('underline'), strike: line.includes('line-through') });
  if (node.name === 'a') {
    const href = node.attribs?.href?.trim() ?? '';
    marks.href = /^(?:https?:|mailto:|tel:)/i.test(href) ? href : '';
  }
  // Links are underlined and headings are bold anyway.
  if (marks.href !== '') marks.underline = false;
  if (type === 'text' && 'tag' in opening && opening.tag !== 'p') marks.bold = false;
  return marks;
}

function collapsed(text: string): string {
  return text.replace(/[\t\n\r ]+/g, ' ').replace(/[ \u00a0]{2,}/g, ' ');
}

// What is left of a line that is only blanks and line breaks is nothing: Word has empty paragraphs for distances.
function trimmed(line: string): string {
  const text = line.replace(/<br>/g, '').replace(/<[^>]*>/g, '');
  if (text.replace(/[\s\u00a0]+/g, '') === '') return '';
  return line.replace(/^(?:\s|\u00a0|<br>)+|(?:\s|\u00a0|<br>)+$/g, '').replace(/ *<br> */g, '<br>');
}
