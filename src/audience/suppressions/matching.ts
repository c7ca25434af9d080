import { domainOf, localPartOf } from '@fernpost/validation';
import { matchesGlob } from '../../core/lib/glob.ts';
import type { MatchingRule, RuleMatch } from './schema.ts';

/**
 * The match of the first rule that matches an address, or null (docs/contract/core.md#6-1). Mail with a match is kept with
 * status SUPPRESSED and never sent. `rules` are the enabled ones of the project in the order of
 * their creation; `address` is in its stored form.
 */
export function suppressionOf(rules: readonly MatchingRule[], address: string, at: Date): RuleMatch | null {
  const rule = rules.find((each) => matches(each, address));
  if (rule === undefined) return null;
  const { id: ruleId, name, kind, pattern } = rule;
  return { ruleId, name, kind, pattern, recipient: address, matchedAt: at.toISOString() };
}

function matches({ kind, pattern }: MatchingRule, address: string): boolean {
  switch (kind) {
    case 'ADDRESS':
      return address === pattern;
    case 'DOMAIN':
      return domainOf(address) === pattern;
    case 'PREFIX':
      return localPartOf(address).startsWith(pattern);
    case 'SUFFIX':
      return localPartOf(address).endsWith(pattern);
    case 'WILDCARD':
      return matchesGlob(pattern, address);
  }
}
