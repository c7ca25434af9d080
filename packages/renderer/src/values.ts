import { toValue } from 'liquidjs';
import type { TextToken } from './text-layout-parts.ts';

const htmlSpecial = /[&<>"']/;
const htmlSpecials = /[&<>"']/g;

const htmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/** Writes text so that it stands in HTML, as text or in a quoted attribute, as exactly that text. */
export function escapeHtml(text: string): string {
  return htmlSpecial.test(text) ? text.replace(htmlSpecials, (char) => htmlEntities[char] ?? char) : text;
}

const characters: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#34;': '"', '&#39;': "'" };

/** Takes back what `escapeHtml` did. */
export function unescapeHtml(html: string): string {
  return html.replace(/&(?:amp|lt|gt|#34|#39);/g, (entity) => characters[entity] ?? entity);
}

/** The text of a value that is no list: nothing for a missing one, JSON for an object. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  const plain: unknown = toValue(value);
  return typeof plain === 'object' && plain !== null ? (JSON.stringify(plain) ?? '') : valueText(plain);
}

/** A value as it is printed in HTML, escaping aside: a list becomes one `<li>` per item. */
export function htmlText(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => `<li>${valueText(item)}</li>`).join('\n');
  return valueText(value);
}

/** A value as it is printed in a subject or another plain text: a list is joined by commas. */
export function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  return valueText(value);
}

/** A value as `| raw` prints it: a list loses its item tags. */
export function rawText(value: unknown): string {
  return Array.isArray(value) ? value.map(rawText).join('') : valueText(value);
}

/** Applies `change` to the text in a value; numbers, booleans and missing values keep their kind, so that `default` sees them. */
export function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value))
    return value.map((item: unknown) => (isScalar(item) ? mapText(item, change) : change(valueText(item))));
  return change(valueText(value));
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** A fixed part of a template, which all messages made from it share: what can be done to it is done once. */
export class Literal {
  readonly text: string;
  /** Whether none of its characters is half of a surrogate pair. */
  readonly isWellFormed: boolean;
  /** The tokens that `layOutParts` found; null until then. */
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
