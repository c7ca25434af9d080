/*
 * The appearance of the nodes of an email while it is edited, for the editor and for the placeholder that is shown before the
 * editor is loaded. An element is its tag, its attributes and what is in it; 0 stands for the content of the node.
 */

type Attributes = Record<string, unknown>;
export type Shape = [tag: string, attributes: Attributes, ...inside: (Shape | string | 0)[]];

/** Labels of the operators of a conditional block. */
export const blockOperatorNames: Record<string, string> = {
  exists: 'is known',
  missing: 'is unknown',
  equals: 'is',
  notEquals: 'is not',
  contains: 'contains',
  greaterThan: 'is greater than',
  lessThan: 'is less than',
};

const block = (name: string, attributes: Attributes, shown: Shape): Shape => [
  'div',
  { 'data-block': name, style: `text-align: ${attributes.align ?? 'left'}` },
  shown,
];
const container = (name: string, says: string): Shape => ['div', { 'data-block': name, 'data-says': says }, 0];
const text = (value: unknown) => String(value ?? '');

/** Whether a text is aligned, as an attribute of its element. */
export const alignment = ({ align }: { align?: unknown }): Attributes =>
  align === undefined || align === 'left' ? {} : { style: `text-align: ${align}` };

/** The shape of a node by its name and attributes. */
export const shapes: Record<string, (attributes: Attributes) => Shape> = {
  paragraph: (attributes) => ['p', alignment(attributes), 0],
  heading: (attributes) => ['div', { class: `heading heading-${attributes.level ?? 1}`, ...alignment(attributes) }, 0],
  variable: ({ name, fallback }) => [
    'span',
    { 'data-variable': '', class: 'chip' },
    text(fallback) === '' ? text(name) : `${name} or “${fallback}”`,
  ],
  column: () => ['div', { 'data-column': '' }, 0],
  columns: ({ panel }) => ['div', { 'data-block': 'columns', ...(panel ? { class: 'panel' } : {}) }, 0],
  image: ({ src, alt, width, ...rest }) =>
    block(
      'image',
      rest,
      text(src) === ''
        ? ['span', { class: 'placeholder' }, 'No image yet']
        : ['img', { src, alt: text(alt), style: `width: ${typeof width === 'number' ? `${width}px` : '100%'}` }],
    ),
  button: ({ label, ...rest }) => block('button', rest, ['span', { class: 'email-button' }, text(label)]),
  divider: () => block('divider', {}, ['span', { class: 'rule' }]),
  spacer: ({ height }) => block('spacer', {}, ['span', { class: 'space', style: `height: ${height ?? 24}px` }]),
  social: ({ links, ...rest }) =>
    block('social', rest, [
      'span',
      { class: 'social' },
      ((links ?? []) as { network: string }[]).map(({ network }) => network).join(' · ') || 'No links yet',
    ]),
  html: ({ code }) =>
    block('html', {}, ['code', { class: 'html' }, text(code) === '' ? 'Empty HTML block' : text(code)]),
  conditional: ({ variable, operator, value }) =>
    container(
      'conditional',
      `Show if ${text(variable)} ${blockOperatorNames[text(operator)]}${operator === 'exists' || operator === 'missing' ? '' : ` ${text(value)}`}`,
    ),
  repeat: ({ list, item, limit }) =>
    container('repeat', `Repeat for each ${text(item)} of ${text(list)}${limit ? `, ${limit} at most` : ''}`),
};
