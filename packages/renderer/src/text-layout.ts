import { compile, type DomNode, type FormatCallback, type SelectorDefinition } from 'html-to-text';
import { nestsDeeper, withoutTags } from './render.ts';

/**
 * The text part of a message is laid out in two steps. First HTML becomes text with marks in it, one control character
 * for each thing that shapes text: the edge of a block, a line break, a link, a list item. Then the marks become line
 * breaks, bullets and `text (url)`. Between the steps the text can still have its values filled in, so that the first
 * step, which is by far the dearer one, is done once for a template instead of once for a message.
 */
export const marks = {
  /** The edge of a block: the next text is on a line of its own. */
  block: '\u0001',
  /** The edge of a paragraph: a blank line comes between. */
  paragraph: '\u0002',
  lineBreak: '\u0003',
  /** `link` text `linkTarget` address `linkEnd`. */
  link: '\u0004',
  linkTarget: '\u0005',
  linkEnd: '\u0006',
  item: '\u0007',
  numberedList: '\u000e',
  list: '\u000f',
  listEnd: '\u0010',
} as const;

// Control characters, which no text needs and which must not pass for marks, and characters without a width that
// newsletters use to pad their preview text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
const unwanted = /[\u0000-\u0008\u000b\u000e-\u001f\u00ad\u200b\ufeff]|\u034f/g;
const invisible = /[\u00ad\u200b\ufeff]|\u034f/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const untidy = /[\u0000-\u001f\u00a0\u00ad\u200b\ufeff]| {2}|\u034f/;

/** A value as it stands in text with marks: without control characters, blanks taken together. */
export function tidyText(value: string): string {
  return untidy.test(value) ? value.replace(unwanted, '').replace(/[\t\n\f\r \u00a0]+/g, ' ') : value;
}

/** HTML as text with marks. */
export function markText(html: string): string {
  const wanted = html.replace(unwanted, '');
  const shallow = nestsDeeper(wanted, deepest) ? withoutTags(wanted) : wanted;
  return convert(`<fernpost-root>${shallow}</fernpost-root>`).replace(invisible, '');
}

/** The text that a quoted attribute value stands for. */
export function attributeText(value: string): string {
  return markText(`<img alt="${value}">`);
}

/** HTML as plain text; empty when it says nothing. */
export function htmlToText(html: string): string {
  return layOut(markText(html));
}

// The converter walks by recursion, and it takes as long to close an element as elements are open. What nests deeper than
// the layout of this message cannot be predicted.
const deepest = 250;

const { block, paragraph, lineBreak, link, linkTarget, linkEnd, item, numberedList, list, listEnd } = marks;
const links = new RegExp(`${link}([^${link}-${linkEnd}]*)${linkTarget}([^${link}-${linkEnd}]*)${linkEnd}`, 'g');
const linkMarks = new RegExp(`[${link}-${linkEnd}]`, 'g');
const listMarks = new RegExp(`[${item}${numberedList}-${listEnd}]`, 'g');

/** Text with marks as plain text. */
export function layOut(marked: string): string {
  const linked = replaceLinks(marked);
  const broken = replaceEdges(linked, asLineBreaks);
  return (mayHaveList(linked) ? writeLists(broken) : broken).trim();
}

/**
 * Lays out what is already certain in a part of a text with marks: links that are complete, and edges with text on both
 * sides. What is left depends on the values that will stand around the part, and is made as short as it can be.
 */
export function layOutWithin(part: string): string {
  const linked = part.replace(links, (_, text: string, target: string) => writeLink(text, target));
  return replaceEdges(linked, (edge, at, end) => {
    const isOpen =
      at === 0 || end === linked.length || isLinkMark(linked.charCodeAt(at - 1)) || isLinkMark(linked.charCodeAt(end));
    return isOpen ? asMarks(edge) : asLineBreaks(edge);
  });
}

const space = 32;
const itemCode = item.charCodeAt(0);

// Blanks and the marks that are weighed against each other where they meet.
export function isEdge(code: number): boolean {
  return code === space || (code >= 1 && code <= 3) || (code >= 14 && code <= 16);
}

function isLinkMark(code: number): boolean {
  return code >= 4 && code <= 6;
}

function mayHaveList(text: string): boolean {
  return text.includes(item) || text.includes(numberedList) || text.includes(list);
}

// The sum of a run of marks and blanks.
interface Edge {
  /** 1 for a new line, 2 for a blank line between, 0 where no block ends or begins. */
  lines: number;
  breaks: number;
  /** The begins and ends of lists in it, in their order. */
  lists: string;
  /** The run belongs to a bullet, behind which no line is broken. */
  isItem: boolean;
}

// Replaces each run of marks and blanks, a single blank excepted. By hand, because a regular expression tries its luck at
// every blank.
function replaceEdges(text: string, write: (edge: Edge, at: number, end: number) => string): string {
  let written = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > space) continue;
    const isItem = code === itemCode;
    if (isItem || code === space ? !isEdge(text.charCodeAt(at + 1)) : !isEdge(code)) continue;
    const edge: Edge = { lines: 0, breaks: 0, lists: '', isItem };
    let end = isItem ? at + 1 : at;
    for (let next = text.charCodeAt(end); isEdge(next); next = text.charCodeAt(++end)) {
      if (next <= 2) edge.lines = Math.max(edge.lines, next);
      else if (next === 3) edge.breaks += 1;
      else if (next !== space) edge.lists += text[end];
    }
    written += text.slice(from, at) + write(edge, at, end);
    from = end;
    at = end - 1;
  }
  return from === 0 ? text : written + text.slice(from);
}

function asLineBreaks({ lines, breaks, lists, isItem }: Edge): string {
  if (isItem) return item + lists;
  const count = Math.max(lines, Math.min(breaks, 2));
  return count === 0 && lists === '' ? ' ' : '\n'.repeat(count) + lists;
}

function asMarks({ lines, breaks, lists, isItem }: Edge): string {
  if (isItem) return item + lists;
  const marked = ['', block, paragraph][lines] + lineBreak.repeat(Math.min(breaks, 2)) + lists;
  return marked === '' ? ' ' : marked;
}

// Writes all links, inner ones before those around them, in one pass. Marks without their partners are left out.
function replaceLinks(text: string): string {
  if (!text.includes(link)) return text.replace(linkMarks, '');
  const around: { shown: string; target: string | null }[] = [];
  let now: { shown: string; target: string | null } = { shown: '', target: null };
  const add = (part: string) => {
    if (now.target === null) now.shown += part;
    else now.target += part;
  };
  let from = 0;
  linkMarks.lastIndex = 0;
  for (let match = linkMarks.exec(text); match !== null; match = linkMarks.exec(text)) {
    add(text.slice(from, match.index));
    from = match.index + 1;
    if (match[0] === link) {
      around.push(now);
      now = { shown: '', target: null };
    } else if (match[0] === linkTarget) now.target ??= '';
    else {
      const outer = around.pop();
      if (outer === undefined) continue;
      const written = now.target === null ? now.shown : writeLink(now.shown, now.target);
      now = outer;
      add(written);
    }
  }
  add(text.slice(from));
  for (let outer = around.pop(); outer !== undefined; outer = around.pop()) {
    const rest = now.shown + (now.target ?? '');
    now = outer;
    add(rest);
  }
  return now.shown + (now.target ?? '');
}

function writeLink(text: string, target: string): string {
  const address = linkAddress(target);
  if (address === null) return text;
  let begin = 0;
  let end = text.length;
  while (isEdge(text.charCodeAt(begin))) begin += 1;
  while (end > begin && isEdge(text.charCodeAt(end - 1))) end -= 1;
  const shown = text.slice(begin, end);
  if (shown === address || shown === target.trim()) return text;
  return text.slice(0, begin) + (shown === '' ? address : `${shown} (${address})`) + text.slice(end);
}

/** Returns the address of a link as a text shows it; null where it says nothing to a reader. */
export function linkAddress(target: string): string | null {
  const trimmed = target.trim();
  if (trimmed.startsWith('http')) return trimmed;
  const address = /^(?:mailto|tel):/i.test(trimmed) ? trimmed.replace(/^\w+:([^?]*).*$/, '$1') : trimmed;
  return address === '' || address.startsWith('#') || /^javascript:/i.test(address) ? null : address;
}

function writeLists(text: string): string {
  // The number of the last item of each open list; null where items have bullets.
  const open: (number | null)[] = [];
  return text.replace(listMarks, (mark) => {
    if (mark === numberedList) open.push(0);
    else if (mark === list) open.push(null);
    else if (mark === listEnd) open.pop();
    else return bullet(open);
    return '';
  });
}

/** The bullet or number of the next item in the innermost of the open lists. */
export function bullet(open: (number | null)[]): string {
  const indent = '  '.repeat(Math.max(0, open.length - 1));
  const last = open.at(-1);
  if (typeof last !== 'number') return `${indent}* `;
  open[open.length - 1] = last + 1;
  return `${indent}${last + 1}. `;
}

const around =
  (before: string, after = before): FormatCallback =>
  (element, walk, builder) => {
    builder.addInline(before);
    walk(element.children, builder);
    builder.addInline(after);
  };

const formatters: Record<string, FormatCallback> = {
  markBlock: around(block),
  markParagraph: around(paragraph),
  markCell: around(' '),
  markItem: around(block + item, block),
  markBreak: (_, __, builder) => builder.addInline(lineBreak),
  markRule: (_, __, builder) => builder.addInline(`${paragraph}---${paragraph}`),
  markImage: (element, _, builder) => builder.addInline(element.attribs.alt ?? ''),
  markNothing: () => undefined,
  markLink(element, walk, builder) {
    builder.addInline(link);
    walk(element.children, builder);
    builder.addInline(`${linkTarget}${element.attribs.href ?? ''}${linkEnd}`);
  },
  markList(element, walk, builder) {
    const edge = element.parent?.name === 'li' ? block : paragraph;
    around(edge + (element.name === 'ol' ? numberedList : list), listEnd + edge)(element, walk, builder, {});
  },
  markPreformatted(element, walk, builder) {
    keepLines(element.children);
    around(paragraph)(element, walk, builder, {});
  },
};

function keepLines(nodes: readonly DomNode[]): void {
  for (const node of nodes) {
    if (node.type === 'text') node.data = (node.data ?? '').replace(/\r?\n/g, lineBreak);
    else keepLines(node.children ?? []);
  }
}

const elements: Record<string, string> = {
  markBlock:
    'address article aside caption center dd details div dt fieldset figcaption figure footer form header legend main nav section summary table tr',
  markParagraph: 'blockquote dl h1 h2 h3 h4 h5 h6 p',
  markCell: 'td th',
  markItem: 'li',
  markBreak: 'br',
  markRule: 'hr',
  markImage: 'img',
  markLink: 'a',
  markList: 'ol ul',
  markPreformatted: 'pre',
  markNothing: 'head iframe noembed noframes script style template textarea title xmp',
};

const selectors: SelectorDefinition[] = [
  { selector: '*', format: 'inline' },
  ...Object.entries(elements).flatMap(([format, names]) => names.split(' ').map((selector) => ({ selector, format }))),
];

const convert = compile({
  wordwrap: false,
  whitespaceCharacters: ' \t\r\n\f\u00a0',
  baseElements: { selectors: ['fernpost-root'] },
  limits: { maxDepth: 2 * deepest, ellipsis: '…' },
  formatters,
  selectors,
});
