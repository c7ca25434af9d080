import { mergeAttributes, Node } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';

/*
 * The nodes of an email. Their names and attributes are those of `EmailDocument` in packages/email-document, so that the JSON of
 * the editor is the document. What they look like here is `editor.css`; what is sent is made by the compiler.
 */

const aligned = {
  align: {
    default: 'left',
    parseHTML: (element: HTMLElement) => element.style.textAlign || 'left',
    renderHTML: ({ align }: { align?: string }) => (align === 'left' ? {} : { style: `text-align: ${align}` }),
  },
};

/** Attributes that are data of the document and no attributes of the element. */
function kept(defaults: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      {
        default: value,
        parseHTML: (element: HTMLElement) => {
          const text = element.dataset[name.toLowerCase()];
          return text === undefined ? value : JSON.parse(text);
        },
        renderHTML: (attributes: Record<string, unknown>) => ({ [`data-${name}`]: JSON.stringify(attributes[name]) }),
      },
    ]),
  );
}

/** A block without content of its own. `shown` is what stands in its place while it is edited. */
function block<Attributes extends Record<string, unknown>>(
  name: string,
  defaults: Attributes,
  shown: (attributes: Attributes) => [string, Record<string, unknown>, ...unknown[]],
) {
  return Node.create({
    name,
    group: 'block',
    atom: true,
    draggable: true,
    addAttributes: () => kept(defaults),
    parseHTML: () => [{ tag: `div[data-block="${name}"]` }],
    renderHTML: ({ node, HTMLAttributes }) => [
      'div',
      mergeAttributes(HTMLAttributes, { 'data-block': name, style: `text-align: ${node.attrs.align ?? 'left'}` }),
      shown(node.attrs as Attributes),
    ],
  });
}

/** A block around others; `label` says what it does. */
function container(
  name: string,
  defaults: Record<string, unknown>,
  label: (attributes: Record<string, string>) => string,
) {
  return Node.create({
    name,
    group: 'block',
    content: 'block+',
    defining: true,
    addAttributes: () => kept(defaults),
    parseHTML: () => [{ tag: `div[data-block="${name}"]` }],
    renderHTML: ({ node, HTMLAttributes }) => [
      'div',
      mergeAttributes(HTMLAttributes, { 'data-block': name, 'data-says': label(node.attrs) }),
      0,
    ],
  });
}

/** What the operators of a conditional block are called. */
export const blockOperatorNames: Record<string, string> = {
  exists: 'is known',
  missing: 'is unknown',
  equals: 'is',
  notEquals: 'is not',
  contains: 'contains',
  greaterThan: 'is greater than',
  lessThan: 'is less than',
};

const Kit = StarterKit.configure({
  blockquote: false,
  codeBlock: false,
  horizontalRule: false,
  trailingNode: false,
  paragraph: false,
  heading: false,
  dropcursor: { color: 'var(--focus)', width: 2 },
  link: {
    openOnClick: false,
    HTMLAttributes: { target: null, rel: null },
    autolink: false,
    isAllowedUri: (uri) => !/^\s*(?:javascript|vbscript|data):/i.test(uri),
  },
});

const Paragraph = Node.create({
  name: 'paragraph',
  priority: 1000,
  group: 'block',
  content: 'inline*',
  addAttributes: () => aligned,
  parseHTML: () => [{ tag: 'p' }],
  renderHTML: ({ HTMLAttributes }) => ['p', HTMLAttributes, 0],
});

const Heading = Node.create({
  name: 'heading',
  group: 'block',
  content: 'inline*',
  defining: true,
  addAttributes: () => ({ level: { default: 1, rendered: false }, ...aligned }),
  parseHTML: () => [1, 2, 3].map((level) => ({ tag: `h${level}`, attrs: { level } })),
  renderHTML: ({ node, HTMLAttributes }) => [
    'div',
    mergeAttributes(HTMLAttributes, { class: `heading heading-${node.attrs.level}` }),
    0,
  ],
});

const Variable = Node.create({
  name: 'variable',
  group: 'inline',
  inline: true,
  atom: true,
  addAttributes: () => kept({ name: '', fallback: '' }),
  parseHTML: () => [{ tag: 'span[data-variable]' }],
  renderHTML: ({ node, HTMLAttributes }) => [
    'span',
    mergeAttributes(HTMLAttributes, { 'data-variable': '', class: 'chip' }),
    node.attrs.fallback === '' ? node.attrs.name : `${node.attrs.name} or “${node.attrs.fallback}”`,
  ],
  renderText: ({ node }) => `{{ ${node.attrs.name} }}`,
});

const Column = Node.create({
  name: 'column',
  content: 'block+',
  isolating: true,
  parseHTML: () => [{ tag: 'div[data-column]' }],
  renderHTML: () => ['div', { 'data-column': '' }, 0],
});

const Columns = Node.create({
  name: 'columns',
  group: 'block',
  content: 'column{1,4}',
  defining: true,
  addAttributes: () => kept({ stack: true }),
  parseHTML: () => [{ tag: 'div[data-block="columns"]' }],
  renderHTML: ({ HTMLAttributes }) => ['div', mergeAttributes(HTMLAttributes, { 'data-block': 'columns' }), 0],
});

const Image = block(
  'image',
  { src: '', alt: '', decorative: false, width: null as number | null, href: '', align: 'left' },
  ({ src, alt, width }) =>
    src === ''
      ? ['span', { class: 'placeholder' }, 'No image yet']
      : ['img', { src, alt, style: `width: ${width === null ? '100%' : `${width}px`}` }],
);
const Button = block('button', { label: 'Button', href: '', align: 'left' }, ({ label }) => [
  'span',
  { class: 'email-button' },
  label,
]);
const Divider = block('divider', {}, () => ['span', { class: 'rule' }]);
const Spacer = block('spacer', { height: 24 }, ({ height }) => [
  'span',
  { class: 'space', style: `height: ${height}px` },
]);
const Social = block('social', { links: [] as { network: string }[], align: 'left' }, ({ links }) => [
  'span',
  { class: 'social' },
  links.map(({ network }) => network).join(' · ') || 'No links yet',
]);
const Html = block('html', { code: '' }, ({ code }) => [
  'code',
  { class: 'html' },
  code === '' ? 'Empty HTML block' : code,
]);
const Conditional = container(
  'conditional',
  { variable: 'plan', operator: 'exists', value: '' },
  ({ variable = '', operator = '', value = '' }) =>
    `Show if ${variable} ${blockOperatorNames[operator]}${operator === 'exists' || operator === 'missing' ? '' : ` ${value}`}`,
);
const Repeat = container(
  'repeat',
  { list: 'items', item: 'item', limit: null },
  ({ list = '', item = '', limit }) => `Repeat for each ${item} of ${list}${limit ? `, ${limit} at most` : ''}`,
);

/** Everything that an email can hold. */
export const emailNodes = [
  Kit,
  Paragraph,
  Heading,
  Variable,
  Column,
  Columns,
  Image,
  Button,
  Divider,
  Spacer,
  Social,
  Html,
  Conditional,
  Repeat,
];
