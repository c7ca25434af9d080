import { isoText } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { badRequest, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { SuppressionRule } from './entity.ts';
import { suppressionOf } from './matching.ts';
import type { MatchingRule, RuleBody, RulePreview, WriteRule } from './schema.ts';

const mostRules = 100;
const columns =
  raw(`id, name, kind, pattern, enabled, project_id as "projectId", ${isoText('created_at')} as "createdAt",
  ${isoText('updated_at')} as "updatedAt"`);

/** The enabled rules of a project, in the order in which they apply. */
export function enabledRules(db: Database, projectId: string): Promise<MatchingRule[]> {
  return db.rows<MatchingRule>(sql`
    select id, name, kind, pattern from suppression_rules where project_id = ${projectId} and enabled
    order by created_at, id`);
}

/** Every rule of a project, oldest first. */
export function allRules(db: Database, projectId: string): Promise<RuleBody[]> {
  return db.rows<RuleBody>(
    sql`select ${columns} from suppression_rules where project_id = ${projectId} order by created_at, id`,
  );
}

/** Adds a rule at the end. @throws 400 when the project has 100 of them */
export async function createRule(db: Database, projectId: string, body: WriteRule): Promise<RuleBody> {
  const rule = await db.transaction(async (tx) => {
    await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended('suppressions ' || ${projectId}, 0))`);
    const added = await tx.row<RuleBody>(sql`
      insert into suppression_rules (id, project_id, name, kind, pattern, enabled, created_at)
      select ${newId()}, ${projectId}, ${body.name}, ${body.kind}, ${body.pattern}, ${body.enabled}, clock_timestamp()
      where (select count(*) from suppression_rules where project_id = ${projectId}) < ${mostRules}
      returning ${columns}`);
    if (added !== null)
      await recordChange(tx, projectId, {
        action: 'suppression_rule.created',
        target: added.id,
        after: settingsOf(added),
      });
    return added;
  });
  if (rule === null) throw badRequest(`A project can have at most ${mostRules} suppression rules`);
  return rule;
}

/** Replaces a rule; its place in the order stays. @throws 404 */
export function replaceRule(db: Database, projectId: string, id: string, body: WriteRule): Promise<void> {
  const { name, kind, pattern, enabled } = body;
  return db.transaction(async (tx) => {
    const before = await tx.row<RuleBody>(
      sql`select ${columns} from suppression_rules where project_id = ${projectId} and id = ${id} for update`,
    );
    if (before === null) throw notFound('suppression rule', id);
    await tx.count(sql`
      update suppression_rules set name = ${name}, kind = ${kind}, pattern = ${pattern}, enabled = ${enabled},
        updated_at = now()
      where project_id = ${projectId} and id = ${id}`);
    const change = { before: settingsOf(before), after: settingsOf(body) };
    await recordChange(tx, projectId, { action: 'suppression_rule.updated', target: id, ...change });
  });
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
