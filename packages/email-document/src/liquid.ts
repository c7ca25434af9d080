import type { Block } from './schema.ts';

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
