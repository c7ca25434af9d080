import sanitize from 'sanitize-html';

const words = (text: string) => text.split(' ');
const cell = words('colspan rowspan valign width height bgcolor');

// The HTML that a mail may contain. Nothing here runs, loads a document or asks for input.
const allowList: sanitize.IOptions = {
  allowedTags: words(
    'a abbr address article aside b blockquote br caption center cite code col colgroup dd del dfn div dl dt em figcaption ' +
      'figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q s samp section small span strike ' +
      'strong sub sup table tbody td tfoot th thead time tr u ul var wbr',
  ),
  // The content of these is no text for a reader.
  nonTextTags: words(
    'script style title head template noscript noembed noframes iframe object embed applet svg math textarea select ' +
      'option button xmp plaintext audio video canvas frameset',
  ),
  allowedAttributes: {
    '*': words('align dir lang title style'),
    a: words('href name'),
    img: words('src alt width height'),
    font: words('color face size'),
    col: words('span width'),
    colgroup: words('span width'),
    ol: words('start type'),
    table: words('border cellpadding cellspacing width bgcolor'),
    td: cell,
    th: cell,
  },
  allowedSchemes: words('http https mailto'),
  allowProtocolRelative: false,
  // The library would parse each style with postcss, which takes three times as long; `safeStyle` does without.
  parseStyleAttributes: false,
  selfClosing: words('br col hr img wbr'),
};

// Finding the element that an end tag closes takes as long as elements are open.
const deepest = 500;

/** Longest sanitized body that is kept, in UTF-16 units; what is longer is cut. */
export const mostBodyLength = 1024 * 1024;

/**
 * The HTML of a received mail as it may be shown (docs/contract/platform.md#8-4): an allow-list of elements and attributes, links
 * by http, https and mailto only, styles that load nothing. A body that comes out too long, or has too many elements within one
 * another, is cut in half until it fits.
 */
export function sanitizeHtml(html: string): string {
  for (let part = html; ; part = part.slice(0, part.length >> 1)) {
    const written = sanitized(part);
    if (written !== null) return written.trim();
  }
}

const tooMuch = new Error('The HTML is too long, or nested too deeply');

function sanitized(html: string): string | null {
  let depth = 0;
  let length = 0;
  // Reading ends where the limits are reached, however much there is behind.
  const count = (more: number) => {
    length += more;
    if (length > mostBodyLength || depth > deepest) throw tooMuch;
  };
  try {
    const written = sanitize(html, {
      ...allowList,
      onOpenTag(name) {
        depth += 1;
        count('<></>'.length + 2 * name.length);
      },
      onCloseTag() {
        depth -= 1;
      },
      textFilter(text) {
        count(text.length);
        return text;
      },
      transformTags: { '*': (tagName, attribs) => ({ tagName, attribs: withSafeValues(attribs) }) },
    });
    return written.length <= mostBodyLength ? written : null;
  } catch (error) {
    if (error === tooMuch) return null;
    throw error;
  }
}

/** Plain text as HTML that looks like it. */
export function textAsHtml(text: string): string {
  const escaped = text.slice(0, mostBodyLength / 4).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return escaped.replace(/\r\n?|\n/g, '<br>');
}

function withSafeValues({ href, src, style, ...others }: sanitize.Attributes): sanitize.Attributes {
  const [safeHref, safeSrc] = [safeLink(href), safeLink(src)];
  return {
    ...others,
    ...(safeHref === null ? {} : { href: safeHref }),
    ...(safeSrc === null ? {} : { src: safeSrc }),
    ...(style === undefined ? {} : { style: safeStyle(style) }),
  };
}

// The library lets links without a scheme pass, which in a mail lead nowhere. Control characters and blanks before a scheme are
// dropped as browsers drop them; with one inside its scheme a link is left out.
function safeLink(value: string | undefined): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what hides a scheme
  const link = value?.replace(/^[\u0000-\u0020\u007f-\u00a0\u200b-\u200d\ufeff]+/, '').trimEnd() ?? '';
  // The library takes comments out of links, in time that grows with their square; no link has one.
  return /^(?:https?:\/\/|mailto:)/i.test(link) && !link.includes('<!--') ? link : null;
}

// A declaration with a function that loads or runs something, or with an escape that could hide one, is left out.
function safeStyle(value: string): string {
  return value
    .split(';')
    .map((declaration) => declaration.trim())
    .filter(
      (declaration) =>
        /^[a-z-]+\s*:/i.test(declaration) &&
        !/[\\<>@]|\/\*|url|image|expression|behaviou?r|binding|javascript|position/i.test(declaration),
    )
    .join('; ');
}
