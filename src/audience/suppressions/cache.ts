import { type Changes, createCache } from '../../core/database/changes.ts';
import type { Database } from '../../core/database/sql.ts';
import { enabledRules } from './rules.ts';
import type { MatchingRule } from './schema.ts';

/** Suppression rules kept in memory; right across processes (see `src/core/database/changes.ts`). */
export interface SuppressionRuleCache {
  /** The enabled rules of a project in the order in which they apply. */
  of(projectId: string): Promise<readonly MatchingRule[]>;
}

declare module '../../core/http/context.ts' {
  interface App {
    suppressionRules: SuppressionRuleCache;
  }
}

/** A cache over a database whose changes are heard. */
export function createSuppressionRuleCache(db: Database, changes: Changes): SuppressionRuleCache {
  const rules = createCache<readonly MatchingRule[]>(changes, ['suppression_rules']);
  return {
    async of(projectId) {
      const known = await rules.get(projectId, async () => ({ projectId, value: await enabledRules(db, projectId) }));
      return known ?? [];
    },
  };
}
