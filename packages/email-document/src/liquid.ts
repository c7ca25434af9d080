import type { Block } from './schema.ts';

/** Black or white: whichever reads better on a color such as `#1a2b3c`. */
export function readableOn(color: string): string {
  return luminance(color) > 0.36 ? '#111827' : '#ffffff';
}

/** A color that reads on nearly black, of the same hue where it is too dark. */
export function onDark(color: string): string {
  let parts = channels(color);
  while (luminanceOf(parts) < 0.3) parts = parts.map((part) => part + (255 - part) * 0.2 + 1);
  return `#${parts.map((part) => Math.min(255, Math.round(part)).toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: string): number {
  return luminanceOf(channels(color));
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

// WCAG 2.2, relative luminance.
function luminanceOf(parts: number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = Math.min(255, part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const delimited = /(\{\{.*?\}\}|\{%.*?%\})/gs;

/** Text as HTML. What stands between Liquid's delimiters stays as it is. */
export function escapeText(text: string): string {
  return text
    .split(delimited)
    .map((part, index) => (index % 2 === 1 ? part : escapeHtml(part)))
    .join('');
}

function escapeHtml(text: string): string {
  return entities(text).replaceAll('"', '&quot;');
}

/** A variable as an output; the fallback stands in for what a contact has not. */
export function output(name: string, fallback: string): string {
  // Literals are inserted as they are, and entities between delimiters are decoded once before.
  return fallback === '' ? `{{ ${pathOf(name)} }}` : `{{ ${pathOf(name)} ?? ${literal(entities(fallback))} }}`;
}

/** A variable as somebody would type it into a text, such as a subject: `{{ firstName ?? "there" }}`. */
export function variableText(name: string, fallback: string): string {
  const quote = fallback.includes('"') && !fallback.includes("'") ? "'" : '"';
  const plain = fallback.replaceAll(/[{}%|\r\n]/g, ' ').replaceAll(quote, '”');
  return plain.trim() === '' ? `{{ ${pathOf(name)} }}` : `{{ ${pathOf(name)} ?? ${quote}${plain}${quote} }}`;
}

/** The tags around a conditional block. */
export function conditionTags({ variable, operator, value }: Extract<Block, { type: 'conditional' }>['attrs']) {
  const path = pathOf(variable);
  const is = `${path} == ${literal(value)}${isPlain(value) ? ` or ${path} == ${value}` : ''}`;
  const number = String(Number(value) || 0);
  const condition = {
    exists: path,
    missing: path,
    equals: is,
    notEquals: is,
    contains: `${path} contains ${literal(value)}`,
    greaterThan: `${path} > ${number}`,
    lessThan: `${path} < ${number}`,
  }[operator];
  return operator === 'missing' || operator === 'notEquals'
    ? { open: `{% unless ${condition} %}`, close: '{% endunless %}' }
    : { open: `{% if ${condition} %}`, close: '{% endif %}' };
}

/** The tags around a repeated block. */
export function repeatTags({ list, item, limit }: Extract<Block, { type: 'repeat' }>['attrs']) {
  const most = limit === null ? '' : ` limit: ${limit}`;
  return { open: `{% for ${item} in ${pathOf(list)}${most} %}`, close: '{% endfor %}' };
}

function entities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// A number or a truth value is stored as such or as text: both are meant.
function isPlain(value: string): boolean {
  return /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(value);
}

// Liquid has no escapes in strings.
function literal(text: string): string {
  const plain = entities(text.replaceAll(/[{}%|\r\n]/g, ' '));
  return plain.includes('"') && !plain.includes("'") ? `'${plain}'` : `"${plain.replaceAll('"', '”')}"`;
}

// Names with spaces and the like are keys of the contact's data.
function pathOf(name: string): string {
  const [first = '', ...rest] = name.split('.').map((part) => part.trim());
  const step = (part: string) => (/^[\p{L}\p{N}_-]+$/u.test(part) ? `.${part}` : `["${part}"]`);
  return `${/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(first) ? first : `data${step(first)}`}${rest.map(step).join('')}`;
}
