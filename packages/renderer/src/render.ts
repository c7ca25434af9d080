import { Parser } from 'htmlparser2';
import { LiquidError } from 'liquidjs';
import { emptySlots } from './compile.ts';
import { createContext, renderNodes } from './liquid.ts';
import { TemplateTooLargeError } from './nodes.ts';
import type { ParsedBody, ParsedTemplate } from './parse.ts';
import { filledBy, type Run, StepLimitError, startRun } from './run.ts';
import { substitute } from './substitute.ts';
import { Filled } from './values.ts';
import { flatten, type Variables } from './variables.ts';

const pieceLength = 4_096;

/**
 * Whether elements nest deeper than `deepest` somewhere in the HTML. A parser looks for the element that an end tag closes
 * among all that are open, so it is given no more once that is known: 100,000 `<div>` would take it minutes.
 */
export function nestsDeeper(html: string, deepest: number): boolean {
  if (!hasOpenings(html, deepest)) return false;
  let depth = 0;
  let greatest = 0;
  const parser = new Parser({
    onopentagname() {
      depth += 1;
      if (depth > greatest) greatest = depth;
    },
    onclosetag() {
      depth -= 1;
    },
  });
  for (let at = 0; at < html.length && greatest <= deepest; at += pieceLength)
    parser.write(html.slice(at, at + pieceLength));
  return greatest > deepest;
}

/** HTML without its tags. */
export function withoutTags(html: string): string {
  return html.replace(/<[^<>]*>?/g, ' ');
}

function hasOpenings(html: string, count: number): boolean {
  const opening = /<[a-z]/gi;
  let found = 0;
  while (found <= count && opening.test(html)) found += 1;
  return found > count;
}

/**
 * Renders a template. What does not parse or writes too much is filled in plainly.
 * @throws StepLimitError for a template that takes more steps than there are for one message
 */
export function render(template: ParsedTemplate, variables: Variables): string {
  return String(renderFully(template, variables, Filled.empty).text);
}

/** A rendered template, and what there is to know about how it went. */
export interface Rendered {
  text: Filled;
  /** Markup came in by a value. */
  insertedMarkup: boolean;
  /** Why the template was only filled in plainly, or null. */
  problem: string | null;
  /** The steps it took. */
  steps: number;
}

/** `render` with a text for the template's slot, if it has one. @throws StepLimitError */
export function renderFully(template: ParsedTemplate, variables: Variables, slot: Filled): Rendered {
  if (template.problem instanceof TemplateTooLargeError) throw new StepLimitError(template.problem.reason);
  if (template.body === null)
    return {
      text: Filled.of(substitute(template.source, variables, template)),
      insertedMarkup: true,
      problem: template.problem?.message ?? null,
      steps: 0,
    };
  try {
    const run = renderBody(template.body, variables, slot);
    return { text: filledBy(run), insertedMarkup: run.insertedMarkup, problem: null, steps: run.steps };
  } catch (fault) {
    const error = causeOf(fault);
    if (error instanceof StepLimitError) throw error;
    return {
      text: Filled.of(substitute(template.source, variables, template)),
      insertedMarkup: true,
      problem: error instanceof Error ? error.message : String(error),
      steps: 0,
    };
  }
}

// liquidjs wraps the cause into an error that names the place.
function causeOf(error: unknown): unknown {
  if (!LiquidError.is(error)) return error;
  const { originalError } = error as unknown as { originalError?: unknown };
  return originalError === undefined ? error : causeOf(originalError);
}

/** Renders by the compiled program, or by liquidjs where there is none. Throws at a limit. */
export function renderBody(body: ParsedBody, variables: Variables, slot: Filled): Run {
  if (body.program === null) return renderByLiquid(body, variables, slot);
  const run = startRun(variables, slot, emptySlots(body.program));
  body.program.execute(run);
  return run;
}

/** Renders by liquidjs, whether or not there is a compiled program. Throws at a limit. */
export function renderByLiquid({ engine, nodes }: ParsedBody, variables: Variables, slot: Filled): Run {
  const run = startRun(variables, slot, []);
  renderNodes(engine, nodes, createContext(flatten(variables), run, engine), run);
  return run;
}

/** The longest subject, in characters (RFC 5322, 2.1.1). */
const subjectLimit = 998;

/** Renders a subject: on one line, without control characters, cut at 998 characters. */
export function renderSubject(template: ParsedTemplate, variables: Variables): string {
  return subjectLine(render(template, variables));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** A text as it may stand in a subject: line breaks become one space, other control characters nothing. */
export function subjectLine(text: string): string {
  const line = text.replace(controls, (run) => (/[\t\n\v\f\r\u0085\u2028\u2029]/.test(run) ? ' ' : ''));
  return line.length <= subjectLimit ? line : line.slice(0, subjectLimit).replace(/[\ud800-\udbff]$/, '');
}
