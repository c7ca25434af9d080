import * as v from 'valibot';

const text = (most: number) => v.pipe(v.string(), v.maxLength(most, `must have at most ${most} characters`));

/** A web or mail address, or Liquid that makes one. Scripts are refused: a link in mail never runs anything. */
const Address = v.pipe(
  text(2000),
  v.check((value) => !/^\s*(?:javascript|vbscript|data):/i.test(value), 'must not run a script'),
);

/** Name of a variable: a path such as `firstName`, `item.price` or `first name`. */
const variableName = /^[\p{L}_][\p{L}\p{N}_ .'-]*$/u;
const VariableName = v.pipe(
  text(200),
  v.regex(variableName, 'must be the name of a variable, such as firstName or item.price'),
);

/** Whether a variable can have this name. */
export const isVariableName = (name: string) => name.length <= 200 && variableName.test(name);

const Color = v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/i, 'must be a color such as #1a2b3c'));
const Align = v.optional(v.picklist(['left', 'center', 'right']), 'left');

const Mark = v.variant('type', [
  v.object({ type: v.picklist(['bold', 'italic', 'underline', 'strike', 'code']) }),
  v.object({ type: v.literal('link'), attrs: v.object({ href: Address }) }),
]);

const Inline = v.variant('type', [
  v.object({ type: v.literal('text'), text: text(100_000), marks: v.optional(v.array(Mark)) }),
  v.object({ type: v.literal('hardBreak') }),
  v.object({
    type: v.literal('variable'),
    attrs: v.object({ name: VariableName, fallback: v.optional(text(200), '') }),
    marks: v.optional(v.array(Mark)),
  }),
]);
const InlineContent = v.optional(v.array(Inline), []);

const Paragraph = v.object({
  type: v.literal('paragraph'),
  attrs: v.optional(v.object({ align: Align }), {}),
  content: InlineContent,
});

/** The operators of a conditional block. */
export const operators = ['exists', 'missing', 'equals', 'notEquals', 'contains', 'greaterThan', 'lessThan'] as const;

/** The networks that a block of social links names. */
export const networks = ['Website', 'X', 'LinkedIn', 'Instagram', 'Facebook', 'YouTube', 'GitHub', 'Mastodon'] as const;

interface List {
  type: 'bulletList' | 'orderedList';
  content: { type: 'listItem'; content: (v.InferOutput<typeof Paragraph> | List)[] }[];
}
const List: v.GenericSchema<unknown, List> = v.object({
  type: v.picklist(['bulletList', 'orderedList']),
  content: v.array(
    v.object({
      type: v.literal('listItem'),
      content: v.array(
        v.lazy((input) => (String((input as { type?: unknown } | null)?.type).endsWith('List') ? List : Paragraph)),
      ),
    }),
  ),
});

const simpleBlocks = [
  Paragraph,
  v.object({
    type: v.literal('heading'),
    attrs: v.object({ level: v.picklist([1, 2, 3]), align: Align }),
    content: InlineContent,
  }),
  v.object({
    type: v.literal('image'),
    attrs: v.object({
      src: Address,
      alt: v.optional(text(500), ''),
      /** Says nothing that a reader without images would miss. */
      decorative: v.optional(v.boolean(), false),
      /** Width in pixels of the 600 that a mail is wide; null is as wide as the place it is in. */
      width: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(600))), null),
      href: v.optional(Address, ''),
      align: Align,
    }),
  }),
  v.object({
    type: v.literal('button'),
    attrs: v.object({ label: text(200), href: Address, align: Align }),
  }),
  v.object({ type: v.literal('divider') }),
  v.object({
    type: v.literal('spacer'),
    attrs: v.object({ height: v.pipe(v.number(), v.integer(), v.minValue(4), v.maxValue(200)) }),
  }),
  v.object({
    type: v.literal('social'),
    attrs: v.object({
      links: v.pipe(v.array(v.object({ network: v.picklist(networks), href: Address })), v.maxLength(12)),
      align: Align,
    }),
  }),
  v.object({ type: v.literal('html'), attrs: v.object({ code: text(100_000) }) }),
] as const;

const SimpleBlock = v.variant('type', simpleBlocks);

interface Columns {
  type: 'columns';
  attrs?: { stack: boolean; panel?: boolean | undefined } | undefined;
  content: { type: 'column'; content: Block[] }[];
}
interface Conditional {
  type: 'conditional';
  attrs: { variable: string; operator: (typeof operators)[number]; value: string };
  content: Block[];
}
interface Repeat {
  type: 'repeat';
  attrs: { list: string; item: string; limit: number | null };
  content: Block[];
}

/** A block of an email. */
export type Block = v.InferOutput<typeof SimpleBlock> | List | Columns | Conditional | Repeat;
/** A piece of a text. */
export type Inline = v.InferOutput<typeof Inline>;

const Blocks = v.array(v.lazy((input) => blockSchema(input))) as v.GenericSchema<unknown, Block[]>;

const containers: Record<string, v.GenericSchema<unknown, Block>> = {
  bulletList: List,
  orderedList: List,
  columns: v.object({
    type: v.literal('columns'),
    /** Whether they stand below one another on phones, as they do where nothing is said, and lie on a tinted panel. */
    attrs: v.optional(v.object({ stack: v.boolean(), panel: v.optional(v.boolean()) })),
    content: v.pipe(
      v.array(v.object({ type: v.literal('column'), content: Blocks })),
      v.minLength(1),
      v.maxLength(4, 'must be at most 4 columns'),
    ),
  }),
  conditional: v.object({
    type: v.literal('conditional'),
    attrs: v.object({
      variable: VariableName,
      operator: v.picklist(operators),
      value: v.optional(text(500), ''),
    }),
    content: Blocks,
  }),
  repeat: v.object({
    type: v.literal('repeat'),
    attrs: v.object({
      list: VariableName,
      item: v.optional(v.pipe(text(50), v.regex(/^[a-z]\w*$/i, 'must be one word')), 'item'),
      limit: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500))), null),
    }),
    content: Blocks,
  }),
};

function blockSchema(input: unknown): v.GenericSchema<unknown, Block> {
  const type = String((input as { type?: unknown } | null)?.type);
  return (Object.hasOwn(containers, type) && containers[type]) || SimpleBlock;
}

const documentLimit = 1_000_000;
const deepest = 40;

/** The source of an email: what it was written as, of which its HTML is made. */
export const EmailDocument = v.pipe(
  v.unknown(),
  v.check((value) => isShallow(value, deepest), `must not be nested deeper than ${deepest} levels`),
  v.check(
    (value) => (JSON.stringify(value) ?? '').length <= documentLimit,
    `must have at most ${documentLimit.toLocaleString('en-US')} characters as JSON`,
  ),
  v.object({
    version: v.literal(1),
    /** Preview text that inboxes show behind the subject; Liquid. */
    preheader: v.optional(text(300), ''),
    content: Blocks,
  }),
);
export type EmailDocument = v.InferOutput<typeof EmailDocument>;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** The fonts that mail clients have. */
export const fonts = {
  System: "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif",
  Arial: 'Arial,Helvetica,sans-serif',
  Verdana: 'Verdana,Geneva,sans-serif',
  Georgia: "Georgia,'Times New Roman',serif",
  Courier: "'Courier New',Courier,monospace",
} as const;

/** How the emails of a project look. */
export const Brand = v.object({
  logoUrl: v.pipe(v.optional(v.nullable(Address), null), v.description('URL of the logo; null without one.')),
  logoAlt: v.pipe(v.optional(text(200), ''), v.description('Text in place of the logo, up to 200 characters.')),
  primaryColor: v.pipe(v.optional(Color, '#1f2937'), v.description('Color of buttons and links, such as `#1f2937`.')),
  textColor: v.pipe(v.optional(Color, '#1f2937'), v.description('Color of text.')),
  backgroundColor: v.pipe(v.optional(Color, '#f4f4f5'), v.description('Color behind the email.')),
  font: v.pipe(
    v.optional(v.picklist(Object.keys(fonts) as (keyof typeof fonts)[]), 'System'),
    v.description('Font of the email.'),
  ),
  footer: v.pipe(
    v.optional(text(2000), ''),
    v.description('Lines below every email, up to 2,000 characters, with Liquid variables.'),
  ),
  postalAddress: v.pipe(
    v.optional(text(500), ''),
    v.description('Postal address in the footer, up to 500 characters.'),
  ),
});
export type Brand = v.InferOutput<typeof Brand>;

/** The brand of projects that have not set one. */
export const plainBrand: Brand = v.parse(Brand, {});
