import { readFileSync } from 'node:fs';
import { getPublicSuffix, parse } from 'tldts';
import { editDistance } from '../../../lib/text.ts';

/** A well-known mail domain, with misspellings of it that more than one slip explains. */
interface PopularDomain {
  domain: string;
  misspellings: readonly string[];
}

/** The domain lists that ship with the package, lower-cased, matched on the whole domain. */
export interface Lists {
  /** Throw-away mailboxes. */
  disposable: ReadonlySet<string>;
  /** Free mailbox providers. */
  personal: ReadonlySet<string>;
  /** Forwarding services that hide the address behind. */
  alias: ReadonlySet<string>;
  /** The domains that a mistyped one was most likely meant to be, most used first. */
  popular: readonly PopularDomain[];
  /** Real domains that look like a mistyped popular one. */
  notTypos: ReadonlySet<string>;
}

const shipped = new URL('./lists/', import.meta.url);

/**
 * Reads the lists from their folder: one domain a line, `#` starts a comment. A list that cannot be read is empty,
 * so what it would tell is answered false (docs/contract/core.md#2-10).
 */
export function loadLists(folder: URL = shipped): Lists {
  const domains = (name: string) => new Set(readLines(new URL(name, folder)));
  return {
    disposable: domains('disposable.txt'),
    personal: domains('personal.txt'),
    alias: domains('alias.txt'),
    popular: readLines(new URL('popular.txt', folder)).map(popularDomain),
    notTypos: domains('not-typos.txt'),
  };
}

let shippedOnce: Lists | undefined;

/** The lists that ship with the package, read once and never changed. */
export function shippedLists(): Lists {
  shippedOnce ??= loadLists();
  return shippedOnce;
}

function readLines(file: URL): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase())
    .filter((line) => line !== '');
}

function popularDomain(line: string): PopularDomain {
  const [domain = line, ...misspellings] = line.split(/\s+/);
  return { domain, misspellings };
}

// Endings that do not exist are repaired towards these. Short country codes are too near to one another for anything
// but swapped or doubled letters.
const endings = ['com', 'net', 'org', 'edu', 'gov', 'info', 'biz'];
const countries = 'de fr uk it es nl be ch at pl se dk ru br ca au jp in'.split(' ');
const withoutTheirDot = new Map(
  ['co.uk', 'com.au', 'com.br', 'co.jp', 'co.nz', 'co.za'].map((s) => [s.replace('.', ''), s]),
);

// Endings that do exist, but behind the name of a popular provider are a slip. Other countries are not: yahoo.ca is real.
const slips: Record<string, readonly string[]> = { com: ['co', 'cm', 'om', 'cam'], net: ['ne'] };

// Words of five or six letters have too many real neighbours to allow for more than one slip.
const twoSlipsFrom = 9;
const anyFirstLetterFrom = 7;
const shortest = 5;

/**
 * The domain that was most likely meant, or `undefined` when the domain is no near miss of a popular mail domain or of
 * a top-level domain. Looks at the spelling only; domains on the personal, alias or not-typos list are never misses.
 */
export function suggestDomain(domain: string, lists: Lists): string | undefined {
  if (isKnown(domain, lists)) return undefined;
  const repaired = repairEnding(domain);
  if (repaired !== undefined && isKnown(repaired, lists)) return repaired;
  return nearestPopular(repaired ?? domain, lists) ?? repaired;
}

function isKnown(domain: string, lists: Lists): boolean {
  return (
    lists.personal.has(domain) ||
    lists.alias.has(domain) ||
    lists.notTypos.has(domain) ||
    lists.popular.some((popular) => popular.domain === domain)
  );
}

function repairEnding(domain: string): string | undefined {
  const dot = domain.lastIndexOf('.');
  const ending = domain.slice(dot + 1);
  // Asked of a name of our own, because a malformed label in front would hide what is known about the ending.
  const { isIcann, isSpecialUse } = parse(`name.${ending}`, { detectSpecialUse: true });
  if (isIcann || isSpecialUse) return undefined;
  const meant =
    withoutTheirDot.get(ending) ??
    countries.find((candidate) => isSwapped(ending, candidate) || isDoubled(ending, candidate)) ??
    endings.find((candidate) => editDistance(ending, candidate, 1) <= 1);
  return meant === undefined ? undefined : `${domain.slice(0, dot)}.${meant}`;
}

function nearestPopular(domain: string, lists: Lists): string | undefined {
  const [name, suffix] = split(domain);
  let nearest: { domain: string; distance: number } | undefined;
  for (const popular of lists.popular) {
    if (popular.misspellings.includes(domain)) return popular.domain;
    const [meantName, meantSuffix] = split(popular.domain);
    if (name === meantName && slips[meantSuffix]?.includes(suffix)) return popular.domain;
    if (suffix !== meantSuffix) continue;
    const distance = slipsBetween(name, meantName);
    if (distance !== undefined && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
      nearest = { domain: popular.domain, distance };
    }
  }
  return nearest?.domain;
}

function slipsBetween(name: string, meant: string): number | undefined {
  if (meant.length < shortest) return undefined;
  const limit = meant.length >= twoSlipsFrom ? 2 : 1;
  const distance = editDistance(name, meant, limit);
  if (distance > limit) return undefined;
  const startSwapped = name[0] === meant[1] && name[1] === meant[0];
  const startsAlike = name[0] === meant[0] || startSwapped || name === meant.slice(1);
  const plausible = startsAlike || meant.length >= anyFirstLetterFrom;
  return plausible ? distance : undefined;
}

function split(domain: string): [name: string, suffix: string] {
  const suffix = getPublicSuffix(domain) ?? domain.slice(domain.lastIndexOf('.') + 1);
  return [domain.slice(0, -suffix.length - 1), suffix];
}

function isSwapped(ending: string, meant: string): boolean {
  return ending.length === 2 && ending[0] === meant[1] && ending[1] === meant[0];
}

function isDoubled(ending: string, meant: string): boolean {
  const [first = '', second = ''] = meant;
  return ending === first + first + second || ending === first + second + second;
}
