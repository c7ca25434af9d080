import type { TextToken } from './text-layout-parts.ts';

/** A fixed part of a template, which all messages made from it share: what can be done to it is done once. */
export class Literal {
  readonly text: string;
  /** Whether none of its characters is half of a surrogate pair. */
  readonly isWellFormed: boolean;
  /** What `layOutParts` found it to be made of; null until it did. */
  tokens: readonly TextToken[] | null = null;
  private bytes: Buffer | null = null;

  constructor(text: string) {
    this.text = text;
    this.isWellFormed = text.isWellFormed();
  }

  /** It as it stands inside a JSON string, in UTF-8 and without the quotes. */
  get json(): Buffer {
    this.bytes ??= Buffer.from(JSON.stringify(this.text).slice(1, -1));
    return this.bytes;
  }
}

/** A part of a filled-in template: fixed, or a value. */
export type FilledPart = Literal | string;

/** A part as a string. */
export function textOf(part: FilledPart): string {
  return typeof part === 'string' ? part : part.text;
}

/**
 * A template with its values filled in, still in its parts. A million messages of one template consist of the same literals
 * and of short values; only who needs one string pays for putting it together.
 */
export class Filled {
  readonly parts: readonly FilledPart[];
  /** In UTF-16 units, as a string would have it. */
  readonly length: number;
  private text: string | null = null;

  constructor(parts: readonly FilledPart[], length: number) {
    this.parts = parts;
    this.length = length;
  }

  static of(text: string): Filled {
    return text === '' ? Filled.empty : new Filled([text], text.length);
  }

  static readonly empty = new Filled([], 0);

  toString(): string {
    if (this.text === null) {
      let text = '';
      for (const part of this.parts) text += textOf(part);
      this.text = text;
    }
    return this.text;
  }
}
