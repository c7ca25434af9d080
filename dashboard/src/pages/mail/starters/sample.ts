import type { EmailDocument } from '@fernpost/email-document';
import type { Block, Inline } from './parts.ts';

/** What the variables of the starters say in a picture of them. */
export const sampleData: Readonly<Record<string, string>> = {
  firstName: 'Ada',
  trialEndsAt: 'March 12',
  receiptNumber: 'R-1042',
  receiptDate: 'March 3, 2026',
  invoiceNumber: 'R-1042',
  invoiceDate: 'March 3, 2026',
  dueDate: 'March 17, 2026',
  orderNumber: 'A-2077',
  deliveryDate: 'March 6',
  total: '$48.00',
  inviterName: 'Grace',
  workspaceName: 'Acme',
};

/** The items of the starters' lists. */
const sampleItems: readonly Readonly<Record<string, string>>[] = [
  { name: 'Notebook, dotted', price: '$18.00', title: 'Five new comments', summary: 'Grace and Alan replied to you.' },
  { name: 'Fountain pen', price: '$30.00', title: 'Two tasks are due', summary: 'Both are due on Friday.' },
];

const drawn = (width: number, height: number, shapes: string) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">${shapes}</svg>`)}`;

const landscape = drawn(
  600,
  300,
  '<path fill="#dbe7f3" d="M0 0h600v300H0z"/><circle cx="440" cy="88" r="34" fill="#fdf6e3"/><path fill="#a9c1d9" d="M0 300V220l150-110 130 100 110-70 210 110v50z"/><path fill="#7d9cbb" d="M0 300v-30l120-60 140 80 150-90 190 80v20z"/>',
);
/** What stands where a picture will be, by a word of its description. */
const drawings: readonly [RegExp, string][] = [
  [
    /video/i,
    drawn(
      600,
      320,
      '<path fill="#2b3a4e" d="M0 0h600v320H0z"/><path fill="#3b4f68" d="M0 320V230l190-90 170 110 240-120v190z"/><circle cx="300" cy="160" r="48" fill="#fff"/><path fill="#2b3a4e" d="M284 134v52l44-26z"/>',
    ),
  ],
  [
    /person/i,
    drawn(
      200,
      200,
      '<circle cx="100" cy="100" r="100" fill="#dbe7f3"/><circle cx="100" cy="78" r="34" fill="#7d9cbb"/><path fill="#7d9cbb" d="M36 172c8-36 34-52 64-52s56 16 64 52a100 100 0 0 1-128 0z"/>',
    ),
  ],
  [
    /featured product/i,
    drawn(
      600,
      340,
      '<path fill="#efe9df" d="M0 0h600v340H0z"/><path fill="#d9cfbf" d="M0 270h600v70H0z"/><path fill="#7d9cbb" d="M210 110h150v130a32 32 0 0 1-32 32h-86a32 32 0 0 1-32-32z"/><path fill="none" stroke="#7d9cbb" stroke-width="20" d="M360 140h20a36 36 0 0 1 0 76h-20"/>',
    ),
  ],
  [
    /second/i,
    drawn(
      300,
      260,
      '<path fill="#e3ebe4" d="M0 0h300v260H0z"/><path fill="#86a78c" d="M95 52h110v156H95z"/><path fill="#6d9074" d="M95 52h18v156H95z"/><path fill="#e3ebe4" d="M133 88h52v10h-52z"/>',
    ),
  ],
  [
    /third/i,
    drawn(
      300,
      260,
      '<path fill="#f3e4dd" d="M0 0h300v260H0z"/><path fill="#c98f74" d="M104 122h92l-14 90h-64z"/><path fill="#86a78c" d="M150 122c-4-40-30-56-58-62 2 34 22 58 58 62zm0 0c4-50 26-68 58-78 0 42-20 70-58 78z"/>',
    ),
  ],
];
const drawing = (alt: string) => drawings.find(([word]) => word.test(alt))?.[1] ?? landscape;

/** A document as a recipient would see it: variables and lists have sample values, and empty pictures are drawn. */
export function sampled(document: EmailDocument): EmailDocument {
  return { ...document, content: blocks(document.content, sampleData) };
}

type Values = Readonly<Record<string, string>>;

function blocks(content: readonly Block[], values: Values): Block[] {
  return content.flatMap((block) => filled(block, values));
}

function filled(block: Block, values: Values): Block[] {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return [{ ...block, content: (block.content ?? []).map((part) => said(part, values)) }];
    case 'columns':
      return [{ ...block, content: block.content.map((cell) => ({ ...cell, content: blocks(cell.content, values) })) }];
    case 'conditional':
      return blocks(block.content, values);
    case 'repeat':
      return sampleItems.flatMap((item) =>
        blocks(block.content, {
          ...values,
          ...Object.fromEntries(Object.entries(item).map(([name, value]) => [`${block.attrs.item}.${name}`, value])),
        }),
      );
    case 'image':
      return [block.attrs.src === '' ? { ...block, attrs: { ...block.attrs, src: drawing(block.attrs.alt) } } : block];
    default:
      return [block];
  }
}

function said(part: Inline, values: Values): Inline {
  if (part.type !== 'variable') return part;
  return { type: 'text', text: values[part.attrs.name] ?? part.attrs.fallback };
}
