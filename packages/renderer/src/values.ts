import { toValue } from 'liquidjs';

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
