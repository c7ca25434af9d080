import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import type { RuleBody, SuppressionKind, WriteRule } from './schema.ts';

/** A rule as far as matching goes. */
export interface MatchingRule {
  id: string;
  name: string;
  kind: SuppressionKind;
  /** In lower case. */
  pattern: string;
}

const enabled = statement(
  'suppressions.enabled',
  'select id, name, kind, pattern from suppression_rules where project_id = $1 and enabled order by created_at, id',
);

/** The rules of a project that catch mail, in the order in which they count. */
export function enabledRules(sql: Sql, projectId: string): Promise<MatchingRule[]> {
  return sql.rows<MatchingRule>(enabled, [projectId]);
}

const columns = `id, name, kind, pattern, enabled, project_id as "projectId", created_at::text as "createdAt",
  updated_at::text as "updatedAt"`;

/** Every rule of a project, oldest first. */
export async function allRules(sql: Sql, projectId: string): Promise<RuleBody[]> {
  const rows = await sql.rows<RuleBody>(
    `select ${columns} from suppression_rules where project_id = $1 order by created_at, id`,
    [projectId],
  );
  return rows.map(ruleBody);
}

/** Adds a rule unless the project has `most` of them; null then. Call inside a transaction. */
export async function insertRule(sql: Sql, projectId: string, rule: WriteRule, most: number): Promise<RuleBody | null> {
  await sql.rows("select pg_advisory_xact_lock(hashtextextended('suppressions ' || $1, 0))", [projectId]);
  const row = await sql.row<RuleBody>(
    `insert into suppression_rules (id, project_id, name, kind, pattern, enabled, created_at)
     select $2::uuid, $1::uuid, $3, $4, $5, $6, clock_timestamp()
     where (select count(*) from suppression_rules where project_id = $1::uuid) < $7
     returning ${columns}`,
    [projectId, newId(), rule.name, rule.kind, rule.pattern, rule.enabled, most],
  );
  return row && ruleBody(row);
}

/** Replaces a rule. Answers whether there was one. */
export async function replaceRule(sql: Sql, projectId: string, id: string, rule: WriteRule): Promise<boolean> {
  const count = await sql.count(
    `update suppression_rules set name = $3, kind = $4, pattern = $5, enabled = $6, updated_at = now()
     where project_id = $1 and id = $2`,
    [projectId, id, rule.name, rule.kind, rule.pattern, rule.enabled],
  );
  return count > 0;
}

/** Deletes a rule. Answers whether there was one. */
export async function removeRule(sql: Sql, projectId: string, id: string): Promise<boolean> {
  return (await sql.count('delete from suppression_rules where project_id = $1 and id = $2', [projectId, id])) > 0;
}

function ruleBody(row: RuleBody): RuleBody {
  return { ...row, createdAt: isoInstant(row.createdAt), updatedAt: isoInstant(row.updatedAt) };
}
