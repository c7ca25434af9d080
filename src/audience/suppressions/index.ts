// What other parts of the service may use of suppressions; everything else in this folder is its own.
export type { SuppressionRuleCache } from './cache.ts';
export { type KeyLimits, limitsOfKeys, reaches, suppressionOfKey } from './key-limits.ts';
export { suppressionOf } from './matching.ts';
export { enabledRules } from './rules.ts';
export { ListSuppressed, type MatchingRule, SuppressedEmail, SuppressedPage, type SuppressionMatch } from './schema.ts';
