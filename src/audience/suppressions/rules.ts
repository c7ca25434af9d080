import type { Database, Sql } from '../../core/database/sql.ts';
import { badRequest, notFound } from '../../core/lib/errors.ts';
import { suppressionOf } from './matching.ts';
import { enabledRules, insertRule, removeRule, replaceRule } from './queries.ts';
import type { RuleBody, SuppressionMatch, WriteRule } from './schema.ts';

const mostRules = 100;

/** Adds a rule at the end. @throws 400 when the project has 100 of them */
export async function createRule(db: Database, projectId: string, body: WriteRule): Promise<RuleBody> {
  const rule = await db.transaction((sql) => insertRule(sql, projectId, body, mostRules));
  if (rule === null) throw badRequest(`A project can have at most ${mostRules} suppression rules`);
  return rule;
}

/** Replaces a rule; its place in the order stays. @throws 404 */
export async function putRule(sql: Sql, projectId: string, id: string, body: WriteRule): Promise<{ success: true }> {
  if (!(await replaceRule(sql, projectId, id, body))) throw notFound('suppression rule', id);
  return { success: true };
}

/** Deletes a rule. The mail it has caught stays caught, and says by which rule. @throws 404 */
export async function deleteRule(sql: Sql, projectId: string, id: string): Promise<void> {
  if (!(await removeRule(sql, projectId, id))) throw notFound('suppression rule', id);
}

/** What would become of mail to an address now. */
export async function previewRules(
  sql: Sql,
  projectId: string,
  address: string,
  now: Date,
): Promise<{ suppressed: boolean; match: SuppressionMatch | null }> {
  const match = suppressionOf(await enabledRules(sql, projectId), address, now);
  return { suppressed: match !== null, match };
}
