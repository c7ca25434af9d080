import type { KnownVariable } from '@fernpost/email-document';

/** The fields that a variable may stand for, with the share of contacts that have each: `; 68% have “firstname”`. */
export function shareOf(variable: string, known: readonly KnownVariable[]): string {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[\s_]/g, '');
  const similar = known.filter(({ name }) => name !== variable && plain(name) === plain(variable));
  return similar.map(({ name, coverage = 100 }) => `; ${coverage}% have “${name}”`).join('');
}
