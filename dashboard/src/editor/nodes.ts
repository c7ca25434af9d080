import { mergeAttributes, Node, type NodeConfig } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';
import { alignment, shapes } from './shapes.ts';

/*
 * The nodes of an email. Their names and attributes are those of `EmailDocument` in packages/email-document, so that the JSON of
 * the editor is the document. What they look like here is `editor.css`; what is sent is made by the compiler.
 */

const aligned = {
  align: {
    default: 'left',
    parseHTML: (element: HTMLElement) => element.style.textAlign || 'left',
    renderHTML: alignment,
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

/** The element of a node: as its shape says, with the data that its attributes keep. */
const shaped = (name: string): NodeConfig['renderHTML'] =>
  function shape({ node, HTMLAttributes }) {
    const [tag, attributes, ...inside] = shapes[name]?.(node.attrs) ?? ['div', {}, 0];
    return [tag, mergeAttributes(HTMLAttributes, attributes), ...inside];
  };

/** A block without content of its own. */
function block(name: string, defaults: Record<string, unknown>) {
  return Node.create({
    name,
    group: 'block',
    atom: true,
    draggable: true,
    addAttributes: () => kept(defaults),
    parseHTML: () => [{ tag: `div[data-block="${name}"]` }],
    renderHTML: shaped(name),
  });
}

/** A block around others. */
function container(name: string, defaults: Record<string, unknown>) {
  return Node.create({
    name,
    group: 'block',
    content: 'block+',
    defining: true,
    addAttributes: () => kept(defaults),
    parseHTML: () => [{ tag: `div[data-block="${name}"]` }],
    renderHTML: shaped(name),
  });
}

const Kit = StarterKit.configure({
  blockquote: false,
  codeBlock: false,
  horizontalRule: false,
  trailingNode: false,
  paragraph: false,
  heading: false,
  listItem: false,
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
  renderHTML: shaped('paragraph'),
});

const Heading = Node.create({
  name: 'heading',
  group: 'block',
  content: 'inline*',
  defining: true,
  addAttributes: () => ({ level: { default: 1, rendered: false }, ...aligned }),
  // Also as it is copied here, which is how it is drawn.
  parseHTML: () => [1, 2, 3].map((level) => ({ tag: `h${level}, div.heading-${level}`, attrs: { level } })),
  renderHTML: shaped('heading'),
});

// The library's own holds any block, which neither documents nor mail clients have in a list.
const ListItem = Node.create({
  name: 'listItem',
  content: 'paragraph (paragraph | bulletList | orderedList)*',
  defining: true,
  parseHTML: () => [{ tag: 'li' }],
  renderHTML: ({ HTMLAttributes }) => ['li', HTMLAttributes, 0],
  addKeyboardShortcuts() {
    return {
      Enter: () => this.editor.commands.splitListItem(this.name),
      Tab: () => this.editor.commands.sinkListItem(this.name),
      'Shift-Tab': () => this.editor.commands.liftListItem(this.name),
    };
  },
});

const Variable = Node.create({
  name: 'variable',
  group: 'inline',
  inline: true,
  atom: true,
  addAttributes: () => kept({ name: '', fallback: '' }),
  parseHTML: () => [{ tag: 'span[data-variable]' }],
  renderHTML: shaped('variable'),
  renderText: ({ node }) => `{{ ${node.attrs.name} }}`,
});

const Column = Node.create({
  name: 'column',
  content: 'block+',
  isolating: true,
  parseHTML: () => [{ tag: 'div[data-column]' }],
  renderHTML: shaped('column'),
});

const Columns = Node.create({
  name: 'columns',
  group: 'block',
  content: 'column{1,4}',
  defining: true,
  addAttributes: () => kept({ stack: true, panel: false }),
  parseHTML: () => [{ tag: 'div[data-block="columns"]' }],
  renderHTML: shaped('columns'),
});

const Image = block('image', { src: '', alt: '', decorative: false, width: null, href: '', align: 'left' });
const Button = block('button', { label: 'Button', href: '', align: 'left' });
const Divider = block('divider', {});
const Spacer = block('spacer', { height: 24 });
const Social = block('social', { links: [], align: 'left' });
const Html = block('html', { code: '' });
const Conditional = container('conditional', { variable: 'plan', operator: 'exists', value: '' });
const Repeat = container('repeat', { list: 'items', item: 'item', limit: null });

/** Everything that an email can hold. */
export const emailNodes = [
  Kit,
  Paragraph,
  Heading,
  ListItem,
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
