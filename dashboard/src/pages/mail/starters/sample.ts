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

// Stands where a picture will be: a landscape in grays.
const landscape = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 300"><path fill="#e4e4e7" d="M0 0h600v300H0z"/><circle cx="440" cy="90" r="36" fill="#f4f4f5"/><path fill="#c4c4cc" d="M0 300l170-160 120 110 90-80 220 130z"/></svg>',
)}`;

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
      return [block.attrs.src === '' ? { ...block, attrs: { ...block.attrs, src: landscape } } : block];
    default:
      return [block];
  }
}

function said(part: Inline, values: Values): Inline {
  if (part.type !== 'variable') return part;
  return { type: 'text', text: values[part.attrs.name] ?? part.attrs.fallback };
}
