import { headerPrefix } from '@fernpost/earlier-name';
import { type Markup, type Piece, slotName } from '@fernpost/renderer';
import type { MessageClass } from '../../lib/enums.ts';

/** A header of an outgoing message. */
export interface MessageHeader {
  name: string;
  value: string;
}

/** The facts that decide the headers of a message. */
interface HeaderFacts {
  messageClass: MessageClass;
  isCampaign: boolean;
  /** Where the one-click POST of RFC 8058 goes; null where the message does not offer it. */
  oneClickUrl: string | null;
  /** The caller's own headers by name. */
  custom: Readonly<Record<string, string>> | null;
}

// Names whose values the service or the provider decides (docs/contract/core.md#2-5 and docs/contract/platform.md#10-2), and what
// only a server that received a message may say of it.
const owned = new Set(
  [
    'from to cc bcc subject reply-to return-path sender date message-id mime-version dkim-signature received',
    'authentication-results received-spf x-smtpapi',
  ].flatMap((names) => names.split(' ')),
);
// Headers with these steer providers: streams, tags and metadata of Postmark, configuration sets and identities of Amazon SES, tags and
// variables of Mailgun, as `X-SMTPAPI` does recipients of SendGrid.
const providerPrefixes = ['x-pm-', 'x-ses-', 'x-mailgun-'];
const ownedPrefixes = ['content-', 'x-fernpost-', headerPrefix, 'arc-', 'resent-', ...providerPrefixes];
const unsubscribePair = ['list-unsubscribe', 'list-unsubscribe-post'];

/**
 * The headers of a message: the defaults of its class, and the caller's in their place whatever their letter case. A
 * caller who sets one header of the List-Unsubscribe pair owns both; names that are the service's own are left out.
 */
export function outgoingHeaders({ messageClass, isCampaign, oneClickUrl, custom }: HeaderFacts): MessageHeader[] {
  const defaults: MessageHeader[] = [];
  if (oneClickUrl !== null) defaults.push({ name: 'List-Unsubscribe', value: `<${oneClickUrl}>` }, oneClickPost);
  if (isCampaign || messageClass === 'MARKETING') defaults.push(...bulk);
  return custom === null ? defaults : withOwn(defaults, custom);
}

const oneClickPost: MessageHeader = { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' };
const bulk: readonly MessageHeader[] = [
  { name: 'Precedence', value: 'bulk' },
  { name: 'Auto-Submitted', value: 'auto-generated' },
  { name: 'X-Auto-Response-Suppress', value: 'All' },
];

function withOwn(defaults: readonly MessageHeader[], custom: Readonly<Record<string, string>>): MessageHeader[] {
  // By lower-case name, so that the last of several spellings counts.
  const own = new Map<string, MessageHeader>();
  for (const [name, value] of Object.entries(custom))
    if (!isOwned(name.toLowerCase())) own.set(name.toLowerCase(), { name, value });
  const ownsPair = unsubscribePair.some((name) => own.has(name));
  const kept = defaults.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !own.has(lower) && !(ownsPair && unsubscribePair.includes(lower));
  });
  return [...kept, ...own.values()];
}

function isOwned(name: string): boolean {
  return owned.has(name) || ownedPrefixes.some((prefix) => name.startsWith(prefix));
}

const documentStart =
  '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">\n</head>\n<body>\n';
const documentEnd = '</body>\n</html>\n';
const slot = `{{ ${slotName} }}`;

/** A template as it is prepared for sending. */
interface DressedSource {
  /** With the document around it, and a place for the footer where one is wanted. */
  source: string;
  /** Without both, for messages whose values bring a document of their own. */
  bare: string;
  /** Whether the footer's place can only be found in the rendered message. */
  footerLate: boolean;
}

/**
 * Does to a template, once, what every message made from it needs: a minimal document around a body that brings none, a
 * place for the footer before the last `</body>`, quotes around attribute values that hold outputs (a value with a blank
 * in it would else go on as further attributes), and the mark that keeps links to the recipient's pages from being tracked.
 */
export function dressTemplate(
  source: string,
  pieces: readonly Piece[],
  markup: Markup,
  withFooter: boolean,
): DressedSource {
  const edits = [...quotes(source, markup), ...trackingMarks(pieces, markup)];
  const bare = edited(source, edits);
  if (!markup.isDocument)
    return { source: `${documentStart}${bare}\n${withFooter ? slot : ''}${documentEnd}`, bare, footerLate: false };
  if (!withFooter) return { source: bare, bare, footerLate: false };
  if (markup.bodyEnd?.conditional) return { source: bare, bare, footerLate: true };
  const at = markup.bodyEnd?.offset ?? source.length;
  return { source: edited(source, [...edits, { at, text: slot }]), bare, footerLate: false };
}

/** Does to a rendered message what `dressTemplate` does to a template, as far as it concerns the document. */
export function dressMessage(html: string, footer: string): string {
  if (countDocumentTags(html) === 0) return `${documentStart}${html}\n${footer}${documentEnd}`;
  const at = html.toLowerCase().lastIndexOf('</body');
  return at === -1 ? html + footer : html.slice(0, at) + footer + html.slice(at);
}

/** How many tags in a text open or close a document. */
export function countDocumentTags(html: string): number {
  return html.match(/<\/?(?:html|body)(?=[\s>])/gi)?.length ?? 0;
}

interface Edit {
  at: number;
  text: string;
}

function edited(source: string, edits: readonly Edit[]): string {
  let text = '';
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.at - b.at)) {
    text += source.slice(from, edit.at) + edit.text;
    from = edit.at;
  }
  return text + source.slice(from);
}

const delimited = /\{\{.*?\}\}|\{%.*?%\}/gs;

function quotes(source: string, { unquoted }: Markup): Edit[] {
  return unquoted
    .filter(({ start, end }) => !/["']/.test(source.slice(start, end).replace(delimited, '')))
    .flatMap(({ start, end }) => [
      { at: start, text: '"' },
      { at: end, text: '"' },
    ]);
}

function trackingMarks(pieces: readonly Piece[], { anchors }: Markup): Edit[] {
  const names = pageNames(pieces);
  return anchors
    .filter(({ href }) => href.some((index) => mentions(pieces[index], names)))
    .map(({ nameEnd }) => ({ at: nameEnd, text: ' data-pm-no-track' }));
}

// The recipient's pages, and the names that the template assigns from them.
function pageNames(pieces: readonly Piece[]): Set<string> {
  const names = new Set(['unsubscribeUrl', 'subscribeUrl', 'manageUrl']);
  for (const piece of pieces) {
    const name =
      piece.kind === 'tag' && piece.name === 'assign' ? /assign\s+([\w-]+)/.exec(piece.code)?.[1] : undefined;
    if (name && mentions(piece, names)) names.add(name);
  }
  return names;
}

function mentions(piece: Piece | undefined, names: ReadonlySet<string>): boolean {
  return piece !== undefined && (piece.code.match(/[\w-]+/g) ?? []).some((word) => names.has(word));
}
