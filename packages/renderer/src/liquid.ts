import {
  AssignTag,
  filters as builtInFilters,
  CaptureTag,
  CaseTag,
  Context,
  CycleTag,
  defaultOperators,
  type Emitter,
  evalToken,
  ForTag,
  Liquid,
  type Operators,
  TablerowTag,
  Tag,
  type TagToken,
  type Template,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
} from 'liquidjs';
import { readProperty, weightOfToken } from './evaluate.ts';
import {
  checkLength,
  RenderLimitError,
  type Run,
  renderLimits,
  runOf,
  spend,
  spendCharacters,
  spendComparison,
  spendValue,
  writeValue,
} from './run.ts';
import { sourceLimit } from './source.ts';
import { escapeHtml, Filled, rawText, unescapeHtml } from './values.ts';

/** The `this` with which liquidjs calls a filter. */
export interface FilterCall {
  context: Context;
}

/** A filter's function. */
export type FilterFunction = (this: FilterCall, value: unknown, ...args: unknown[]) => unknown;

/** The filter by which parsing marks an output that stands in an attribute of its HTML. */
export const attributeMark = 'fernpost_attribute__';

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
  engine.registerTag('assign', CountedAssign);
  engine.registerTag('for', CountedFor);
  engine.registerTag('tablerow', CountedTablerow);
  engine.registerTag('case', CountedCase);
  return engine;
}

type Limiter = Context['memoryLimit'];

/** Liquid's own context of a run, whose limits are those of the run. */
export function createContext(scope: object, run: Run, engine: Liquid): Context {
  let characters = 0;
  const memoryLimit = {
    use(count: number) {
      characters += Math.max(0, count);
      checkMemory(characters);
    },
    check: checkMemory,
  } as unknown as Limiter;
  // liquidjs calls it for every node that it renders.
  const renderLimit = { use() {}, check: () => spend(run, 1) } as unknown as Limiter;
  const context = new CountedContext(
    scope,
    engine.options,
    { sync: true },
    { liquid: engine, memoryLimit, renderLimit },
  );
  context.setRegister('run', run);
  return context;
}

/** Asks for the size of an object once. */
class CountedContext extends Context {
  override readProperty(object: unknown, key: unknown): unknown {
    if (key === 'size' && typeof object === 'object' && object !== null && !Array.isArray(object))
      return readProperty(object, key);
    return super.readProperty(object as never, key as never);
  }
}

function checkMemory(characters: number): void {
  if (characters > renderLimits.characters) throw new RenderLimitError('Rendering the template takes more than 10 MB');
}

// As liquidjs's own filter of the name, but an object reads as it does without the filter.
function escapeText(value: unknown): string {
  return escapeHtml(rawText(value));
}

// Values that cannot be compared, such as an object that brings a `toString` of its own, compare as false.
const tolerantOperators: Operators = {
  ...defaultOperators,
  '==': compare('=='),
  '!=': compare('!='),
  '>': compare('>'),
  '<': compare('<'),
  '>=': compare('>='),
  '<=': compare('<='),
  contains: compare('contains'),
};

function compare(operator: '==' | '!=' | '>' | '<' | '>=' | '<=' | 'contains'): Operators['>'] {
  const plain = defaultOperators[operator] as (a: unknown, b: unknown) => Generator<unknown, boolean, unknown>;
  return function* (a: unknown, b: unknown, context: Context) {
    spendComparison(runOf(context), a, b);
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

/** The result of one output, as HTML and as text. A capture keeps both. */
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
  readonly run: Run;
  constructor(run: Run) {
    this.run = run;
  }
  write(value: unknown): void {
    const text = value instanceof Printed ? value : new Printed(rawText(toValue(value)));
    this.plain += text.plain;
    this.buffer += text.html;
    spendCharacters(this.run, text.html.length);
    checkLength(this.buffer.length);
  }
}

/** Keeps a captured text as it reads, and beside it the HTML it was written as. */
class MarkupCapture extends CaptureTag {
  // biome-ignore lint/correctness/useYield: liquidjs wants an iterator, and nothing here waits.
  override *render(context: Context): Generator<unknown, void, string> {
    const run = runOf(context);
    const emitter = new CapturingEmitter(run);
    toValueSync(this.liquid.renderer.renderTemplates(this.templates, context, emitter));
    run.captures ??= new Map();
    run.captures.set(this.variable, { plain: emitter.plain, html: emitter.buffer });
    context.bottom()[this.variable] = emitter.plain;
  }
}

/** An assignment that counts what is in the value. */
class CountedAssign extends AssignTag {
  override *render(context: Context): Generator<unknown, void, unknown> {
    yield* super.render(context);
    const { key } = this as unknown as { key: string };
    const assigned = (context.bottom() as Record<string, unknown>)[key];
    if (typeof assigned === 'object') spendValue(runOf(context), assigned);
  }
}

/** A loop that counts its turns; those of an empty one would pass unseen. */
class CountedFor extends ForTag {
  override *render(context: Context, emitter: Emitter): ReturnType<ForTag['render']> {
    countTurns(this.collection, context);
    return yield* super.render(context, emitter);
  }
}

class CountedTablerow extends TablerowTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    countTurns(this.collection, context);
    yield* super.render(context, emitter);
  }
}

function countTurns(collection: Token, context: Context): void {
  const run = runOf(context);
  spend(run, weightOfToken(collection));
  if (TypeGuards.isRangeToken(collection)) {
    const [low, high] = [collection.lhs, collection.rhs].map((end) => Number(toValueSync(evalToken(end, context))));
    spend(run, Math.max(0, (high ?? 0) - (low ?? 0)) || 0);
    return;
  }
  const items: unknown = toValueSync(evalToken(collection, context));
  if (typeof items === 'object' && items !== null)
    spend(run, Array.isArray(items) ? items.length : Object.keys(items).length);
}

/** A `case` that counts what it compares. */
class CountedCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const run = runOf(context);
    const target: unknown = toValue(toValueSync(this.value.value(context)));
    for (const { values } of this.branches)
      for (const token of values) {
        spend(run, weightOfToken(token));
        if (typeof target === 'object' || typeof target === 'string')
          spendComparison(run, target, toValueSync(evalToken(token, context)));
      }
    yield* super.render(context, emitter);
  }
}

/** A `cycle` whose value is printed by the same rules as an output. */
export class EscapedCycle extends CycleTag {
  print: ((value: unknown, run: Run) => unknown) | null = null;
  weight: number | null = null;
  override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
    const { candidates } = this as unknown as { candidates: Token[] };
    this.weight ??= candidates.reduce((sum, candidate) => sum + weightOfToken(candidate), 0);
    spend(runOf(context), this.weight);
    const value = yield* super.render(context, emitter);
    return this.print === null ? value : this.print(value, runOf(context));
  }
}

/** Collects what liquidjs prints, and holds the limit on its length. */
class RunEmitter implements Emitter {
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
  toValueSync(engine.renderer.renderTemplates(nodes, context, new RunEmitter(run)));
}

// Faults by which liquidjs says that a limit is reached; every other fault of a filter leaves its value as it was.
function isLimit(error: unknown): boolean {
  return error instanceof RenderLimitError || (error instanceof Error && error.message.includes('limit exceeded'));
}

function tolerant(name: string, filter: FilterFunction): FilterFunction {
  const call = name === 'date' ? remembered(filter) : filter;
  return function (value, ...args) {
    spendFilter(runOf(this.context), name, value, args);
    try {
      return toValueSync(call.apply(this, [value, ...args]) as Generator<unknown, unknown, unknown>);
    } catch (error) {
      if (isLimit(error)) throw error;
      return value;
    }
  };
}

// These read a list or an object itself and not all that is in it.
const shallow = new Set(
  (
    'size first last default raw reverse slice concat push unshift pop shift compact uniq sample map where reject find ' +
    'find_index has sum group_by where_exp reject_exp group_by_exp has_exp find_exp find_index_exp fernpost_attribute__'
  ).split(' '),
);
const stepsOfDate = 20;

// Counts what a filter may read, before it does.
function spendFilter(run: Run, name: string, value: unknown, args: readonly unknown[]): void {
  const items = Array.isArray(value) ? value.length : 1;
  let perItem = 1;
  for (const arg of args) {
    // An expression, or a path, is followed anew for each item; a date is written code by code.
    if (typeof arg === 'string' && arg.length > 8)
      perItem += name === 'date' ? stepsOfDate * (arg.split('%').length - 1) : arg.length / 8;
    else if (typeof arg === 'object' && arg !== null) spendValue(run, arg);
  }
  if (name.startsWith('sort')) perItem *= 1 + Math.log2(items + 1);
  if (typeof value === 'string') spendCharacters(run, value.length);
  else if (typeof value === 'object' && !shallow.has(name)) spendValue(run, value);
  spend(run, Math.ceil(items * perItem));
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
