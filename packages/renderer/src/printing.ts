import { Filter, type FilteredValueToken, type Liquid, TypeGuards, type Value } from 'liquidjs';
import { attributeMark, type EscapedCycle, Printed } from './liquid.ts';
import { type Node, someNode } from './nodes.ts';
import { type Run, runOf, spendValue } from './run.ts';
import {
  allTrusted,
  assignedSources,
  filteredTokenSources,
  loopScope,
  noSources,
  type Sources,
  type VariableScope,
  valueSources,
} from './sources.ts';
import { escapeHtml, htmlText, mapText, plainText, rawText, unescapeHtml } from './values.ts';
import { isMissing, lookUp } from './variables.ts';

/** How outputs are written: into HTML, into plain text, or into the text that stands for an HTML template. */
export interface Printer {
  /** Returns the function that escapes a value before the filters that may add the author's markup; null for none. */
  guard(facts: OutputFacts): ((value: unknown, run: Run) => unknown) | null;
  /** Turns the filtered value into what is written. */
  print(facts: OutputFacts): (value: unknown, run: Run) => unknown;
  /** A stand-in for one of the author's filters, or null to keep it. */
  replace?(filter: Filter, facts: OutputFacts): ((value: unknown, run: Run) => unknown) | null;
}

/** The facts about one output before rendering. */
export interface OutputFacts {
  sources: Sources;
  /** The author ends with `raw`: as it is. */
  raw: boolean;
  /** The author escapes the value himself, and what follows keeps it escaped. */
  escaped: boolean;
  /** How many of the author's filters escape. */
  escapes: number;
  /** Line breaks become `<br>`. */
  breaksLines: boolean;
  /** The output prints this name and nothing else. */
  name: string | null;
  /** The name was only ever assigned text that its author escaped. */
  assignedEscaped: boolean;
  insideCapture: boolean;
  /** Stands in the value of an attribute. */
  inAttribute: boolean;
}

/** A filter of our own at the end of an output, known to liquidjs and to the compiler. */
export class OwnFilter extends Filter {
  readonly act: (value: unknown, run: Run) => unknown;
  constructor(act: (value: unknown, run: Run) => unknown, liquid: Liquid) {
    const token = { name: '', args: [] } as unknown as ConstructorParameters<typeof Filter>[0];
    super(
      token,
      function (value: unknown) {
        return act(value, runOf(this.context));
      },
      liquid,
    );
    this.act = act;
  }
}

/** The name of the output that stands for the slot of a template. */
export const slotName = 'fernpost_slot__';

const escapeFilters = new Set(['escape', 'xml_escape', 'escape_once']);
// With literal arguments these keep escaped text escaped, and what they add is the author's own.
const keepingFilters = new Set([
  'strip',
  'lstrip',
  'rstrip',
  'strip_newlines',
  'squish',
  'normalize_whitespace',
  'newline_to_br',
  'append',
  'prepend',
  'default',
  'join',
]);

/** Gives every output of a template its guard and its printer, once, before it is rendered or compiled. */
export function attachPrinter(nodes: readonly Node[], printer: Printer, engine: Liquid): void {
  new Attachment(nodes, printer, engine).attach(nodes, null, false);
}

class Attachment {
  private readonly printer: Printer;
  private readonly engine: Liquid;
  private readonly assigned: ReturnType<typeof assignedSources>;
  private readonly escapedNames: ReadonlySet<string>;

  constructor(nodes: readonly Node[], printer: Printer, engine: Liquid) {
    this.printer = printer;
    this.engine = engine;
    this.assigned = assignedSources(nodes);
    this.escapedNames = namesAssignedEscaped(nodes);
  }

  attach(inside: readonly Node[], scope: VariableScope | null, insideCapture: boolean): void {
    for (const node of inside) {
      switch (node.kind) {
        case 'output':
          this.attachOutput(node.value, scope, insideCapture);
          break;
        case 'cycle':
          this.attachCycle(node.tag, node.candidates, scope, insideCapture);
          break;
        case 'for':
          this.attach(node.body, loopScope(node, scope, this.assigned), insideCapture);
          this.attach(node.otherwise, scope, insideCapture);
          break;
        case 'if':
        case 'case':
          for (const branch of node.branches) this.attach(branch.body, scope, insideCapture);
          this.attach(node.otherwise, scope, insideCapture);
          break;
        case 'capture':
          this.attach(node.body, scope, true);
          break;
        case 'group':
          this.attach(node.body, scope, insideCapture);
          break;
        default:
          break;
      }
    }
  }

  private attachOutput(value: Value, scope: VariableScope | null, insideCapture: boolean): void {
    const { printer, engine } = this;
    const filters = value.filters;
    const inAttribute = filters.at(-1)?.name === attributeMark;
    if (inAttribute) filters.pop();
    const name = bareName(value, scope);
    if (name === slotName && filters.length === 0) {
      filters.push(new OwnFilter((_, run) => run.slot, engine));
      return;
    }
    const place = guardPlace(filters);
    const before = filters[place - 1]?.name ?? '';
    const facts: OutputFacts = {
      sources: valueSources(value, scope, this.assigned),
      raw: filters.at(-1)?.name === 'raw',
      escaped: escapeFilters.has(before),
      escapes: filters.filter((filter) => escapeFilters.has(filter.name)).length,
      breaksLines: filters.slice(place).some((filter) => filter.name === 'newline_to_br'),
      name: place === 0 ? name : null,
      assignedEscaped: place === 0 && name !== null && this.escapedNames.has(name),
      insideCapture,
      inAttribute,
    };
    filters.forEach((filter, i) => {
      const act = printer.replace?.(filter, facts);
      if (act) filters[i] = new OwnFilter(act, engine);
    });
    const guard = facts.raw || facts.escaped ? null : printer.guard(facts);
    if (guard) filters.splice(place, 0, new OwnFilter(guard, engine));
    filters.push(new OwnFilter(noting(pathText(value), counting(printer.print(facts))), engine));
  }

  private attachCycle(
    tag: EscapedCycle,
    candidates: FilteredValueToken[],
    scope: VariableScope | null,
    insideCapture: boolean,
  ): void {
    const sources = candidates
      .map((candidate) => filteredTokenSources(candidate, scope, this.assigned))
      .filter((one) => one !== noSources);
    const facts: OutputFacts = {
      // All candidates share one printer, so that one stranger among them makes all of them a stranger's.
      sources: sources.length > 1 ? { anywhere: true, top: [], data: [] } : (sources[0] ?? noSources),
      raw: false,
      escaped: candidates.every((candidate) => escapeFilters.has(candidate.filters.at(-1)?.name ?? '')),
      escapes: 0,
      breaksLines: false,
      name: null,
      assignedEscaped: false,
      insideCapture,
      inAttribute: false,
    };
    const guard = facts.escaped ? null : this.printer.guard(facts);
    const print = this.printer.print(facts);
    tag.print = (value, run) => print(guard ? guard(value, run) : value, run);
  }
}

// The path that an output prints, as its author wrote it; null for anything richer.
function pathText(value: Value): string | null {
  const [only] = value.initial.postfix;
  return value.initial.postfix.length === 1 && TypeGuards.isPropertyAccessToken(only) ? only.getText() : null;
}

// Tells whoever asked that an output prints nothing, after the filters that may give it something to print.
function noting(path: string | null, print: (value: unknown, run: Run) => unknown) {
  if (path === null) return print;
  return (value: unknown, run: Run) => {
    const { missing } = run.variables;
    if (missing && isMissing(value)) missing.add(path);
    return print(value, run);
  };
}

// An object is gone through as a whole to be printed, and may print as nothing.
function counting(print: (value: unknown, run: Run) => unknown): (value: unknown, run: Run) => unknown {
  return (value, run) => {
    if (typeof value === 'object' && value !== null) spendValue(run, value);
    return print(value, run);
  };
}

// The guard goes as far back as only filters follow that keep escaped text escaped.
function guardPlace(filters: readonly Filter[]): number {
  let place = filters.length;
  while (place > 0 && keepsEscaped(filters[place - 1])) place -= 1;
  return place;
}

function keepsEscaped(filter: Filter | undefined): boolean {
  return (
    filter !== undefined &&
    keepingFilters.has(filter.name) &&
    filter.args.every((arg) => !Array.isArray(arg) && isLiteral(arg))
  );
}

function isLiteral(token: unknown): boolean {
  return TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token) || TypeGuards.isLiteralToken(token);
}

function bareName(value: Value, scope: VariableScope | null): string | null {
  const [only] = value.initial.postfix;
  if (value.initial.postfix.length !== 1 || !TypeGuards.isPropertyAccessToken(only)) return null;
  const [root] = only.props;
  if (only.variable || only.props.length !== 1 || !TypeGuards.isWordToken(root)) return null;
  for (let outer = scope; outer !== null; outer = outer.parent) if (outer.names.has(root.content)) return null;
  return root.content;
}

function namesAssignedEscaped(nodes: readonly Node[]): ReadonlySet<string> {
  const escaped = new Set<string>();
  const other = new Set<string>();
  someNode(nodes, (node) => {
    if (node.kind === 'assign') {
      const { filters } = node.value;
      const isEscaped = escapeFilters.has(filters[guardPlace(filters) - 1]?.name ?? '');
      (isEscaped ? escaped : other).add(node.name);
    } else if (node.kind === 'capture' || node.kind === 'counter') {
      other.add(node.name);
    }
    return false;
  });
  for (const name of other) escaped.delete(name);
  return escaped;
}

/** Writes into HTML: what a stranger may have written is escaped, unless the project turned that off. */
export function htmlPrinter({ escapeValues }: { escapeValues: boolean }): Printer {
  return {
    guard({ sources, name, assignedEscaped, inAttribute }) {
      if (sources === noSources) return null;
      const asItIs = (value: unknown, run: Run) => mapText(value, (text) => noted(text, run, inAttribute));
      if (!escapeValues) return asItIs;
      return (value, run) => {
        const captured = name === null ? undefined : run.captures?.get(name);
        if (captured && captured.plain === value) return captured.html;
        if (assignedEscaped && name !== null && lookUp(run.variables, name) === undefined) return value;
        return allTrusted(sources, run.variables) ? asItIs(value, run) : mapText(value, escapeHtml);
      };
    },
    print({ raw, escaped, insideCapture, inAttribute, sources }) {
      const format = inAttribute ? plainText : htmlText;
      const write = (value: unknown, run: Run) => (raw ? noted(rawText(value), run, inAttribute) : format(value));
      if (!insideCapture) return write;
      return (value, run) => {
        const html = write(value, run);
        const wasEscaped =
          escapeValues && !raw && (escaped || (sources !== noSources && !allTrusted(sources, run.variables)));
        return new Printed(wasEscaped ? unescapeHtml(html) : html, html);
      };
    },
  };
}

// Notes when a text that goes into the HTML as it is may change the markup around it.
function noted(text: string, run: Run, inAttribute: boolean): string {
  if (!run.insertedMarkup && (inAttribute ? /["'<]/.test(text) : text.includes('<'))) run.insertedMarkup = true;
  return text;
}

/** Writes plain text: a subject, a header, a part of a webhook's body. */
export const textPrinter: Printer = {
  guard: () => null,
  print: ({ raw }) => (raw ? rawText : plainText),
};
