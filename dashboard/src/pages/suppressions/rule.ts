import type { components } from '../../api/schema.d.ts';

/** A suppression rule as the API answers it. */
export type Rule = components['schemas']['SuppressionRule'];

/** How the kinds of rules are called, and what their patterns look like. */
export const ruleKinds: Record<Rule['kind'], { name: string; hint: string }> = {
  ADDRESS: { name: 'Address', hint: 'Such as anna@example.com' },
  DOMAIN: { name: 'Domain', hint: 'Such as example.com' },
  PREFIX: { name: 'Starts with', hint: 'The start of the part before the @, such as test-' },
  SUFFIX: { name: 'Ends with', hint: 'The end of the part before the @, such as +spam' },
  WILDCARD: { name: 'Pattern', hint: 'With * for any characters, such as *@*.example.com' },
};
