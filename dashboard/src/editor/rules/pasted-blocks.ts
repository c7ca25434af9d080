/** What a piece of text looks like. */
export interface Marks {
  bold: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  code: boolean;
  /** Where it links to, or empty. */
  href: string;
}

export const noMarks: Marks = { bold: false, italic: false, underline: false, strike: false, code: false, href: '' };

/** A paragraph or a heading. */
export interface Line {
  type: 'text';
  tag: string;
  align: 'left' | 'center' | 'right';
}

/** What a line of text is part of: a paragraph, or an item of a list, whose levels begin with 1. */
export type Opening = Line | { type: 'item'; level: number; ordered: boolean; list: string };

type Item = { type: 'item'; opening: Extract<Opening, { type: 'item' }>; lines: string[] };
interface Cell {
  align: Line['align'];
  blocks: Block[];
}

/** A block of what is pasted; texts are HTML. */
export type Block =
  | { type: 'text'; opening: Line; html: string }
  | Item
  | { type: 'image'; src: string; alt: string; width: number | null }
  | { type: 'table'; rows: Cell[][] }
  | { type: 'divider' };

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/** The HTML of a text with its marks. */
export function marked(html: string, { bold, italic, underline, strike, code, href }: Marks): string {
  if (html.trim() === '' && href === '') return html;
  const tags = [bold && 'strong', italic && 'em', underline && 'u', strike && 's', code && 'code'];
  const inside = tags.reduce<string>((text, tag) => (tag ? `<${tag}>${text}</${tag}>` : text), html);
  return href === '' ? inside : `<a href="${escapeHtml(href)}">${inside}</a>`;
}

/** The HTML of blocks, as the editor of emails reads them. */
export function blocksToHtml(blocks: readonly Block[]): string {
  const parts: string[] = [];
  for (let index = 0; index < blocks.length; index += 1) {
    const block = blocks[index] as Block;
    if (block.type === 'item') {
      const items = itemsFrom(blocks, index);
      parts.push(listHtml(items));
      index += items.length - 1;
    } else parts.push(blockHtml(block));
  }
  return parts.join('');
}

function itemsFrom(blocks: readonly Block[], start: number): Item[] {
  const end = blocks.findIndex(({ type }, index) => index > start && type !== 'item');
  return blocks.slice(start, end === -1 ? undefined : end) as Item[];
}

/** Lists within lists: what follows an item on a deeper level is in it. */
function listHtml(items: readonly Item[]): string {
  const parts: string[] = [];
  let open = '';
  let kind = '';
  for (let index = 0; index < items.length; ) {
    const { opening, lines } = items[index] as Item;
    const next = items.findIndex((item, at) => at > index && item.opening.level <= opening.level);
    const end = next === -1 ? items.length : next;
    const itsKind = `${opening.ordered} ${opening.list}`;
    if (itsKind !== kind) {
      const tag = opening.ordered ? 'ol' : 'ul';
      parts.push(open === '' ? '' : `</${open}>`, `<${tag}>`);
      open = tag;
      kind = itsKind;
    }
    const inside = end > index + 1 ? listHtml(items.slice(index + 1, end)) : '';
    parts.push(`<li>${lines.map((line) => `<p>${line}</p>`).join('')}${inside}</li>`);
    index = end;
  }
  return `${parts.join('')}</${open}>`;
}

function blockHtml(block: Exclude<Block, Item>): string {
  switch (block.type) {
    case 'text': {
      const { tag, align } = block.opening;
      return `<${tag}${align === 'left' ? '' : ` style="text-align: ${align}"`}>${block.html}</${tag}>`;
    }
    case 'image':
      return emailBlock('image', { src: block.src, alt: block.alt, width: block.width });
    case 'divider':
      return emailBlock('divider', {});
    case 'table':
      return tableHtml(block.rows);
  }
}

/** A block of the editor with its attributes, which are JSON. */
function emailBlock(name: string, attributes: Record<string, unknown>, inside = ''): string {
  const data = Object.entries(attributes).map(([key, value]) => ` data-${key}="${escapeHtml(JSON.stringify(value))}"`);
  return `<div data-block="${name}"${data.join('')}>${inside}</div>`;
}

const mostColumns = 4;

// Rows of up to four cells are columns, which can be written in. Wider tables are HTML.
function tableHtml(rows: readonly Cell[][]): string {
  if (rows.some((cells) => cells.length > mostColumns)) return emailBlock('html', { code: wideTable(rows) });
  return rows
    .map((cells) => {
      const columns = cells.map(({ blocks }) => `<div data-column="">${blocksToHtml(blocks) || '<p></p>'}</div>`);
      return emailBlock('columns', { stack: false }, columns.join(''));
    })
    .join('');
}

function wideTable(rows: readonly Cell[][]): string {
  const most = Math.max(...rows.map((cells) => cells.length));
  const style = 'padding:6px 8px;border-bottom:1px solid #e4e4e7;font-size:14px;line-height:1.4;vertical-align:top';
  const lines = rows.map((cells) => {
    const shown = cells.map(({ align, blocks }, index) => {
      const span = index === cells.length - 1 && cells.length < most ? ` colspan="${most - index}"` : '';
      return `<td class="ph-text ph-line" align="${align}"${span} style="${style};text-align:${align}">${blocks.map(cellText).join('<br>')}</td>`;
    });
    return `<tr>${shown.join('')}</tr>`;
  });
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px;border-collapse:collapse">\n${lines.join('\n')}\n</table>`;
}

function cellText(block: Block): string {
  if (block.type === 'text') return block.html;
  if (block.type === 'item') return block.lines.map((line) => `• ${line}`).join('<br>');
  // An address that is not of the web is one of this page, until the image is uploaded.
  if (block.type === 'image' && /^https?:/i.test(block.src))
    return `<img src="${escapeHtml(block.src)}" alt="${escapeHtml(block.alt)}"${block.width ? ` width="${block.width}"` : ''} style="max-width:100%">`;
  return block.type === 'table' ? wideTable(block.rows) : '';
}
