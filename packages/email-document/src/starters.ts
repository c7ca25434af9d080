import type { Block, EmailDocument, Inline } from './schema.ts';

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

const variable = (name: string, fallback = ''): Inline => ({ type: 'variable', attrs: { name, fallback } });
const inline = (parts: (string | Inline)[]): Inline[] =>
  parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
const strong = (text: string): Inline => ({ type: 'text', text, marks: [{ type: 'bold' }] });
const link = (text: string, href: string): Inline => ({
  type: 'text',
  text,
  marks: [{ type: 'link', attrs: { href } }],
});

const paragraph = (...parts: (string | Inline)[]): Block => ({
  type: 'paragraph',
  attrs: { align: 'left' },
  content: inline(parts),
});
const right = (...parts: (string | Inline)[]): Block => ({
  type: 'paragraph',
  attrs: { align: 'right' },
  content: inline(parts),
});
const heading = (level: 1 | 2 | 3, ...parts: (string | Inline)[]): Block => ({
  type: 'heading',
  attrs: { level, align: 'left' },
  content: inline(parts),
});
const button = (label: string, href: string): Block => ({ type: 'button', attrs: { label, href, align: 'left' } });
const divider: Block = { type: 'divider' };
const bullets = (...items: (string | Inline)[][]): Block => ({
  type: 'bulletList',
  content: items.map((item) => ({
    type: 'listItem',
    content: [{ type: 'paragraph', attrs: { align: 'left' }, content: inline(item) }],
  })),
});
const columns = (...cells: Block[][]): Block => ({
  type: 'columns',
  content: cells.map((content) => ({ type: 'column', content })),
});
/** Columns that stay beside one another on phones. */
const line = (...cells: Block[][]): Block => ({ ...columns(...cells), attrs: { stack: false } }) as Block;
const repeat = (list: string, ...content: Block[]): Block => ({
  type: 'repeat',
  attrs: { list, item: 'item', limit: null },
  content,
});
const given = (name: string, ...content: Block[]): Block => ({
  type: 'conditional',
  attrs: { variable: name, operator: 'exists', value: '' },
  content,
});
const document = (preheader: string, ...content: Block[]): EmailDocument => ({ version: 1, preheader, content });

const greeting = paragraph('Hi ', variable('firstName', 'there'), ',');

/** The layouts that a new email can begin with. */
export const starters: readonly Starter[] = [
  {
    id: 'welcome',
    name: 'Welcome',
    about: 'For new contacts: what they can do first.',
    subject: 'Welcome, {{ firstName ?? "there" }}',
    type: 'MARKETING',
    document: document(
      'Three steps to get started',
      heading(1, 'Welcome aboard'),
      greeting,
      paragraph('Thanks for signing up. Most people start with these three steps:'),
      bullets(
        [strong('Set up your profile'), ' so that others recognize you.'],
        [strong('Invite your team'), ' to work together.'],
        [strong('Create your first project'), ' in about two minutes.'],
      ),
      button('Get started', '{{ startUrl }}'),
      paragraph('Questions? Reply to this email. A person reads every answer.'),
    ),
  },
  {
    id: 'receipt',
    name: 'Receipt',
    about: 'After a payment: items from a list, and the total.',
    subject: 'Your receipt {{ receiptNumber }}',
    type: 'TRANSACTIONAL',
    document: document(
      'Thank you for your purchase',
      heading(1, 'Thank you for your purchase'),
      greeting,
      paragraph('Here is your receipt ', variable('receiptNumber'), ' of ', variable('receiptDate'), '.'),
      divider,
      repeat('items', line([paragraph(variable('item.name'))], [right(variable('item.price'))])),
      divider,
      line([paragraph(strong('Total'))], [right(variable('total'))]),
      button('Download the invoice', '{{ invoiceUrl }}'),
    ),
  },
  {
    id: 'newsletter',
    name: 'Newsletter',
    about: 'Regular news: a lead story and two shorter ones.',
    subject: 'What’s new this month',
    type: 'MARKETING',
    document: document(
      'The month in three stories',
      heading(1, 'What’s new this month'),
      greeting,
      paragraph('Start with the story that matters most, in two or three sentences.'),
      button('Read the story', ''),
      divider,
      columns(
        [heading(2, 'Second story'), paragraph('One or two sentences about it. '), paragraph(link('Read more', ''))],
        [heading(2, 'Third story'), paragraph('One or two sentences about it. '), paragraph(link('Read more', ''))],
      ),
      divider,
      {
        type: 'social',
        attrs: {
          align: 'left',
          links: [
            { network: 'Website', href: '' },
            { network: 'LinkedIn', href: '' },
          ],
        },
      },
    ),
  },
  {
    id: 'announcement',
    name: 'Announcement',
    about: 'One piece of news and one thing to do.',
    subject: 'Introducing …',
    type: 'MARKETING',
    document: document(
      'See what is new',
      heading(1, 'Introducing …'),
      greeting,
      paragraph('Say in one sentence what is new, and in another what it changes for the reader.'),
      bullets(['The first benefit'], ['The second benefit'], ['The third benefit']),
      button('Try it now', ''),
    ),
  },
  {
    id: 'password-reset',
    name: 'Password reset',
    about: 'A link that your application makes, and how long it lasts.',
    subject: 'Reset your password',
    type: 'TRANSACTIONAL',
    document: document(
      'The link works for one hour',
      heading(1, 'Reset your password'),
      greeting,
      paragraph('Somebody asked to reset the password of your account. If it was you, choose a new one:'),
      button('Choose a new password', '{{ resetUrl }}'),
      paragraph(
        'The link works for one hour. If you did not ask for it, ignore this email: your password stays as it is.',
      ),
    ),
  },
  {
    id: 'digest',
    name: 'Digest',
    about: 'Recent activity, from a list of any length.',
    subject: 'Your weekly summary',
    type: 'MARKETING',
    document: document(
      'What happened this week',
      heading(1, 'Your week'),
      greeting,
      repeat(
        'items',
        heading(2, variable('item.title')),
        paragraph(variable('item.summary')),
        given('item.url', button('Open', '{{ item.url }}')),
      ),
      divider,
      paragraph('You get this summary once a week.'),
    ),
  },
  {
    id: 'invitation',
    name: 'Invitation',
    about: 'Invites somebody to an event or a workspace.',
    subject: '{{ inviterName ?? "A colleague" }} invited you',
    type: 'TRANSACTIONAL',
    document: document(
      'Accept the invitation',
      heading(1, 'You’re invited'),
      greeting,
      paragraph(
        variable('inviterName', 'A colleague'),
        ' invited you to join ',
        variable('workspaceName', 'their workspace'),
        '.',
      ),
      button('Accept the invitation', '{{ inviteUrl }}'),
      paragraph('Didn’t expect this? You can ignore this email.'),
    ),
  },
];
