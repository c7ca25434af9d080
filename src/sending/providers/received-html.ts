import { Parser } from 'htmlparser2';

// What the text of a mail may be made of. Nothing here runs, loads a document or asks for input.
const allowed = new Set(
  (
    'a abbr address article aside b blockquote br caption center cite code col colgroup dd del dfn div dl dt em figcaption ' +
    'figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q s samp section small span strike ' +
    'strong sub sup table tbody td tfoot th thead time tr u ul var wbr'
  ).split(' '),
);
const empty = new Set(['br', 'col', 'hr', 'img', 'wbr']);
// What stands inside these is no text for a reader.
const swallowed = new Set(
  (
    'script style title head template noscript noembed noframes iframe object embed applet svg math textarea select ' +
    'option button xmp plaintext audio video canvas frameset'
  ).split(' '),
);
const everywhere = new Set(['align', 'dir', 'lang', 'title', 'style']);
const attributes: Record<string, ReadonlySet<string>> = {
  a: new Set(['href', 'name']),
  img: new Set(['src', 'alt', 'width', 'height']),
  font: new Set(['color', 'face', 'size']),
  col: new Set(['span', 'width']),
  colgroup: new Set(['span', 'width']),
  ol: new Set(['start', 'type']),
  table: new Set(['border', 'cellpadding', 'cellspacing', 'width', 'bgcolor']),
  td: new Set(['colspan', 'rowspan', 'valign', 'width', 'height', 'bgcolor']),
  th: new Set(['colspan', 'rowspan', 'valign', 'width', 'height', 'bgcolor']),
};
const links = new Set(['href', 'src']);

// Finding the element that an end tag closes takes as long as elements are open.
const deepest = 500;
const pieceLength = 16 * 1024;

/** Longest sanitised body that is kept, in UTF-16 units; what is longer is cut at an element or a piece of text. */
export const mostBodyLength = 1024 * 1024;

/**
 * The HTML of a received mail as it may be shown (contract page 3, 8.4): an allow-list of elements and attributes, links by
 * http, https and mailto only, styles that load nothing. What comes out is written anew from the parsed pieces, so that
 * nothing of the input's own markup survives.
 */
export function sanitizeHtml(html: string): string {
  const parts: string[] = [];
  const open: string[] = [];
  let room = mostBodyLength;
  let depth = 0;
  let hidden = 0;
  // An element brings the length of its end along, so that what is cut is still closed.
  const write = (part: string, end = '') => {
    room -= part.length + end.length;
    if (room >= 0) parts.push(part);
    return room >= 0;
  };
  const parser = new Parser(
    {
      onopentag(name, given) {
        depth += 1;
        if (swallowed.has(name)) hidden += 1;
        if (hidden > 0 || !allowed.has(name)) return;
        const start = `<${name}${attributesOf(name, given)}>`;
        if (empty.has(name)) write(start);
        else if (write(start, `</${name}>`)) open.push(name);
      },
      ontext(text) {
        if (hidden === 0) write(escapeHtml(text));
      },
      onclosetag(name) {
        depth -= 1;
        if (swallowed.has(name)) hidden = Math.max(0, hidden - 1);
        else if (hidden === 0 && open.includes(name)) {
          for (let last = open.pop(); last !== undefined; last = open.pop()) {
            parts.push(`</${last}>`);
            if (last === name) return;
          }
        }
      },
    },
    { decodeEntities: true },
  );
  // In pieces: what is full or nested beyond sense is not read on, however much there is of it.
  for (let at = 0; at < html.length && room >= 0 && depth <= deepest; at += pieceLength)
    parser.write(html.slice(at, at + pieceLength));
  parser.end();
  return parts
    .concat(open.reverse().map((name) => `</${name}>`))
    .join('')
    .trim();
}

/** Plain text as HTML that looks like it. */
export function textAsHtml(text: string): string {
  return escapeHtml(text.slice(0, mostBodyLength / 4)).replace(/\r\n?|\n/g, '<br>');
}

function attributesOf(element: string, given: Record<string, string>): string {
  let text = '';
  for (const [name, value] of Object.entries(given)) {
    if (!everywhere.has(name) && !attributes[element]?.has(name)) continue;
    const kept = links.has(name) ? safeLink(value) : name === 'style' ? safeStyle(value) : value;
    if (kept !== null) text += ` ${name}="${escapeHtml(kept)}"`;
  }
  return text;
}

// Control characters and blanks inside a scheme are dropped by browsers, so that they are dropped before it is read.
function safeLink(value: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what hides a scheme
  const plain = value.replace(/[\u0000-\u0020\u007f-\u00a0\u200b-\u200d\ufeff]/g, '');
  return /^(?:https?:\/\/|mailto:)/i.test(plain) ? value.trim() : null;
}

// A declaration with a function that loads or runs something, or with an escape that could hide one, is left out.
function safeStyle(value: string): string | null {
  const kept = value
    .split(';')
    .map((declaration) => declaration.trim())
    .filter(
      (declaration) =>
        /^[a-z-]+\s*:/i.test(declaration) &&
        !/[\\<>@]|\/\*|url|image|expression|behaviou?r|binding|javascript|position/i.test(declaration),
    );
  return kept.length === 0 ? null : kept.join('; ');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
