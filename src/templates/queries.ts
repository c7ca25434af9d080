import type { EmailDocument } from '@fernpost/email-document';
import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { activeStatuses } from '../lib/enums.ts';
import { ofProject } from '../projects/queries.ts';
import { type Changes, createCache } from '../store/changes.ts';
import { baseColumns } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { type TemplateBody, type TemplateUsage, templateTypes } from './schema.ts';

const p = defineEntity.properties;

/** The content columns of templates and campaigns. */
export const contentColumns = {
  name: p.text(),
  description: p.text().nullable(),
  subject: p.text(),
  body: p.text(),
  document: p.json<EmailDocument>().nullable(),
  from: p.text(),
  fromName: p.text().nullable(),
  replyTo: p.text().nullable(),
  type: p.enum(templateTypes).default('MARKETING'),
};

/** Content for mail, with a sender and a type that says what recipients may do about it. */
export const Template = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    ...contentColumns,
    revision: p.integer().default(1).version(),
    /** Mail made from it that retention has removed. */
    removedMails: p.integer().default(0),
  },
  indexes: [
    {
      name: 'templates_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id' }],
    },
  ],
});
export type Template = InferEntity<typeof Template>;

/** Templates kept in memory for requests that send by them; right across processes (see `src/store/changes.ts`). */
export interface TemplateCache {
  /** The template of the project, or null. */
  find(projectId: string, templateId: string): Promise<TemplateRow | null>;
}

declare module '../http/context.ts' {
  interface App {
    templates: TemplateCache;
  }
}

const mostTemplates = 1_000;

/** A cache over a database whose changes are heard. */
export function createTemplateCache(db: Database, changes: Changes): TemplateCache {
  const templates = createCache<TemplateRow>(changes, ['templates'], mostTemplates);
  return {
    find: (projectId, templateId) =>
      templates.get(`${projectId}/${templateId}`, async () => {
        const value = await findTemplate(db, projectId, templateId);
        return value && { projectId, value };
      }),
  };
}

/** The type of a template, which decides the rules of its mail (docs/contract/campaigns-and-workflows.md#1-2). */
export type TemplateType = TemplateBody['type'];

/** The parts of a template that make mail. */
export type TemplateRow = Pick<TemplateBody, 'id' | 'subject' | 'body' | 'from' | 'fromName' | 'replyTo' | 'type'>;

/** One template of the project, or null. */
export function findTemplate(db: Database, projectId: string, id: string): Promise<TemplateRow | null> {
  return db.row<TemplateRow>(sql`
    select id, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type
    from templates where project_id = ${projectId} and id = ${id}`);
}

/** The steps of the project's workflows that send a template. */
export function stepsOfTemplate(db: Database, projectId: string, id: string): Promise<TemplateUsage['steps']> {
  return db.rows(sql`
    select s.id, s.name, s.type, a.id as "workflowId", a.name as "workflowName"
    from automation_steps s join automations a on a.id = s.automation_id
    where s.template_id = ${id} and a.project_id = ${projectId} order by a.created_at, a.id, s.created_at, s.id`);
}

/**
 * How many steps need one of the templates: those of workflows as they are, those of graphs that contacts are still
 * in, because a contact stays on the version of the graph that it entered, and those of the version that a rollout may go back to. Names
 * one of the templates that are needed; null when none is. For a key with limits only workflows count that somebody else runs.
 */
export async function usesOfTemplates(
  db: Database,
  projectId: string,
  ids: readonly string[],
  limitedBy: string | null = null,
): Promise<{ steps: number; template: string } | null> {
  const row = await db.row<{ steps: number; template: string | null }>(sql`
    with wanted as materialized (select unnest(${ids}::uuid[]) as id),
    live as (
      select s.template_id as template, s.id as step, s.automation_id
      from automation_steps s join wanted w on w.id = s.template_id),
    pinned as (
      select w.id as template, (node ->> 'id')::uuid as step, a.id as automation_id
      from wanted w, automations a join automation_versions v on v.automation_id = a.id,
        jsonb_array_elements(v.graph -> 'steps') as node
      where a.project_id = ${projectId}
        and v.graph @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('templateId', w.id)))
        and node ->> 'templateId' = w.id::text
        and (exists (select from automation_runs r where r.automation_id = a.id and r.status in ${raw(activeStatuses.sql)}
            and (r.version_id = v.id or r.next_version_id = v.id))
          or exists (select from automation_rollouts k
            where k.automation_id = a.id and k.state = 'RUNNING' and k.before_version_id = v.id)))
    select count(distinct step)::int as steps, (array_agg(template))[1] as template
    from (select * from live union select * from pinned) as used join automations a on a.id = used.automation_id
    where ${limitedBy}::uuid is null or (a.limited_by is distinct from ${limitedBy}::uuid and (a.enabled or exists (
      select from automation_runs r where r.automation_id = a.id and r.status in ${raw(activeStatuses.sql)})))`);
  return row?.template ? { steps: row.steps, template: row.template } : null;
}
