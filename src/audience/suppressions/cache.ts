import { type Changes, createCache } from '../../core/database/changes.ts';
import type { Database } from '../../core/database/sql.ts';
import { enabledRules } from './rules.ts';
import type { MatchingRule } from './schema.ts';

declare module '../../core/http/context.ts' {
  interface App {
    suppressionRules: SuppressionRuleCache;
  }
}

/** Suppression rules kept in memory; right across processes (see `src/core/database/changes.ts`). */
export type SuppressionRuleCache = ReturnType<typeof createSuppressionRuleCache>;

/** A cache over a database whose changes are heard. */
export function createSuppressionRuleCache(db: Database, changes: Changes) {
  const rules = createCache<readonly MatchingRule[]>(changes, ['suppression_rules']);
  return {
    /** The enabled rules of a project in the order in which they apply. */
    async of(projectId: string): Promise<readonly MatchingRule[]> {
      const known = await rules.get(projectId, async () => ({ projectId, value: await enabledRules(db, projectId) }));
      return known ?? [];
    },
  };
}
