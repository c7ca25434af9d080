import type { EmailDocument } from './schema.ts';

/** Beyond so many bytes Gmail cuts a mail and hides the rest behind a link, the unsubscribe footer too. */
export const gmailClip = 102 * 1024;

/** Something that recipients would stumble over. */
export interface ContentFinding {
  kind: 'size' | 'link' | 'image' | 'variable' | 'button';
  /** The problem and how to fix it, as a sentence. */
  message: string;
}

const builtIn = new Set([
  ...[
    'id',
    'email',
    'subscribed',
    'locale',
    'unsubscribeUrl',
    'subscribeUrl',
    'manageUrl',
    'event',
    'data',
    'createdAt',
  ],
  ...['forloop', 'true', 'false', 'nil', 'null', 'empty', 'blank'],
]);

/** Looks through the blocks of a mail for what its HTML does not show: images without a description, buttons without a label. */
export function checkDocument({ content }: Pick<EmailDocument, 'content'>): ContentFinding[] {
  return content.flatMap((block): ContentFinding[] => {
    if (block.type === 'image' && block.attrs.alt === '' && !block.attrs.decorative && block.attrs.src !== '')
      return [{ kind: 'image', message: `The image ${nameOf(block.attrs.src)} has no alt text. ${describe}` }];
    if (block.type === 'button' && block.attrs.label.trim() === '')
      return [{ kind: 'button', message: 'A button has no label. Say what it does.' }];
    if (block.type === 'columns') return block.content.flatMap((column) => checkDocument(column));
    return block.type === 'conditional' || block.type === 'repeat' ? checkDocument(block) : [];
  });
}

const describe = 'Describe it for people who do not see it, or mark it as decorative.';
const nameOf = (source: string) => source.split('/').at(-1) ?? source;

/** A variable of a project. */
export interface KnownVariable {
  name: string;
  /** Share of contacts that have it, as a whole percentage; absent where every contact has it. */
  coverage?: number;
}

/** Checks the source of a mail, HTML with Liquid. `known` are the variables of the project, which has so many `contacts`. */
export function checkEmail(html: string, known: readonly KnownVariable[], contacts?: number): ContentFinding[] {
  const size = new TextEncoder().encode(html).length;
  const clipped: ContentFinding[] =
    size > gmailClip
      ? [
          {
            kind: 'size',
            message: `The HTML has ${Math.ceil(size / 1024)} kB: Gmail clips it after 102 kB. Shorten it.`,
          },
        ]
      : [];
  return [
    ...clipped,
    ...images(html),
    ...links(html),
    ...variables(
      html,
      known.map(({ name }) => name),
    ),
    ...emptyVariables(html, known, contacts),
  ];
}

function images(html: string): ContentFinding[] {
  return [...html.matchAll(/<img\b[^>]*>/gi)].flatMap(([tag]) => {
    const source = attribute(tag, 'src') ?? '';
    if (source === '')
      return [{ kind: 'image' as const, message: 'An image has no address. Upload one or remove it.' }];
    return attribute(tag, 'alt') === null
      ? [{ kind: 'image' as const, message: `The image ${nameOf(source)} has no alt text. ${describe}` }]
      : [];
  });
}

function links(html: string): ContentFinding[] {
  return [...html.matchAll(/<a\b([^>]*)>(.*?)<\/a>/gis)].flatMap(([, attributes = '', content = '']) => {
    const address = (attribute(`<a ${attributes}>`, 'href') ?? '').trim();
    const label = content.replaceAll(/<[^>]*>/g, '').trim() || 'an image';
    const problem = linkProblem(address);
    return problem === null ? [] : [{ kind: 'link' as const, message: `The link “${label}” ${problem}` }];
  });
}

/** Why an address cannot be a link of a mail, as the end of a sentence; null when it can. */
export function linkProblem(address: string): string | null {
  if (address === '' || address === '#' || address === 'https://') return 'has no address.';
  if (/^(?:\{\{|\{%)/.test(address) || /^(?:mailto|tel|sms):./i.test(address)) return null;
  const [, host = ''] = /^https?:\/\/([^/?#]*)/i.exec(address) ?? [];
  if (host === '') return `leads to “${address}”, which is no full address. Begin it with https://.`;
  if (/^(?:localhost|127\.)/i.test(host)) return `leads to ${host}, which only your own computer reaches.`;
  if (/(?:^|\.)example\.(?:com|org|net)$/i.test(host)) return `still leads to ${host}. Enter your own address.`;
  return null;
}

function attribute(tag: string, name: string): string | null {
  const [, double, single, bare] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(tag) ?? [];
  return double ?? single ?? bare ?? null;
}

const names = /(?:"[^"]*"|'[^']*')|(?<![.\w\]])([\p{L}_][\p{L}\p{N}_-]*)/gu;

// As the renderer compares names that no source has exactly: without regard to case, spaces and underscores.
const plainName = (name: string) => name.toLowerCase().replaceAll(/[\s_]/g, '');

function variables(html: string, known: readonly string[]): ContentFinding[] {
  const heads = new Map<string, Set<string>>();
  for (const name of known) {
    const [head = ''] = name.split('.');
    heads.set(plainName(head), (heads.get(plainName(head)) ?? new Set()).add(head));
  }
  const full = new Set(known.map(plainName));
  // Two fields that differ in case, spaces or underscores only: neither stands in for the other.
  const isAmbiguous = (name: string) => {
    const fields = heads.get(plainName(name));
    return fields !== undefined && fields.size > 1 && !fields.has(name);
  };
  const own = new Set([...html.matchAll(/\{%-?\s*(?:for|assign|capture)\s+([\w-]+)/g)].map(([, name = '']) => name));
  const unknown = new Set<string>();
  const ambiguous = new Set<string>();
  for (const expression of expressionsOf(html)) {
    if (full.has(plainName(expression)) && !isAmbiguous(expression)) continue;
    for (const [, name] of expression.matchAll(names))
      if (name && !builtIn.has(name) && !own.has(name)) {
        if (isAmbiguous(name)) ambiguous.add(name);
        else if (!heads.has(plainName(name))) unknown.add(name);
      }
    for (const [, , key = ''] of expression.matchAll(/\bdata\[(["'])(.*?)\1\]/g))
      if (!full.has(plainName(key))) unknown.add(key);
  }
  const fieldsLike = (name: string) =>
    [...(heads.get(plainName(name)) ?? [])].map((field) => `“${field}”`).join(' and ');
  return [
    ...[...unknown].map((name) => ({
      kind: 'variable' as const,
      message: `“${name}” is not a field of your contacts. Check the name, add a fallback, or send it as data.`,
    })),
    ...[...ambiguous].map((name) => ({
      kind: 'variable' as const,
      message: `“${name}” matches the fields ${fieldsLike(name)}, so it is left empty. Use one of their names.`,
    })),
  ];
}

function similarTo(name: string, known: readonly KnownVariable[]): KnownVariable[] {
  return known.filter((each) => plainName(each.name) === plainName(name));
}

/** The fields that a variable may stand for, with the share of contacts that have each: `; 68% have “firstname”`. */
export function shareOf(variable: string, known: readonly KnownVariable[]): string {
  const similar = similarTo(variable, known).filter(({ name }) => name !== variable);
  return similar.map(({ name, coverage = 100 }) => `; ${coverage}% have “${name}”`).join('');
}

// Below this share of contacts most people get an empty place.
const rarePercent = 50;

/** Variables that are printed without a fallback although most contacts have no value for them. */
function emptyVariables(html: string, known: readonly KnownVariable[], contacts?: number): ContentFinding[] {
  const most = contacts === undefined ? 'most contacts' : `most of ${contacts.toLocaleString('en-US')} contacts`;
  const printed = new Set(
    [...html.matchAll(/\{\{-?\s*([\p{L}_][\p{L}\p{N}_-]*)\s*-?\}\}/gu)].map(([, name = '']) => name),
  );
  return [...printed].flatMap((name) => {
    const similar = similarTo(name, known);
    const found = similar.find((each) => each.name === name) ?? (similar.length === 1 ? similar[0] : undefined);
    if (found?.coverage === undefined || found.coverage >= rarePercent) return [];
    const field = found.name === name ? 'it' : `“${found.name}”`;
    return [
      {
        kind: 'variable' as const,
        message: `“${name}” is empty for ${most}: ${found.coverage}% have ${field}. Add a fallback, or send it as data.`,
      },
    ];
  });
}

// Yields the expressions of outputs and conditions, without filters, fallbacks and operators.
function* expressionsOf(html: string): Generator<string> {
  for (const [, inside = ''] of html.matchAll(/\{\{-?(.*?)-?\}\}/gs)) {
    const [read = '', fallback] = inside.split('|')[0]?.split('??') ?? [];
    if (fallback === undefined || fallback.trim() === '') yield read.trim();
  }
  for (const [, tag = '', inside = ''] of html.matchAll(/\{%-?\s*(if|elsif|unless|for)\s(.*?)-?%\}/gs)) {
    const read =
      tag === 'for' ? inside.replace(/^.*?\sin\s/s, '').replace(/\s(?:limit|offset|reversed)\b.*/s, '') : inside;
    yield read.replaceAll(/\b(?:and|or|contains)\b/g, ' ');
  }
}
