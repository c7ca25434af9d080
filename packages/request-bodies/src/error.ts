/**
 * Why a body is refused: it is too large, it cannot be read as what it should be, a string in it holds U+0000, or there is no
 * memory for it at the moment.
 */
export type BodyFault =
  | { kind: 'tooLarge'; limitBytes: number }
  | { kind: 'malformed' }
  | { kind: 'nul'; path: string }
  | { kind: 'busy' };

/** The refusal of a body; its message is for whoever sent it. */
export class BodyError extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault, message: string) {
    super(message);
    this.name = 'BodyError';
    this.fault = fault;
  }
}

/** A body that is larger than its limit. */
export function tooLarge(limitBytes: number): BodyError {
  return new BodyError({ kind: 'tooLarge', limitBytes }, `The body is larger than ${sizeText(limitBytes)}`);
}

/** A body that cannot be read. */
export function malformed(message: string): BodyError {
  return new BodyError({ kind: 'malformed' }, message);
}

/** A body that there is no memory for. */
export function busy(): BodyError {
  return new BodyError({ kind: 'busy' }, 'Too many large requests are in progress');
}

const kilobyte = 1024;
const megabyte = 1024 * 1024;

/** A number of bytes in words: `16 kB`, `50 MB`. */
export function sizeText(bytes: number): string {
  return bytes < megabyte ? `${bytes / kilobyte} kB` : `${bytes / megabyte} MB`;
}
