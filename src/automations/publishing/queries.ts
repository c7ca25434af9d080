import { type Sql, statement } from '../../core/database/sql.ts';
import type { StepRow } from '../rows.ts';

const taken = statement(
  'automations.taken_step_ids',
  'select id from automation_steps where id = any($1::uuid[]) and automation_id <> $2',
);

/** Which of the ids are those of steps elsewhere. */
export async function stepIdsElsewhere(
  sql: Sql,
  automationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await sql.rows<{ id: string }>(taken, [ids, automationId])).map(({ id }) => id));
}

const held = statement(
  'automations.held_templates',
  'select id from templates where project_id = $1 and id = any($2::uuid[]) order by id for key share',
);

/** Which of the ids are templates of the project; they cannot be deleted until the transaction ends. */
export async function holdTemplates(sql: Sql, projectId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await sql.rows<{ id: string }>(held, [projectId, ids])).map(({ id }) => id));
}

const update = statement(
  'automations.update_steps',
  `update automation_steps s set name = w.name, position = w.position, config = w.config, template_id = w."templateId",
     updated_at = now()
   from jsonb_to_recordset($2::jsonb) as w (id uuid, name text, position jsonb, config jsonb, "templateId" uuid)
   where s.automation_id = $1 and s.id = w.id
     and (s.name, s.position, s.config, s.template_id) is distinct from (w.name, w.position, w.config, w."templateId")`,
);

/** Writes what of steps can be changed; those that are the same stay untouched. */
export async function updateSteps(
  sql: Sql,
  automationId: string,
  steps: readonly Pick<StepRow, 'id' | 'name' | 'position' | 'config' | 'templateId'>[],
): Promise<void> {
  if (steps.length > 0) await sql.count(update, [automationId, JSON.stringify(steps)]);
}

/** Removes transitions. */
export async function deleteTransitions(sql: Sql, automationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await sql.count('delete from automation_transitions where automation_id = $1 and id = any($2::uuid[])', [
      automationId,
      ids,
    ]);
}

const versionOfHash = statement(
  'automations.version_of_hash',
  `select v.id, v.version, (select coalesce(max(version), 0) + 1 from automation_versions where automation_id = $1) as next
   from (select 1) always left join automation_versions v on v.automation_id = $1 and v.hash = $2`,
);

/** The version that has a graph of this hash, and the number of a new one. */
export async function versionOfHashIn(
  sql: Sql,
  automationId: string,
  hash: Buffer,
): Promise<{ id: string | null; version: number | null; next: number }> {
  const row = await sql.row<{ id: string | null; version: number | null; next: number }>(versionOfHash, [
    automationId,
    hash,
  ]);
  return row ?? { id: null, version: null, next: 1 };
}
