import { type Sql, statement } from '../../core/database/sql.ts';

/** What a template does to the mail made from it (contract page 2, 1.2). */
export type TemplateType = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';

/** The parts of a template that make mail. */
export interface TemplateRow {
  id: string;
  subject: string;
  body: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
}

const find = statement(
  'templates.find',
  `select id, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type
   from templates where project_id = $1 and id = $2`,
);

/** One template of the project, or null. */
export function findTemplate(sql: Sql, projectId: string, id: string): Promise<TemplateRow | null> {
  return sql.row<TemplateRow>(find, [projectId, id]);
}

/** A step of a workflow that sends a template. */
export interface TemplateStep {
  id: string;
  name: string;
  type: string;
  workflowId: string;
  workflowName: string;
}

const steps = statement(
  'templates.steps',
  `select s.id, s.name, s.type, a.id as "workflowId", a.name as "workflowName"
   from automation_steps s join automations a on a.id = s.automation_id
   where s.template_id = $2 and a.project_id = $1 order by a.created_at, a.id, s.created_at, s.id`,
);

/** The steps of the project's workflows that send a template. */
export function stepsOfTemplate(sql: Sql, projectId: string, id: string): Promise<TemplateStep[]> {
  return sql.rows<TemplateStep>(steps, [projectId, id]);
}

// Who is inside a workflow goes on by the version of its graph that they entered, whatever became of the steps since.
const uses = statement(
  'templates.uses',
  `with wanted as materialized (select unnest($2::uuid[]) as id),
   live as (
     select s.template_id as template, s.id as step from automation_steps s join wanted w on w.id = s.template_id),
   pinned as (
     select w.id as template, (node ->> 'id')::uuid as step
     from wanted w, automations a join automation_versions v on v.automation_id = a.id,
       jsonb_array_elements(v.graph -> 'steps') as node
     where a.project_id = $1 and v.graph @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('templateId', w.id)))
       and node ->> 'templateId' = w.id::text
       and exists (select from automation_runs r where r.automation_id = a.id and r.status in ('RUNNING', 'WAITING')
         and (r.version_id = v.id or r.next_version_id = v.id)))
   select count(distinct step)::int as steps, (array_agg(template))[1] as template
   from (select * from live union select * from pinned) as used`,
);

/**
 * How many steps need one of the templates: those of workflows as they are, and those of graphs that somebody is still
 * inside of. Names one of the templates that are needed; null when none is.
 */
export async function usesOfTemplates(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<{ steps: number; template: string } | null> {
  const row = await sql.row<{ steps: number; template: string | null }>(uses, [projectId, ids]);
  return row?.template ? { steps: row.steps, template: row.template } : null;
}

const lock = statement(
  'templates.lock',
  'select id from templates where project_id = $1 and id = any($2::uuid[]) order by id for update',
);

/** Locks the project's templates among the ids, so that no step begins to use them; answers those that there are. */
export async function lockTemplates(sql: Sql, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await sql.rows<{ id: string }>(lock, [projectId, ids])).map(({ id }) => id));
}
