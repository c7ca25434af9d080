import type { EmailDocument } from '@fernpost/email-document';

/** The message: the part that templates and campaigns share. */
export interface MailContent {
  name: string;
  subject: string;
  /** HTML; empty where the message is written as blocks. */
  body: string;
  /** The blocks that the message is written as; null for HTML. */
  document: EmailDocument | null;
  from: string;
  fromName: string;
  replyTo: string;
  type: 'MARKETING' | 'TRANSACTIONAL' | 'HEADLESS';
}

/** Descriptions of the types of mail, for those who choose one. */
export const mailTypes: Record<MailContent['type'], string> = {
  MARKETING: 'Marketing: subscribed contacts only, with an unsubscribe footer',
  TRANSACTIONAL: 'Transactional: all contacts, without a footer',
  HEADLESS: 'Own footer: subscribed contacts only, with the footer you write',
};

/** Labels of the parts of a message. */
export const contentNames: Record<keyof MailContent, string> = {
  name: 'Name',
  subject: 'Subject',
  from: 'From',
  fromName: 'From name',
  replyTo: 'Reply-to',
  type: 'Type',
  body: 'HTML',
  document: 'Content',
};

/** An email that says nothing yet. */
export const blankDocument: EmailDocument = {
  version: 1,
  preheader: '',
  content: [
    {
      type: 'paragraph',
      attrs: { align: 'left' },
      content: [
        { type: 'text', text: 'Hello ' },
        { type: 'variable', attrs: { name: 'firstName', fallback: 'there' } },
        { type: 'text', text: ',' },
      ],
    },
    { type: 'paragraph', attrs: { align: 'left' }, content: [] },
  ],
};

/** A new message. */
export const emptyContent: MailContent = {
  name: '',
  subject: '',
  body: '',
  document: blankDocument,
  from: '',
  fromName: '',
  replyTo: '',
  type: 'MARKETING',
};

/** The message of a template or campaign as the form has it: nothing is an empty text. */
export function contentOf(
  saved: Omit<MailContent, 'fromName' | 'replyTo' | 'document'> & {
    fromName: string | null;
    replyTo: string | null;
    document: Record<string, unknown> | null;
  },
): MailContent {
  const { name, subject, from, fromName, replyTo, type } = saved;
  // Documents that the service has stored are valid.
  const document = saved.document as EmailDocument | null;
  const body = document === null ? saved.body : '';
  return { name, subject, body, document, from, type, fromName: fromName ?? '', replyTo: replyTo ?? '' };
}

/** The form's content as the API takes it: an empty text clears, and of body and blocks there is one. */
export function contentBody({ fromName, replyTo, body, document, ...rest }: MailContent) {
  const written = document === null ? { body } : { document: { ...document } };
  return { ...rest, ...written, fromName: fromName || null, replyTo: replyTo || null };
}

/** A value of a message in words, for comparing two versions of it. */
export function contentText(value: unknown): string {
  return value === null ? 'Written as HTML' : textOf((value as EmailDocument).content);
}

// Block by block: what it says, or what it is.
function textOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(textOf).filter(Boolean).join('\n');
  const { type, text, attrs, content } = node as {
    type: string;
    text?: string;
    attrs?: Record<string, string>;
    content?: unknown[];
  };
  if (text !== undefined) return text;
  if (type === 'variable') return `{{ ${attrs?.name} }}`;
  if (type === 'paragraph' || type === 'heading') return (content ?? []).map(textOf).join('');
  if (content !== undefined) return textOf(content);
  return `[${type}${attrs?.label ? `: ${attrs.label}` : ''}]`;
}
