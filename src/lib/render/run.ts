import { Filled, type Literal, type Part } from './filled.ts';
import type { Variables } from './variables.ts';

/** How long one rendering may take, in milliseconds, and how much it may write, in characters (contract page 2, 1.3). */
export const renderLimits = { milliseconds: 1_000, characters: 10_000_000 };

/** A template went over a limit while it rendered. */
export class RenderLimitError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'RenderLimitError';
  }
}

/** Text in HTML, beside what it says: what `capture` leaves behind, so that printing it does not escape its markup. */
export interface Captured {
  plain: string;
  html: string;
}

/** The state of one rendering. */
export interface Run {
  readonly variables: Variables;
  /** What stands where the template was given its slot. */
  readonly slot: Filled;
  /** What was written so far, and its length. */
  readonly parts: Part[];
  length: number;
  slots: unknown[];
  steps: number;
  deadline: number;
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
    deadline: Number.POSITIVE_INFINITY,
    context: null,
    insertedMarkup: false,
    captures: null,
  };
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
}

/** Writes a fixed part of the template. */
export function writeLiteral(run: Run, literal: Literal): void {
  run.parts.push(literal);
  run.length += literal.text.length;
}

/** What a run has written. */
export function filledBy({ parts, length }: Run): Filled {
  return new Filled(parts, length);
}

/** Throws when a rendered text, of which this is the length, is too long. */
export function checkLength(length: number): void {
  if (length > renderLimits.characters) throw new RenderLimitError('The rendered template is longer than 10 MB');
}

const clockFrom = 8;

/** To be called at every output and every turn of a loop. */
export function checkLimits(run: Run): void {
  checkLength(run.length);
  run.steps += 1;
  // Most renderings are over before it is worth to look at the clock.
  if (run.steps === clockFrom) run.deadline = performance.now() + renderLimits.milliseconds;
  if ((run.steps & 63) === 0 && performance.now() > run.deadline)
    throw new RenderLimitError('Rendering the template took longer than a second');
}
