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
  readonly #numbers: readonly number[] | undefined;
  #text: string | undefined;
  #name: string | undefined;

  /** `numbers` says which value, counted from 1, stands in each gap; one after the other when absent. */
  constructor(parts: readonly string[], isKept: boolean, numbers?: readonly number[]) {
    this.parts = parts;
    this.isKept = isKept;
    this.#numbers = numbers;
  }

  get numbers(): readonly number[] {
    return this.#numbers ?? this.parts.slice(1).map((_, gap) => gap + 1);
  }

  get text(): string {
    const numbers = this.#numbers;
    this.#text ??= this.parts.reduce((text, part, gap) => `${text}$${numbers?.[gap - 1] ?? gap}${part}`);
    return this.#text;
  }

  get name(): string {
    this.#name ??= `sql_${createHash('sha256').update(this.text).digest('hex').slice(0, 32)}`;
    return this.#name;
  }
}

/** The texts that a template in the code has been put together to: by the shapes of the queries in its gaps, `undefined` for a value. */
interface Site {
  plain: Shape | undefined;
  composed: { children: readonly (Shape | undefined)[]; shape: Shape }[];
}

const sites = new WeakMap<TemplateStringsArray, Site>();
const shapes = new Map<string, Shape>();
const constants = new Map<string, Query>();
// More texts than the code has. What goes beyond was made of what users write without saying `unprepared`, and is not prepared.
const mostShapes = 5_000;
const mostVariants = 64;

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
  const shape = isPrepared ? composedShape(site, strings, args) : endless(composedParts(strings, args), args);
  return new Query(shape, values, isPrepared);
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
  const isPrepared = queries.every((query) => query.isPrepared);
  const values = queries.flatMap((query) => query.values);
  return new Query(isPrepared ? shapeOf(parts) : endless(parts, queries), values, isPrepared);
}

/** The same query, whose text is not kept prepared. Whatever it is part of is not prepared either. */
export function unprepared({ shape, values }: Query): Query {
  return new Query(shape, values, false);
}

/**
 * A query whose text a compiler has made of what users write, such as a condition, with `$1`, `$2` … for its values; one may
 * stand in several places. There is no end of such texts, so that nothing keeps them, and none is prepared.
 */
export function compiled(text: string, values: readonly unknown[]): Query {
  const pieces = text.split(/\$(\d+)/);
  const parts = pieces.filter((_, place) => place % 2 === 0);
  const numbers = pieces.filter((_, place) => place % 2 === 1).map(Number);
  return new Query(new Shape(parts, false, numbers), values, false);
}

function endless(parts: readonly string[], args: readonly unknown[]): Shape {
  const numbers: number[] = [];
  let before = 0;
  for (const arg of args) {
    if (isQuery(arg)) {
      for (const number of arg.shape.numbers) numbers.push(before + number);
      before += arg.values.length;
    } else numbers.push(++before);
  }
  return new Shape(parts, false, numbers);
}

function composedShape(site: Site, strings: readonly string[], args: readonly unknown[]): Shape {
  for (const { children, shape } of site.composed) if (hasShapes(args, children)) return shape;
  const shape = shapeOf(composedParts(strings, args));
  if (site.composed.length < mostVariants) site.composed.push({ children: args.map(shapeIn), shape });
  return shape;
}

function composedParts(strings: readonly string[], args: readonly unknown[]): string[] {
  const parts = [strings[0] ?? ''];
  for (const [place, arg] of args.entries()) {
    const after = strings[place + 1] ?? '';
    if (isQuery(arg)) {
      append(parts, '', arg.shape);
      parts.push(parts.pop() + after);
    } else parts.push(after);
  }
  return parts;
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
