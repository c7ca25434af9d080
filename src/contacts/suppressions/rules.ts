import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import { badRequest, notFound } from '../../lib/errors.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ofProject } from '../../projects/queries.ts';
import { type Changes, createCache, databaseNow } from '../../store/changes.ts';
import { baseColumns, lockName } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import { suppressionOf } from './matching.ts';
import { type MatchingRule, type RuleBody, type RulePreview, suppressionKinds, type WriteRule } from './schema.ts';

const p = defineEntity.properties;

/** A pattern of addresses that a project does not write to. */
export const SuppressionRule = defineEntity({
  name: 'SuppressionRule',
  tableName: 'suppression_rules',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    kind: p.enum(suppressionKinds),
    pattern: p.text(),
    enabled: p.boolean().default(true),
  },
  indexes: [{ name: 'suppression_rules_project', properties: ['projectId', 'createdAt', 'id'] }],
});
export type SuppressionRule = InferEntity<typeof SuppressionRule>;

declare module '../../http/context.ts' {
  interface App {
    suppressionRules: SuppressionRuleCache;
  }
}

/** Suppression rules kept in memory; right across processes (see `src/store/changes.ts`). */
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

const mostRules = 100;

/** The enabled rules of a project, in the order in which they apply. */
export function enabledRules(db: Database, projectId: string): Promise<MatchingRule[]> {
  return db
    .session()
    .em.find(
      SuppressionRule,
      { projectId, enabled: true },
      { fields: ['name', 'kind', 'pattern'], orderBy: { createdAt: 'asc', id: 'asc' }, disableIdentityMap: true },
    );
}

/** Every rule of a project, oldest first. */
export async function allRules(db: Database, projectId: string): Promise<RuleBody[]> {
  const rules = await db.em.find(SuppressionRule, { projectId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return rules.map(ruleBody);
}

/** Adds a rule at the end. @throws 400 when the project has 100 of them */
export function createRule(db: Database, projectId: string, body: WriteRule): Promise<RuleBody> {
  return db.transaction(async (tx) => {
    await lockName(tx, `suppressions ${projectId}`);
    if ((await tx.em.count(SuppressionRule, { projectId })) >= mostRules)
      throw badRequest(`A project can have at most ${mostRules} suppression rules`);
    const after = settingsOf(body);
    // Rules apply in the order of their creation, so the time is that of the clock that all processes share.
    const rule = tx.em.create(SuppressionRule, { projectId, ...after, createdAt: await databaseNow(tx) });
    await tx.em.flush();
    await recordChange(tx, projectId, { action: 'suppression_rule.created', target: rule.id, after });
    return ruleBody(rule);
  });
}

/** Replaces a rule; its place in the order stays. @throws 404 */
export function replaceRule(db: Database, projectId: string, id: string, body: WriteRule): Promise<void> {
  return db.transaction(async (tx) => {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const rule = await tx.em.findOne(SuppressionRule, { projectId, id }, { lockMode });
    if (rule === null) throw notFound('suppression rule', id);
    const change = { before: settingsOf(rule), after: settingsOf(body) };
    tx.em.assign(rule, { ...change.after, updatedAt: new Date() });
    await recordChange(tx, projectId, { action: 'suppression_rule.updated', target: id, ...change });
  });
}

function ruleBody({ createdAt, updatedAt, ...rule }: SuppressionRule): RuleBody {
  return { ...rule, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

function settingsOf({ name, kind, pattern, enabled }: WriteRule) {
  return { name, kind, pattern, enabled };
}

/** Deletes a rule. Mail that it suppressed stays suppressed, and still names the rule. @throws 404 */
export function deleteRule(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    if ((await tx.em.nativeDelete(SuppressionRule, { projectId, id })) === 0) throw notFound('suppression rule', id);
    await recordChange(tx, projectId, { action: 'suppression_rule.deleted', target: id });
  });
}

/** Whether mail to an address would be suppressed now, and by which rule. */
export async function previewRules(db: Database, projectId: string, address: string, now: Date): Promise<RulePreview> {
  const match = suppressionOf(await enabledRules(db, projectId), address, now);
  return { suppressed: match !== null, match };
}
