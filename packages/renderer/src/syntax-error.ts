/**
 * A template that does not parse. `line` and `column` count from 1 in the source as its author wrote it; `reason` says
 * what is wrong, `message` says the same and shows the place.
 */
export class TemplateSyntaxError extends Error {
  readonly line: number;
  readonly column: number;
  readonly reason: string;

  constructor(reason: string, source: string, offset: number) {
    const { line, column } = placeOf(source, offset);
    super(`${reason} at line ${line}, column ${column}${excerpt(source, offset)}`);
    this.name = 'TemplateSyntaxError';
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** A template that takes more steps to parse than there are for one. Its mail is not sent. */
export class TemplateTooLargeError extends TemplateSyntaxError {}

function placeOf(source: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let next = source.indexOf('\n'); next !== -1 && next < offset; next = source.indexOf('\n', next + 1)) {
    line += 1;
    lineStart = next + 1;
  }
  return { line, column: Math.max(0, Math.min(offset, source.length) - lineStart) + 1 };
}

function excerpt(source: string, offset: number): string {
  const rest = source.slice(offset, offset + 60);
  const shown = (rest.split('\n', 1)[0] ?? '').trim();
  return shown === '' ? '' : `: ${shown}${rest.length === 60 ? '…' : ''}`;
}
