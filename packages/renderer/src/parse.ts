import { type Liquid, LiquidError, Parser, type Template, type Token, Tokenizer, type TopLevelToken } from 'liquidjs';
import { compileTemplate, type Program } from './compile.ts';
import { countHeavyValues } from './evaluate.ts';
import { attributeMark, createEngine } from './liquid.ts';
import { type Markup, type MarkupPlace, readMarkup } from './markup.ts';
import { readNodes, TemplateSyntaxError } from './nodes.ts';
import { attachPrinter, htmlPrinter, type Printer, textPrinter } from './printing.ts';
import { cutSource, joinPieces, type Piece } from './source.ts';

/** The format of a template, and whether its values are escaped. */
export interface TemplateOptions {
  /** `html` escapes what strangers may have written; `text` (subjects, headers, webhooks) never escapes. */
  mode: 'html' | 'text';
  /** False leaves every value as it is, for projects that keep markup in contact data. Default true. */
  escapeValues?: boolean;
}

/** A template that is ready to render any number of times. */
export interface ParsedTemplate {
  readonly source: string;
  readonly mode: 'html' | 'text';
  readonly escapeValues: boolean;
  /** Why the template is only filled in plainly, or null when it parsed. */
  readonly problem: TemplateSyntaxError | null;
  /** The parts of the source, or none when it did not parse. */
  readonly pieces: readonly Piece[];
  /** The HTML around them, where the template is HTML and parsed. */
  readonly markup: Markup | null;
  /** Null when the template did not parse. */
  readonly body: ParsedBody | null;
}

/** The two ways a parsed template can be rendered. */
export interface ParsedBody {
  readonly engine: Liquid;
  readonly nodes: Template[];
  readonly program: Program | null;
}

const strictEngine = createEngine({ strict: true });
const lenientEngine = createEngine({ strict: false });

/** Parses a template to be saved. Throws `TemplateSyntaxError` for anything that would not render as its author means. */
export function parseTemplate(source: string, options: TemplateOptions): ParsedTemplate {
  return parse(source, options, strictEngine);
}

/** Parses a template to be sent. Never throws: what does not parse is filled in plainly, and `problem` says why. */
export function prepareTemplate(source: string, options: TemplateOptions): ParsedTemplate {
  try {
    return parse(source, options, lenientEngine);
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    const { mode, escapeValues = true } = options;
    return { source, mode, escapeValues, problem: error, pieces: [], markup: null, body: null };
  }
}

function parse(source: string, { mode, escapeValues = true }: TemplateOptions, engine: Liquid): ParsedTemplate {
  const cut = cutSource(source);
  const markup = mode === 'html' ? readMarkup(source, cut) : null;
  const pieces = markup ? cut.map((piece, i) => inItsPlace(piece, markup.places[i])) : cut;
  const printer = mode === 'html' ? htmlPrinter({ escapeValues }) : textPrinter;
  return {
    source,
    mode,
    escapeValues,
    problem: null,
    pieces,
    markup,
    body: parsePieces(source, pieces, printer, engine),
  };
}

// Tells an output that stands in an attribute, where a list has no item tags and a quote would end the value.
function inItsPlace(piece: Piece, place: MarkupPlace | undefined): Piece {
  if (piece.kind !== 'output' || place?.kind !== 'attribute') return piece;
  return { ...piece, code: piece.code.replace(/-?\}\}$/, `| ${attributeMark} $&`) };
}

/** Parses pieces whose outputs are written by the given printer. Throws `TemplateSyntaxError`. */
export function parsePieces(
  source: string,
  pieces: readonly Piece[],
  printer: Printer,
  engine = lenientEngine,
): ParsedBody {
  const joined = joinPieces(pieces);
  try {
    const nodes = parseCode(joined.code, engine);
    const tree = readNodes(nodes);
    attachPrinter(tree, printer, engine);
    countHeavyValues(tree);
    return { engine, nodes, program: compileTemplate(tree, engine) };
  } catch (error) {
    if (LiquidError.is(error)) {
      const { token, originalError } = error as unknown as { token: Token; originalError?: unknown };
      if (originalError instanceof RangeError) throw tooDeep(source);
      throw new TemplateSyntaxError(reasonOf(error), source, joined.sourceOffset(token.begin));
    }
    if (error instanceof RangeError) throw tooDeep(source);
    throw error;
  }
}

// As `engine.parse`, which takes its tokens off the begin of an array: from some size on, each time by moving all others.
function parseCode(code: string, engine: Liquid): Template[] {
  const tokens = new Tokenizer(code, engine.options.operators).readTopLevelTokens(engine.options);
  return new Parser(engine).parseTokens(new TokenQueue().filled(tokens));
}

class TokenQueue extends Array<TopLevelToken> {
  filled(tokens: TopLevelToken[]): this {
    for (let i = tokens.length - 1; i >= 0; i--) this.push(tokens[i] as TopLevelToken);
    return this;
  }
  override shift(): TopLevelToken | undefined {
    return this.pop();
  }
}

// The parser and the compiler follow the nesting of tags by recursion, and a stack overflow is how they meet its limit.
function tooDeep(source: string): TemplateSyntaxError {
  return new TemplateSyntaxError('Tags are nested too deeply', source, 0);
}

function reasonOf(error: Error): string {
  const reason = error.message
    .replace(/, line:\d+, col:\d+$/, '')
    .replace(/^undefined filter: (.*)$/, 'unknown filter "$1"');
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}
