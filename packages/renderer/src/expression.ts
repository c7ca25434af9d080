/**
 * Converts the text between `{{` and `}}` to plain Liquid: the older forms of the template language (`??` with a
 * literal, keys with spaces, nothing at all) are rewritten, everything else is left to Liquid.
 */

const entities: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&amp;': '&',
  '&nbsp;': '\u00a0',
  '&#160;': '\u00a0',
};

/** Undoes what visual editors write inside delimiters (docs/contract/core.md#2-4), each entity once. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:lt|gt|quot|apos|amp|nbsp|#34|#39|#160);/g, (entity) => entities[entity] ?? entity);
}

/** Rewrites the inside of an output into the expression Liquid reads. */
export function liquidExpression(inside: string): string {
  const [head, ...rest] = splitExpression(inside);
  let code = head === undefined || head.text === '' ? '""' : expressionHead(head.text);
  let previous = '';
  for (const part of rest) {
    if (part.separator === '|') code += ` | ${part.text}`;
    else if (previous !== '??') code += ` | default: ${literal(part.text)}`;
    previous = part.separator;
  }
  return code;
}

/** A path with an optional literal for when it leads nowhere: all that is understood of a template that does not parse. */
export interface PlainOutput {
  path: string[];
  fallback: string | null;
}

/** Reads `path` or `path ?? literal`; null for anything richer. */
export function plainOutput(inside: string): PlainOutput | null {
  const [head, second, ...more] = splitExpression(inside);
  if (head === undefined || more.some((part) => part.separator === '|') || second?.separator === '|') return null;
  if (head.text === '' && !second) return { path: [], fallback: '' };
  const path = readPath(head.text);
  return path && { path, fallback: second ? unquote(second.text) : null };
}

interface Part {
  separator: string;
  text: string;
}

// Cuts at every `|` and `??` outside quotes.
function splitExpression(inside: string): Part[] {
  const parts: Part[] = [];
  const quoteEnd = quoteFinder(inside);
  let separator = '';
  let begin = 0;
  for (let i = 0; i < inside.length; i++) {
    const end = quoteEnd(i);
    if (end !== -1) {
      i = end;
      continue;
    }
    const width = inside[i] === '|' ? 1 : inside.startsWith('??', i) ? 2 : 0;
    if (width === 0) continue;
    parts.push({ separator, text: tidy(inside.slice(begin, i)) });
    separator = inside.slice(i, i + width);
    i += width - 1;
    begin = i + 1;
  }
  parts.push({ separator, text: tidy(inside.slice(begin)) });
  return parts;
}

/**
 * Answers where the quoted text that begins at a place ends, or -1 when none begins there. Where it looks it goes no further
 * than `to`. A quote right behind a letter or a digit is an apostrophe, so that `{{name ?? don't know}}` is what it looks
 * like. However many quotes are not closed, all look-ups together take time in proportion to the text.
 */
export function quoteFinder(text: string, from = 0, to = text.length): (at: number) => number {
  // For each place the next closing quote of one kind, as it looks to quoted text that has come so far.
  let ends: Record<string, Int32Array> | null = null;
  return (at) => {
    const quote = text[at];
    if (quote !== '"' && quote !== "'") return -1;
    if (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return -1;
    // Most quoted text is short: it is looked for first without a table.
    const near = Math.min(to, at + nearby);
    for (let i = at + 1; i < near; i++) {
      if (text[i] === '\\') i += 1;
      else if (text[i] === quote) return i;
    }
    if (near === to) return -1;
    ends ??= {};
    ends[quote] ??= closingQuotes(text, quote, from, to);
    return ends[quote][at + 1 - from] ?? -1;
  };
}

const nearby = 64;

function closingQuotes(text: string, quote: string, from: number, to: number): Int32Array {
  const ends = new Int32Array(Math.max(0, to - from) + 2).fill(-1);
  for (let at = to - 1; at >= from; at--) {
    const place = at - from;
    if (text[at] === '\\') ends[place] = ends[place + 2] ?? -1;
    else ends[place] = text[at] === quote ? at : (ends[place + 1] ?? -1);
  }
  return ends;
}

function isQuoted(text: string): boolean {
  return text !== '' && quoteFinder(text)(0) === text.length - 1;
}

// By hand, because a regular expression for the end tries its luck at every blank.
function tidy(text: string): string {
  let begin = 0;
  let end = text.length;
  while (begin < end && isBlank(text.charCodeAt(begin))) begin += 1;
  while (end > begin && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(begin, end);
}

// Reports whether `\s` matches a character.
function isBlank(code: number): boolean {
  return code <= 0x20
    ? code === 0x20 || (code >= 9 && code <= 13)
    : code >= 0xa0 && /\s/.test(String.fromCharCode(code));
}

function literal(text: string): string {
  return isQuoted(text) ? text : quote(unquote(text));
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

const typographicQuotes = /^(?:“(.*)”|‘(.*)’|„(.*)“)$/s;

function unquote(text: string): string {
  if (isQuoted(text)) return text.slice(1, -1).replace(/\\(["'\\])/g, '$1');
  const typographic = typographicQuotes.exec(text);
  return typographic ? (typographic[1] ?? typographic[2] ?? typographic[3] ?? '') : text;
}

const liquidPath = /^-?(?:[\w\u0080-\uffff?-]+)(?:\.[\w\u0080-\uffff?-]+)*$/;
const number = /^-?\d+(?:\.\d+)?$/;
// Marks of Liquid's own syntax, and the signs by which other template languages open their blocks.
const notAKey = /["'“”|=<>!()[\]{},:;\\]|^[#/^>!&*]/;

function expressionHead(text: string): string {
  if (number.test(text) || (liquidPath.test(text) && !/[\u00a0\u2000-\u200a\u3000]/.test(text))) return text;
  const path = readPath(text);
  if (!path || text.includes('[')) return text;
  return path
    .map((key, i) => (liquidPath.test(key) && !key.includes('.') ? (i === 0 ? key : `.${key}`) : `[${quote(key)}]`))
    .join('');
}

// Dotted keys, each of which may hold spaces, and bracketed ones after them; null for what is no path.
function readPath(text: string): string[] | null {
  const path: string[] = [];
  let rest = text;
  const head = /^[^[\]]*/.exec(rest)?.[0] ?? '';
  if (head !== '') {
    if (notAKey.test(head.replace(/(?<=[\p{L}\p{N}])'/gu, ''))) return null;
    for (const key of head.split('.')) path.push(tidy(key).replace(/[\s\u00a0]+/g, ' '));
    rest = rest.slice(head.length);
  }
  while (rest !== '') {
    const bracket = /^\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\](?:\.([^[\].]+))*/.exec(rest);
    if (!bracket) return null;
    path.push(bracket[1] ?? bracket[2] ?? bracket[3] ?? '');
    const dotted = bracket[0].slice(bracket[0].indexOf(']') + 1);
    if (dotted !== '') for (const key of dotted.slice(1).split('.')) path.push(tidy(key));
    rest = rest.slice(bracket[0].length);
  }
  return path.length > 0 && path.every((key) => key !== '') ? path : null;
}
