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
  readonly slot: string;
  out: string;
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
export function startRun(variables: Variables, slot: string, slots: unknown[]): Run {
  return {
    variables,
    slot,
    out: '',
    slots,
    steps: 0,
    deadline: performance.now() + renderLimits.milliseconds,
    context: null,
    insertedMarkup: false,
    captures: null,
  };
}

/** Throws when a rendered text is too long. */
export function checkLength(text: string): void {
  if (text.length > renderLimits.characters) throw new RenderLimitError('The rendered template is longer than 10 MB');
}

/** To be called at every output and every turn of a loop. */
export function checkLimits(run: Run): void {
  if (run.out.length > renderLimits.characters)
    throw new RenderLimitError('The rendered template is longer than 10 MB');
  run.steps += 1;
  if ((run.steps & 63) === 0 && performance.now() > run.deadline)
    throw new RenderLimitError('Rendering the template took longer than a second');
}
