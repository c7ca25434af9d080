import type { paths } from '../../api/schema.d.ts';

/** A suppression rule as the API answers it. */
export type Rule = paths['/suppressions']['get']['responses'][200]['content']['application/json'][number];

/** How the kinds of rules are called, and what their patterns look like. */
export const kinds: Record<Rule['kind'], { name: string; hint: string }> = {
  ADDRESS: { name: 'One address', hint: 'such as anna@example.com' },
  DOMAIN: { name: 'A whole domain', hint: 'such as example.com' },
  PREFIX: { name: 'What begins with', hint: 'the beginning of the part before the @, such as test-' },
  SUFFIX: { name: 'What ends with', hint: 'the end of the part before the @, such as +spam' },
  WILDCARD: { name: 'A pattern', hint: 'with * for any characters, such as *@*.example.com' },
};
