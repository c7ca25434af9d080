/** Why the service cannot start, in lines meant for the person at the terminal; no stack is shown with it. */
export class StartError extends Error {
  readonly lines: readonly string[];

  constructor(...lines: string[]) {
    super(lines.join('\n'));
    this.name = 'StartError';
    this.lines = lines;
  }
}

/** The start was interrupted by a signal; nothing is wrong. */
export class StartInterrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'StartInterrupted';
  }
}

/** Throws StartInterrupted once the signal is aborted. */
export function continueUnlessStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new StartInterrupted();
}

/** Returns the message of a thrown value, in one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'no reason given'
  );
}

/** Where `npm start` and `npm test` say what they do. */
export interface Terminal {
  /** A plain line. */
  line(text?: string): void;
  /** One line for one part: what was picked, and the setting that overrides it. */
  part(name: string, picked: string, override?: string): void;
  /** Opens a note about something long. On a terminal it is one line that changes, elsewhere a line every ten seconds. */
  progress(what: string): Progress;
}

/** Something long that is going on. */
interface Progress {
  /** Replaces the detail that stands behind the name. */
  update(detail: string): void;
  /** Ends the note. */
  end(): void;
}

/** The part of a stream that a terminal needs. */
interface TerminalStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

const firstNoteAfterMs = 3_000;
const notesEveryMs = 10_000;

/** Makes a terminal on a stream, by default standard output. */
export function openTerminal(stream: TerminalStream = process.stdout): Terminal {
  const changing = stream.isTTY === true;
  const plain = !changing || (process.env.NO_COLOR ?? '') !== '';
  const dim = (text: string) => (plain ? text : `\x1b[2m${text}\x1b[22m`);
  let shown = '';

  const clear = () => {
    if (shown !== '') stream.write('\r\x1b[K');
    shown = '';
  };
  const line = (text = '') => {
    const note = shown;
    clear();
    stream.write(`${text}\n`);
    if (note !== '') {
      shown = note;
      stream.write(note);
    }
  };

  return {
    line,
    part: (name, picked, override) => line(`${name.padEnd(9)} ${picked}${override ? dim(`  (${override})`) : ''}`),
    progress(what) {
      const began = Date.now();
      let detail = '';
      let nextNote = began + firstNoteAfterMs;
      const show = () => {
        const now = Date.now();
        const text = `${''.padEnd(9)} ${what}${detail === '' ? '' : `: ${detail}`}, ${Math.round((now - began) / 1000)} s`;
        if (changing) {
          clear();
          shown = text.slice(0, Math.max(20, (stream.columns ?? 80) - 1));
          stream.write(shown);
        } else if (now >= nextNote) {
          nextNote = now + notesEveryMs;
          stream.write(`${text}\n`);
        }
      };
      const timer = setInterval(show, changing ? 500 : 1_000);
      return {
        update: (text) => {
          detail = text;
        },
        end: () => {
          clearInterval(timer);
          clear();
        },
      };
    },
  };
}
