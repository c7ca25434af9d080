import type { EmailDocument } from '@fernpost/email-document';

/** A layout to begin with. */
export interface Starter {
  id: string;
  name: string;
  /** When to use it. */
  about: string;
  subject: string;
  type: 'MARKETING' | 'TRANSACTIONAL';
  document: EmailDocument;
}

export type Block = EmailDocument['content'][number];
export type Inline = NonNullable<Extract<Block, { type: 'heading' }>['content']>[number];
type Text = string | Inline;
type Align = 'left' | 'center' | 'right';

const inline = (parts: Text[]): Inline[] =>
  parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
const aligned =
  (align: Align) =>
  (...parts: Text[]): Block => ({ type: 'paragraph', attrs: { align }, content: inline(parts) });

/** A variable of the contact or of the request, with the text where it has no value. */
export const variable = (name: string, fallback = ''): Inline => ({ type: 'variable', attrs: { name, fallback } });
export const strong = (text: string): Inline => ({ type: 'text', text, marks: [{ type: 'bold' }] });
export const italic = (text: string): Inline => ({ type: 'text', text, marks: [{ type: 'italic' }] });
/** A link whose address is entered by whoever writes the email. */
export const link = (text: string, href = ''): Inline => ({
  type: 'text',
  text,
  marks: [{ type: 'link', attrs: { href } }],
});

export const paragraph = aligned('left');
export const centered = aligned('center');
export const right = aligned('right');

const headed =
  (align: Align) =>
  (level: 1 | 2 | 3, ...parts: Text[]): Block => ({ type: 'heading', attrs: { level, align }, content: inline(parts) });
export const heading = headed('left');
export const title = headed('center');

export const button = (label: string, href = '', align: Align = 'left'): Block => ({
  type: 'button',
  attrs: { label, href, align },
});
/** A place for a picture, which the editor asks for. */
export const picture = (alt: string, width: number | null = null): Block => ({
  type: 'image',
  attrs: { src: '', alt, decorative: false, width, href: '', align: 'center' },
});
export const divider: Block = { type: 'divider' };

const list =
  (type: 'bulletList' | 'orderedList') =>
  (...items: Text[][]): Block => ({
    type,
    content: items.map((item) => ({
      type: 'listItem',
      content: [{ type: 'paragraph', attrs: { align: 'left' }, content: inline(item) }],
    })),
  });
export const bullets = list('bulletList');
export const steps = list('orderedList');

export const columns = (...cells: Block[][]): Block => ({
  type: 'columns',
  content: cells.map((content) => ({ type: 'column', content })),
});
/** A row of a table: columns that stay side by side on phones. */
export const row = (...cells: Block[][]): Block => ({
  type: 'columns',
  attrs: { stack: false },
  content: cells.map((content) => ({ type: 'column', content })),
});
/** Columns on a tinted background, for what is to stand out. */
export const panel = (...cells: Block[][]): Block => ({
  type: 'columns',
  attrs: { stack: true, panel: true },
  content: cells.map((content) => ({ type: 'column', content })),
});
export const repeat = (items: string, ...content: Block[]): Block => ({
  type: 'repeat',
  attrs: { list: items, item: 'item', limit: null },
  content,
});
export const given = (name: string, ...content: Block[]): Block => ({
  type: 'conditional',
  attrs: { variable: name, operator: 'exists', value: '' },
  content,
});
export const document = (preheader: string, ...content: Block[]): EmailDocument => ({ version: 1, preheader, content });

export const greeting = paragraph('Hi ', variable('firstName', 'there'), ',');
