import type { Context } from 'liquidjs';
import { Filled, type FilledPart, type Literal } from './values.ts';
import type { Variables } from './variables.ts';

/**
 * How much one rendering may write, in characters (docs/contract/campaigns-and-workflows.md#1-3), and how many steps it may take.
 * Steps are counted instead of timed, so that a message ends the same way on every machine. They stand for less than the
 * contract's second.
 */
export const renderLimits = { characters: 10_000_000, steps: 100_000 };

/** A template went over a limit while it rendered. */
export class RenderLimitError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'RenderLimitError';
  }
}

/** A template asks for more work than one message may cost: its mail is not sent. */
export class StepLimitError extends RenderLimitError {
  constructor(what: string) {
    super(what);
    this.name = 'StepLimitError';
  }
}

/** Text in HTML, beside what it says: what `capture` leaves behind, so that printing it does not escape its markup. */
interface Captured {
  plain: string;
  html: string;
}

// As many are read in the time of a step.
const charactersPerStep = 128;

/** The state of one rendering. */
export interface Run {
  readonly variables: Variables;
  /** The content for the slot of the template. */
  readonly slot: Filled;
  /** The parts written so far, and their length. */
  readonly parts: FilledPart[];
  length: number;
  slots: unknown[];
  /** The steps taken so far: see `spend`. */
  steps: number;
  /** Liquid's own context, made when the first filter needs it. */
  context: object | null;
  /** Markup was inserted from a value, so the document may hold more than its template shows. */
  insertedMarkup: boolean;
  captures: Map<string, Captured> | null;
}

/** The begin of a rendering. */
export function startRun(variables: Variables, slot: Filled, slots: unknown[]): Run {
  return {
    variables,
    slot,
    parts: [],
    length: 0,
    slots,
    steps: 0,
    context: null,
    insertedMarkup: false,
    captures: null,
  };
}

/** The run that a Liquid context belongs to. */
export function runOf(context: Context): Run {
  return context.getRegister<Run>('run');
}

/** Writes what an output prints; the slot's is a text of its own. */
export function writeValue(run: Run, value: unknown): void {
  if (value instanceof Filled) {
    for (const part of value.parts) run.parts.push(part);
    run.length += value.length;
    return;
  }
  const text = typeof value === 'string' ? value : String(value);
  if (text === '') return;
  run.parts.push(text);
  run.length += text.length;
  if (text.length > charactersPerStep) spendCharacters(run, text.length);
}

/** Writes a fixed part of the template. */
export function writeLiteral(run: Run, literal: Literal): void {
  spend(run, 1);
  run.parts.push(literal);
  run.length += literal.text.length;
}

/** Returns the output of a run. */
export function filledBy({ parts, length }: Run): Filled {
  return new Filled(parts, length);
}

/** Throws when a rendered text, of which this is the length, is too long. */
export function checkLength(length: number): void {
  if (length > renderLimits.characters) throw new RenderLimitError('The rendered template is longer than 10 MB');
}

/**
 * Counts steps of a rendering: one for each output, condition, assignment and turn of a loop, more for what filters and
 * comparisons read. @throws StepLimitError beyond the limit
 */
export function spend(run: Run, steps: number): void {
  run.steps += steps;
  if (run.steps > renderLimits.steps)
    throw new StepLimitError(
      `The template takes more than ${renderLimits.steps.toLocaleString('en-US')} steps to render`,
    );
}

/** Counts the steps of reading so many characters. */
export function spendCharacters(run: Run, characters: number): void {
  spend(run, Math.ceil(characters / charactersPerStep));
}

/**
 * Counts a step for each value inside a value, and those of its texts. A list that a template nests in itself may hold more
 * values than there are bytes of memory, so that it is measured before anything goes through it.
 */
export function spendValue(run: Run, value: unknown): void {
  if (typeof value === 'string') spendCharacters(run, value.length);
  if (typeof value !== 'object' || value === null) return;
  const open: object[] = [value];
  for (let inside = open.pop(); inside !== undefined; inside = open.pop()) {
    const values = Array.isArray(inside) ? inside : Object.values(inside);
    spend(run, 1 + values.length);
    for (const one of values) {
      if (typeof one === 'string') {
        if (one.length > charactersPerStep) spendCharacters(run, one.length);
      } else if (typeof one === 'object' && one !== null) open.push(one);
    }
  }
}

/** Counts the steps of comparing two values. */
export function spendComparison(run: Run, a: unknown, b: unknown): void {
  if (typeof a === 'string') spendCharacters(run, typeof b === 'string' ? Math.min(a.length, b.length) : a.length);
  else if (typeof a === 'object' && a !== null) {
    spendValue(run, a);
    if (typeof b === 'object') spendValue(run, b);
  }
}

/** To be called at every output and every turn of a loop. */
export function checkLimits(run: Run): void {
  checkLength(run.length);
  spend(run, 1);
}
