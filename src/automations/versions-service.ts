import { isoInstant } from '../core/database/columns.ts';
import { type Sql, statement } from '../core/database/sql.ts';
import { notFound } from '../core/lib/errors.ts';
import { offsetAnswer, offsetPage } from '../core/lib/offset-page.ts';
import type { Graph } from './graph.ts';
import { findAutomation, stepsOf } from './queries.ts';
import type { StepRow } from './rows.ts';
import type { ListVersions, VersionWithGraph } from './schema.ts';
import { found } from './service.ts';

type Positions = Record<string, StepRow['position']>;

const list = statement(
  'automations.list_versions',
  `select v.version, v.created_at::text as "createdAt", jsonb_array_length(v.graph -> 'steps') as steps,
     v.id = a.current_version_id and not a.graph_dirty as "isCurrent",
     (select count(*)::int from automation_runs r
      where r.automation_id = $1 and r.version_id = v.id and r.status in ('RUNNING', 'WAITING')) as active,
     count(*) over ()::int as total
   from automation_versions v join automations a on a.id = v.automation_id
   where v.automation_id = $1 order by v.version desc limit $2 offset $3`,
);

/** The versions of an automation's graph that people were or are in, newest first. @throws 404 */
export async function listVersions(sql: Sql, projectId: string, automationId: string, query: ListVersions) {
  found(await findAutomation(sql, projectId, automationId), automationId);
  const page = offsetPage(query, 100);
  const rows = await sql.rows<{
    version: number;
    createdAt: string;
    steps: number;
    isCurrent: boolean;
    active: number;
    total: number;
  }>(list, [automationId, page.pageSize, page.offset]);
  const data = rows.map(({ total: _, createdAt, ...row }) => ({ ...row, createdAt: isoInstant(createdAt) }));
  return offsetAnswer(data, page, rows[0]?.total ?? 0);
}

const find = statement(
  'automations.version_with_layout',
  `select v.version, v.graph, v.layout, v.created_at::text as "createdAt",
     v.id = a.current_version_id and not a.graph_dirty as "isCurrent",
     (select jsonb_object_agg(t.id, t.name) from templates t where t.project_id = a.project_id and t.id in (
       select (step ->> 'templateId')::uuid from jsonb_array_elements(v.graph -> 'steps') step)) as templates
   from automation_versions v join automations a on a.id = v.automation_id
   where v.automation_id = $1 and v.version = $2`,
);

/**
 * A version with its graph, as those who are pinned to it walk through it. Places are those of today where every step is
 * still there, else those of when it was made; null where they were not kept. @throws 404
 */
export async function getVersion(
  sql: Sql,
  projectId: string,
  automationId: string,
  version: string,
): Promise<VersionWithGraph> {
  found(await findAutomation(sql, projectId, automationId), automationId);
  const number = /^[1-9]\d{0,8}$/.test(version) ? Number(version) : null;
  const row =
    number === null
      ? null
      : await sql.row<{
          version: number;
          graph: Graph;
          layout: Positions | null;
          createdAt: string;
          isCurrent: boolean;
          templates: Record<string, string> | null;
        }>(find, [automationId, number]);
  if (row === null) throw notFound('version', version);
  const { graph, isCurrent, templates } = row;
  const today = new Map((await stepsOf(sql, automationId)).map(({ id, position }) => [id, position]));
  const isHere = graph.steps.every(({ id }) => today.has(id));
  return {
    version: row.version,
    createdAt: isoInstant(row.createdAt),
    isCurrent,
    steps: graph.steps.map((step) => ({
      ...step,
      position: (isHere ? today.get(step.id) : row.layout?.[step.id]) ?? null,
      template: step.templateId === null ? null : { id: step.templateId, name: templates?.[step.templateId] ?? '' },
    })),
    transitions: graph.transitions.map((way) => ({ ...way })),
  };
}
