import { isVariableName, networks } from '@fernpost/email-document';
import type { Editor } from '@tiptap/core';
import type { Node } from '@tiptap/pm/model';
import { NodeSelection } from '@tiptap/pm/state';
import { Images } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { usePart } from '../standby/use-part.ts';
import { Button } from '../ui/Button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../ui/Field.tsx';
import { columnWidth } from './dropped.ts';
import { ImageFileButton } from './ImagePicker.tsx';
import { blockOperatorNames } from './shapes.ts';

/** The node that the inspector edits, and its position. */
interface Inspected {
  node: Node;
  pos: number;
}

const inspectable = new Set([
  'image',
  'button',
  'spacer',
  'social',
  'html',
  'variable',
  'conditional',
  'repeat',
  'columns',
]);

/** The settings of the selected block, or of the block around the cursor. */
export function Inspector({ editor, variables }: { editor: Editor; variables: readonly string[] }) {
  const found = inspected(editor);
  const selected = editor.state.selection instanceof NodeSelection ? found?.pos : undefined;
  useEffect(() => {
    const block = selected === undefined ? null : editor.view.nodeDOM(selected);
    // On small windows the settings would stand over it.
    if (block instanceof HTMLElement) block.scrollIntoView({ block: 'nearest' });
  }, [editor, selected]);
  if (found === null) return null;
  const { node, pos } = found;
  const set = (attributes: Record<string, unknown>) => {
    const { state, view } = editor;
    const change = state.tr.setNodeMarkup(pos, undefined, { ...node.attrs, ...attributes });
    // The block stays selected, so that its settings stay open.
    if (state.selection instanceof NodeSelection) change.setSelection(NodeSelection.create(change.doc, pos));
    view.dispatch(change);
  };
  const title = titles[node.type.name] ?? 'Block';
  return (
    // Escape leads back to the text from the fields inside.
    <section
      className="inspector"
      aria-label={`${title} settings`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') editor.commands.focus();
      }}
    >
      <h2>{title}</h2>
      <div className="mail-fields">{settings[node.type.name]?.({ node, pos, set, editor, variables })}</div>
    </section>
  );
}

const titles: Record<string, string> = {
  image: 'Image',
  button: 'Button',
  spacer: 'Spacer',
  social: 'Social links',
  html: 'HTML',
  variable: 'Variable',
  conditional: 'Conditional block',
  repeat: 'Repeated block',
  columns: 'Columns',
};

function inspected(editor: Editor): Inspected | null {
  const { selection } = editor.state;
  if (selection instanceof NodeSelection && inspectable.has(selection.node.type.name))
    return { node: selection.node, pos: selection.from };
  const { $from } = selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    const node = $from.node(depth);
    if (inspectable.has(node.type.name)) return { node, pos: $from.before(depth) };
  }
  return null;
}

type Change = (attributes: Record<string, unknown>) => void;

/** A block with what its settings need. */
interface Edited extends Inspected {
  set: Change;
  editor: Editor;
  variables: readonly string[];
}

type Attributes = Node['attrs'];

/** The settings of each kind of block. */
const settings: Record<string, (edited: Edited) => ReactNode> = {
  image: ({ node: { attrs }, pos, set, editor }) => {
    const { text, number, align } = fieldsOf(attrs, set);
    return [
      <ImageSource key="source" attrs={attrs} column={attrs.width ?? columnWidth(editor, pos)} set={set} />,
      text('src', 'Image address', { placeholder: 'https://' }),
      attrs.decorative ? null : text('alt', 'Alt text', { placeholder: 'What the image shows' }),
      <CheckField
        key="decorative"
        label="Decorative"
        checked={attrs.decorative}
        onChange={(event) => set({ decorative: event.target.checked })}
      />,
      number('width', 'Width in pixels', 16, 600, 'Full width'),
      text('href', 'Link', { placeholder: 'https://' }),
      align(),
    ];
  },
  button: ({ node: { attrs }, set }) => {
    const { text, align } = fieldsOf(attrs, set);
    return [text('label', 'Label'), text('href', 'Link', { placeholder: 'https:// or {{ variable }}' }), align()];
  },
  spacer: ({ node: { attrs }, set }) => fieldsOf(attrs, set).number('height', 'Height in pixels', 4, 200),
  html: ({ node: { attrs }, set }) => (
    <TextArea
      label="HTML"
      rows={6}
      value={attrs.code}
      spellCheck={false}
      onChange={(event) => set({ code: event.target.value })}
    />
  ),
  variable: ({ node: { attrs }, set, variables }) => {
    const { name, text } = fieldsOf(attrs, set);
    return [
      name('name', 'Variable'),
      text('fallback', 'Fallback', { placeholder: 'When a contact has none' }),
      <KnownVariables key="known" variables={variables} />,
    ];
  },
  conditional: conditionalSettings,
  repeat: ({ node: { attrs }, set, variables }) => {
    const { name, number } = fieldsOf(attrs, set);
    return [
      name('list', 'List'),
      number('limit', 'At most', 1, 500, 'All'),
      <KnownVariables key="known" variables={variables} />,
    ];
  },
  columns: columnSettings,
  social: ({ node: { attrs }, set }) => <SocialLinks links={attrs.links} onChange={(links) => set({ links })} />,
};

const loadImages = () => import('./ImageDialog.tsx');

/** Chooses what an image block shows: a file, or an image that the project has. */
function ImageSource({ attrs, column, set }: { attrs: Attributes; column: number; set: Change }) {
  const [asked, setAsked] = useState<{ file: File | null } | null>(null);
  const part = usePart(loadImages, asked !== null);
  return (
    <div className="row">
      <ImageFileButton onFile={(file) => setAsked({ file })} />
      <Button onClick={() => setAsked({ file: null })}>
        <Images aria-hidden /> Recent images
      </Button>
      {part && asked ? (
        <part.ImageDialog
          {...asked}
          column={column}
          alt={attrs.alt}
          decorative={attrs.decorative}
          onInsert={(image) => set({ ...image })}
          onClose={() => setAsked(null)}
        />
      ) : null}
    </div>
  );
}

function conditionalSettings({ node: { attrs }, set, variables }: Edited): ReactNode {
  const { name, text } = fieldsOf(attrs, set);
  const isBare = attrs.operator === 'exists' || attrs.operator === 'missing';
  return [
    name('variable', 'Show if'),
    <SelectField
      key="operator"
      label="Condition"
      value={attrs.operator}
      onChange={(event) => set({ operator: event.target.value })}
    >
      {Object.entries(blockOperatorNames).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </SelectField>,
    isBare ? null : text('value', 'Value'),
    <KnownVariables key="known" variables={variables} />,
  ];
}

function columnSettings({ node, pos, set, editor }: Edited): ReactNode {
  return [
    <SelectField
      key="count"
      label="Columns"
      value={node.childCount}
      onChange={(event) => setColumns(editor, { node, pos }, Number(event.target.value))}
    >
      {[1, 2, 3, 4].map((count) => (
        <option key={count}>{count}</option>
      ))}
    </SelectField>,
    <CheckField
      key="stack"
      label="Stack on phones"
      checked={node.attrs.stack}
      onChange={(event) => set({ stack: event.target.checked })}
    />,
    <CheckField
      key="panel"
      label="Tinted background"
      checked={node.attrs.panel}
      onChange={(event) => set({ panel: event.target.checked })}
    />,
  ];
}

function KnownVariables({ variables }: { variables: readonly string[] }) {
  return (
    <datalist id="email-variables">
      {variables.map((each) => (
        <option key={each} value={each} />
      ))}
    </datalist>
  );
}

/** Fields that show and change attributes of a block. */
function fieldsOf(attrs: Attributes, set: Change) {
  return {
    text: (name: string, label: string, rest: { placeholder?: string } = {}) => (
      <TextField
        key={name}
        label={label}
        value={String(attrs[name] ?? '')}
        onChange={(event) => set({ [name]: event.target.value })}
        {...rest}
      />
    ),
    number: (name: string, label: string, min: number, max: number, empty?: string) => (
      <TextField
        key={name}
        label={label}
        type="number"
        min={min}
        max={max}
        {...(empty ? { placeholder: empty } : {})}
        value={attrs[name] ?? ''}
        onChange={(event) => {
          const value = Math.round(Number(event.target.value));
          if (event.target.value === '' && empty) set({ [name]: null });
          else if (value >= min && value <= max) set({ [name]: value });
        }}
      />
    ),
    name: (attribute: string, label: string) => (
      <TextField
        key={attribute}
        label={label}
        list="email-variables"
        value={String(attrs[attribute])}
        // A name that is none would make the whole email one that cannot be saved.
        onChange={(event) => isVariableName(event.target.value) && set({ [attribute]: event.target.value })}
      />
    ),
    align: () => (
      <SelectField
        key="align"
        label="Alignment"
        value={attrs.align}
        onChange={(event) => set({ align: event.target.value })}
      >
        <option value="left">Left</option>
        <option value="center">Center</option>
        <option value="right">Right</option>
      </SelectField>
    ),
  };
}

// Columns are added on the right; what is in those that go is moved into the last that stays.
function setColumns(editor: Editor, { node, pos }: Inspected, count: number): void {
  const columns = Array.from({ length: node.childCount }, (_, index) => node.child(index).toJSON());
  while (columns.length < count) columns.push({ type: 'column', content: [{ type: 'paragraph' }] });
  const dropped = columns.splice(count);
  const last = columns.at(-1);
  if (last) last.content = [...last.content, ...dropped.flatMap(({ content }) => content)];
  editor
    .chain()
    .insertContentAt({ from: pos, to: pos + node.nodeSize }, { type: 'columns', attrs: node.attrs, content: columns })
    .setTextSelection(pos + 3)
    .run();
}

interface Link {
  network: string;
  href: string;
}

function SocialLinks({ links, onChange }: { links: readonly Link[]; onChange: (links: Link[]) => void }) {
  const replace = (index: number, part: Partial<Link>) =>
    onChange(links.map((link, at) => (at === index ? { ...link, ...part } : link)));
  return (
    <div className="stack">
      {links.map((link, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a link has no identity but its place
        <div className="row" key={index}>
          <SelectField
            label="Network"
            value={link.network}
            onChange={(event) => replace(index, { network: event.target.value })}
          >
            {networks.map((network) => (
              <option key={network}>{network}</option>
            ))}
          </SelectField>
          <TextField
            label="Address"
            placeholder="https://"
            value={link.href}
            onChange={(event) => replace(index, { href: event.target.value })}
          />
          <Button size="small" onClick={() => onChange(links.filter((_, at) => at !== index))}>
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button
          size="small"
          disabled={links.length >= 12}
          onClick={() => onChange([...links, { network: 'LinkedIn', href: '' }])}
        >
          Add a link
        </Button>
      </div>
    </div>
  );
}
