import { isoText } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { notFound } from '../../core/lib/errors.ts';
import { offsetAnswer, offsetPage } from '../../core/lib/offset-page.ts';
import type { Graph } from '../graph/graph.ts';
import { findAutomation, found, stepsOf } from '../queries.ts';
import type { StepRow } from '../rows.ts';
import type { ListVersions, VersionPage, VersionWithGraph } from '../schema.ts';

interface Pinned extends Pick<VersionWithGraph, 'version' | 'createdAt' | 'isCurrent'> {
  graph: Graph;
  layout: Record<string, StepRow['position']> | null;
  notes: Record<string, string> | null;
  templates: Record<string, string> | null;
}

/** The versions of an automation's graph that contacts were or are in, newest first. @throws 404 */
export async function listVersions(db: Database, projectId: string, automationId: string, query: ListVersions) {
  found(await findAutomation(db, projectId, automationId), automationId);
  const page = offsetPage(query, 100);
  const rows = await db.rows<VersionPage['data'][number] & { total: number }>(sql`
    select v.version, ${raw(isoText('v.created_at'))} as "createdAt", jsonb_array_length(v.graph -> 'steps') as steps,
      v.id = a.current_version_id and not a.graph_dirty as "isCurrent",
      (select count(*)::int from automation_runs r
       where r.automation_id = a.id and r.version_id = v.id and r.status in ('RUNNING', 'WAITING')) as active,
      count(*) over ()::int as total
    from automation_versions v join automations a on a.id = v.automation_id
    where v.automation_id = ${automationId} order by v.version desc limit ${page.pageSize} offset ${page.offset}`);
  return offsetAnswer(
    rows.map(({ total: _, ...row }) => row),
    page,
    rows[0]?.total ?? 0,
  );
}

/**
 * A version with its graph, as runs that are pinned to it execute it. Positions and notes are those of today where every step is
 * still there, else those of when it was made; null where they were not kept. @throws 404
 */
export async function getVersion(
  db: Database,
  projectId: string,
  automationId: string,
  version: string,
): Promise<VersionWithGraph> {
  found(await findAutomation(db, projectId, automationId), automationId);
  if (!/^[1-9]\d{0,8}$/.test(version)) throw notFound('version', version);
  const row = await db.row<Pinned>(sql`
    select v.version, v.graph, v.layout, v.notes, ${raw(isoText('v.created_at'))} as "createdAt",
      v.id = a.current_version_id and not a.graph_dirty as "isCurrent",
      (select jsonb_object_agg(t.id, t.name) from templates t where t.project_id = a.project_id and t.id in (
        select (step ->> 'templateId')::uuid from jsonb_array_elements(v.graph -> 'steps') step)) as templates
    from automation_versions v join automations a on a.id = v.automation_id
    where v.automation_id = ${automationId} and v.version = ${Number(version)}`);
  if (row === null) throw notFound('version', version);
  const { graph, layout, notes, templates, ...facts } = row;
  const today = new Map((await stepsOf(db, automationId)).map((step) => [step.id, step]));
  const isHere = graph.steps.every(({ id }) => today.has(id));
  return {
    ...facts,
    steps: graph.steps.map((step) => ({
      ...step,
      position: (isHere ? today.get(step.id)?.position : layout?.[step.id]) ?? null,
      note: (isHere ? today.get(step.id)?.note : notes?.[step.id]) ?? null,
      template: step.templateId === null ? null : { id: step.templateId, name: templates?.[step.templateId] ?? '' },
    })),
    transitions: [...graph.transitions],
  };
}
