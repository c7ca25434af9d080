import { createHash } from 'node:crypto';

/**
 * SQL with its values, made by `sql` and run by a handle (`Database`). Part of another `sql` text, it becomes part of that text.
 */
export class Query {
  readonly shape: Shape;
  readonly values: readonly unknown[];
  /** Whether Postgres may keep the text prepared on each connection; `name` says whether it does. */
  readonly isPrepared: boolean;

  constructor(shape: Shape, values: readonly unknown[], isPrepared: boolean) {
    this.shape = shape;
    this.values = values;
    this.isPrepared = isPrepared;
  }

  /** The whole text, with `$1`, `$2` … for the values. */
  get text(): string {
    return this.shape.text;
  }

  /** The name of its prepared statement, the same in every process; null where it is not to be prepared. */
  get name(): string | null {
    return this.isPrepared && this.shape.isKept ? this.shape.name : null;
  }
}

/** A text with gaps for values. */
class Shape {
  readonly parts: readonly string[];
  readonly isKept: boolean;
  #text: string | undefined;
  #name: string | undefined;

  constructor(parts: readonly string[], isKept: boolean) {
    this.parts = parts;
    this.isKept = isKept;
  }

  get text(): string {
    this.#text ??= this.parts.reduce((text, part, place) => `${text}$${place}${part}`);
    return this.#text;
  }

  get name(): string {
    this.#name ??= `sql_${createHash('sha256').update(this.text).digest('hex').slice(0, 32)}`;
    return this.#name;
  }
}

/** What a template in the code has been put together to: by the shapes of the queries in its gaps, `undefined` for a value. */
interface Site {
  plain: Shape | undefined;
  composed: { children: readonly (Shape | undefined)[]; shape: Shape }[];
}

const sites = new WeakMap<TemplateStringsArray, Site>();
const shapes = new Map<string, Shape>();
const constants = new Map<string, Query>();
// More texts than the code has. What goes beyond was made of what users write without saying `unprepared`, and is not prepared.
const mostShapes = 5_000;
const mostVariants = 16;

/**
 * SQL with values in place: each `${value}` becomes a parameter, never text. An array is one value (`= any(${ids}::uuid[])`), null and
 * undefined are null, other objects are JSON. A `${query}` becomes part of the text, with its values.
 */
export function sql(strings: TemplateStringsArray, ...args: readonly unknown[]): Query {
  let site = sites.get(strings);
  if (site === undefined) {
    site = { plain: undefined, composed: [] };
    sites.set(strings, site);
  }
  if (!args.some(isQuery)) {
    site.plain ??= shapeOf(strings);
    return new Query(site.plain, args, true);
  }
  const values: unknown[] = [];
  let isPrepared = true;
  for (const arg of args) {
    if (isQuery(arg)) {
      values.push(...arg.values);
      isPrepared &&= arg.isPrepared;
    } else values.push(arg);
  }
  return new Query(composedShape(site, strings, args), values, isPrepared);
}

/** A constant of the code as part of a text: a list of columns, an identifier, a number. Never for what comes from outside. */
export function raw(constant: string | number): Query {
  const text = String(constant);
  const known = constants.get(text);
  if (known !== undefined) return known;
  if (/\$\d/.test(text)) throw new Error(`A constant of a text has no parameters: ${text}`);
  const query = new Query(shapeOf([text]), [], true);
  if (query.shape.isKept) constants.set(text, query);
  return query;
}

/** Queries one after the other with a text in between, such as `' and '`. */
export function join(queries: readonly Query[], separator: string): Query {
  const [first, ...others] = queries;
  if (first === undefined) return raw('');
  const parts = [...first.shape.parts];
  for (const { shape } of others) append(parts, separator, shape);
  return new Query(
    shapeOf(parts),
    queries.flatMap(({ values }) => values),
    queries.every(({ isPrepared }) => isPrepared),
  );
}

/**
 * A query whose text depends on what users write, such as a condition: there is no end of such texts, so that none is kept
 * prepared. Whatever it is part of is not prepared either.
 */
export function unprepared({ shape, values }: Query): Query {
  return new Query(shape, values, false);
}

function composedShape(site: Site, strings: readonly string[], args: readonly unknown[]): Shape {
  for (const { children, shape } of site.composed) if (hasShapes(args, children)) return shape;
  const parts = [strings[0] ?? ''];
  for (const [place, arg] of args.entries()) {
    const after = strings[place + 1] ?? '';
    if (isQuery(arg)) {
      append(parts, '', arg.shape);
      parts.push(parts.pop() + after);
    } else parts.push(after);
  }
  const shape = shapeOf(parts);
  if (site.composed.length < mostVariants) site.composed.push({ children: args.map(shapeIn), shape });
  return shape;
}

function append(parts: string[], separator: string, { parts: [first = '', ...others] }: Shape): void {
  parts.push(`${parts.pop() ?? ''}${separator}${first}`, ...others);
}

// One object for each text, so that templates recognize the parts they are put together of.
function shapeOf(parts: readonly string[]): Shape {
  const key = parts.join('\0');
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const isKept = shapes.size < mostShapes;
  const shape = new Shape(parts, isKept);
  if (isKept) shapes.set(key, shape);
  return shape;
}

function isQuery(arg: unknown): arg is Query {
  return arg instanceof Query;
}

function shapeIn(arg: unknown): Shape | undefined {
  return isQuery(arg) ? arg.shape : undefined;
}

function hasShapes(args: readonly unknown[], children: readonly (Shape | undefined)[]): boolean {
  for (let place = 0; place < args.length; place++) if (shapeIn(args[place]) !== children[place]) return false;
  return true;
}
