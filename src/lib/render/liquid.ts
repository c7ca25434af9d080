import {
  filters as builtInFilters,
  CaptureTag,
  type Context,
  CycleTag,
  defaultOperators,
  type Emitter,
  Liquid,
  type Operators,
  Tag,
  type TagToken,
  type Template,
  toValue,
  toValueSync,
} from 'liquidjs';
import { Filled } from './filled.ts';
import { checkLength, RenderLimitError, type Run, renderLimits, writeValue } from './run.ts';
import { sourceLimit } from './source.ts';
import { escapeHtml, rawText, unescapeHtml } from './values.ts';

/** What a filter's function is called on by liquidjs. */
export interface FilterCall {
  context: Context;
}

/** A filter's function. */
export type FilterFunction = (this: FilterCall, value: unknown, ...args: unknown[]) => unknown;

/** The filter by which parsing marks an output that stands in an attribute of its HTML. */
export const attributeMark = 'posthorn_attribute__';

const notAvailable = ['include', 'render', 'layout', 'block'];

/**
 * A Liquid without files and network. The strict one refuses an unknown filter when it parses; the other passes the
 * value on unchanged, and does the same where a filter cannot work with its input.
 */
export function createEngine({ strict }: { strict: boolean }): Liquid {
  const engine = new Liquid({
    jsTruthy: true,
    ownPropertyOnly: true,
    strictFilters: strict,
    templates: {},
    // A fixed zone and language, so that a date reads the same whichever machine renders it.
    timezoneOffset: 0,
    locale: 'en-US',
    parseLimit: 4 * sourceLimit,
    renderLimit: renderLimits.milliseconds,
    memoryLimit: renderLimits.characters,
    // liquidjs answers `size` for the object it looks names up in last; a missing variable of that name must stay missing.
    globals: { size: undefined },
    operators: tolerantOperators,
  });
  for (const [name, filter] of Object.entries(builtInFilters)) {
    if (typeof filter === 'function') engine.registerFilter(name, tolerant(name, filter as FilterFunction));
  }
  engine.registerFilter('escape', escapeText);
  engine.registerFilter('xml_escape', escapeText);
  engine.registerFilter('escape_once', (value: unknown) => escapeText(unescapeHtml(rawText(value))));
  engine.registerFilter(attributeMark, (value: unknown) => value);
  for (const name of notAvailable) engine.registerTag(name, RefusedTag);
  engine.registerTag('capture', MarkupCapture);
  engine.registerTag('cycle', EscapedCycle);
  return engine;
}

// As liquidjs's own filter of the name, but an object reads as it does without the filter.
function escapeText(value: unknown): string {
  return escapeHtml(rawText(value));
}

// Values that cannot be compared, such as an object that brings a `toString` of its own, compare as false.
const tolerantOperators: Operators = {
  ...defaultOperators,
  '>': compare('>'),
  '<': compare('<'),
  '>=': compare('>='),
  '<=': compare('<='),
  contains: compare('contains'),
};

function compare(operator: '>' | '<' | '>=' | '<=' | 'contains'): Operators['>'] {
  const plain = defaultOperators[operator] as (a: unknown, b: unknown) => Generator<unknown, boolean, unknown>;
  return function* (a: unknown, b: unknown) {
    try {
      return yield* plain(a, b);
    } catch {
      return false;
    }
  } as Operators['>'];
}

class RefusedTag extends Tag {
  constructor(token: TagToken, rest: ConstructorParameters<typeof Tag>[1], liquid: Liquid) {
    super(token, rest, liquid);
    throw new Error(`tag "${token.name}" is not available`);
  }
  override render(): string {
    return '';
  }
}

/** The run that a Liquid context belongs to. */
export function runOf(context: Context): Run {
  return context.getRegister<Run>('run');
}

/** What one output prints: as HTML, and the text it says. A capture keeps both. */
export class Printed {
  readonly plain: string;
  readonly html: string;
  constructor(plain: string, html = plain) {
    this.plain = plain;
    this.html = html;
  }
}

class CapturingEmitter implements Emitter {
  buffer = '';
  plain = '';
  write(value: unknown): void {
    const text = value instanceof Printed ? value : new Printed(rawText(toValue(value)));
    this.plain += text.plain;
    this.buffer += text.html;
    checkLength(this.buffer.length);
  }
}

/** Keeps a captured text as it reads, and beside it the HTML it was written as. */
class MarkupCapture extends CaptureTag {
  // biome-ignore lint/correctness/useYield: liquidjs wants an iterator, and nothing here waits.
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new CapturingEmitter();
    toValueSync(this.liquid.renderer.renderTemplates(this.templates, context, emitter));
    const run = runOf(context);
    run.captures ??= new Map();
    run.captures.set(this.variable, { plain: emitter.plain, html: emitter.buffer });
    context.bottom()[this.variable] = emitter.plain;
  }
}

/** A `cycle` whose value is printed by the same rules as an output. */
export class EscapedCycle extends CycleTag {
  print: ((value: unknown, run: Run) => unknown) | null = null;
  override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
    const value = yield* super.render(context, emitter);
    return this.print === null ? value : this.print(value, runOf(context));
  }
}

/** Collects what liquidjs prints, and holds the limit on its length. */
export class RunEmitter implements Emitter {
  readonly run: Run;
  constructor(run: Run) {
    this.run = run;
  }
  get buffer(): string {
    // Nobody reads here what has been written.
    return '';
  }
  write(value: unknown): void {
    writeValue(this.run, printed(value));
    checkLength(this.run.length);
  }
}

function printed(value: unknown): unknown {
  if (value instanceof Filled) return value;
  return value instanceof Printed ? value.html : rawText(toValue(value));
}

/** Renders parsed nodes by liquidjs itself. */
export function renderNodes(engine: Liquid, nodes: Template[], context: Context, run: Run): void {
  context.setRegister('run', run);
  toValueSync(engine.renderer.renderTemplates(nodes, context, new RunEmitter(run)));
}

// Faults by which liquidjs says that a limit is reached; every other fault of a filter leaves its value as it was.
function isLimit(error: unknown): boolean {
  return error instanceof RenderLimitError || (error instanceof Error && error.message.includes('limit exceeded'));
}

function tolerant(name: string, filter: FilterFunction): FilterFunction {
  const call = name === 'date' ? remembered(filter) : filter;
  return function (value, ...args) {
    try {
      return toValueSync(call.apply(this, [value, ...args]) as Generator<unknown, unknown, unknown>);
    } catch (error) {
      if (isLimit(error)) throw error;
      return value;
    }
  };
}

const rememberedDates = 2_000;

// Month and day names come from Intl, at some ten microseconds each, and an audience shares most of its dates.
function remembered(date: FilterFunction): FilterFunction {
  const known = new Map<string, unknown>();
  return function (value, ...args) {
    const cachable =
      typeof value === 'number' || (typeof value === 'string' && value.length < 64 && !/^(now|today)$/.test(value));
    if (!cachable || !args.every((arg) => typeof arg === 'string' || typeof arg === 'number'))
      return date.apply(this, [value, ...args]);
    const key = `${typeof value}\n${value}\n${args.map((arg) => `${typeof arg}${arg}`).join('\n')}`;
    if (known.has(key)) return known.get(key);
    const text = date.apply(this, [value, ...args]);
    if (known.size >= rememberedDates) known.clear();
    known.set(key, text);
    return text;
  };
}
