import { getPublicSuffix, parse } from 'tldts';
import { editDistance } from '../../../lib/edit-distance.ts';
import type { Lists } from './lists.ts';

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
