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

/** What a thrown value says, in one line. */
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
