import type { Sql } from '../core/database/sql.ts';
import { type AutomationRow, automationColumns } from './rows.ts';

/** Which automations a list has, and in which order. */
export interface AutomationFilter {
  search: string | null;
  enabled: boolean | null;
  sort: 'name' | 'createdAt' | 'updatedAt' | 'steps';
  dir: 'asc' | 'desc';
}

/** An automation of a list. */
export interface ListedAutomation extends AutomationRow {
  steps: number;
  executions: number;
  /** The value it is sorted by, as text. */
  place: string;
}

const sortColumns = { name: 'a.name', createdAt: 'a.created_at', updatedAt: 'a.updated_at', steps: 'counted.steps' };
const sortTypes = { name: 'text', createdAt: 'timestamptz', updatedAt: 'timestamptz', steps: 'integer' };

function filtered(projectId: string, { search, enabled }: AutomationFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [projectId];
  const where = ['a.project_id = $1'];
  if (enabled !== null) where.push(`a.enabled = $${values.push(enabled)}`);
  if (search !== null) {
    const pattern = `$${values.push(`%${search.replaceAll(/[\\%_]/g, '\\$&')}%`)}`;
    where.push(`(a.name ilike ${pattern} or a.description ilike ${pattern})`);
  }
  return { where: where.join(' and '), values };
}

/** Where a page begins: at an offset, or after the place that a cursor names. */
export type PageStart = { offset: number } | { after: { place: string; id: string } };

/** Up to `limit` automations of a page. Executions are counted for those of the page only. */
export function pageOfAutomations(
  sql: Sql,
  projectId: string,
  filter: AutomationFilter,
  start: PageStart,
  limit: number,
): Promise<ListedAutomation[]> {
  const { where, values } = filtered(projectId, filter);
  const column = sortColumns[filter.sort];
  let after = '';
  if ('after' in start) {
    const place = `$${values.push(start.after.place)}::${sortTypes[filter.sort]}`;
    after = `and (${column}, a.id) ${filter.dir === 'asc' ? '>' : '<'} (${place}, $${values.push(start.after.id)}::uuid)`;
  }
  const offset = `$${values.push('offset' in start ? start.offset : 0)}`;
  return sql.rows<ListedAutomation>(
    `select page.*, (select count(*)::int from automation_runs r where r.automation_id = page.id) as executions
     from (
       select ${automationColumns}, counted.steps, ${column}::text as place,
         row_number() over (order by ${column} ${filter.dir}, a.id ${filter.dir}) as ordinal
       from automations a cross join lateral (
         select count(*)::int as steps from automation_steps s where s.automation_id = a.id) counted
       where ${where} ${after}
       order by ${column} ${filter.dir}, a.id ${filter.dir} limit $${values.push(limit)} offset ${offset}) page
     order by page.ordinal`,
    values,
  );
}

/** How many automations the filter leaves. */
export async function countAutomations(sql: Sql, projectId: string, filter: AutomationFilter): Promise<number> {
  const { where, values } = filtered(projectId, filter);
  const row = await sql.row<{ total: number }>(
    `select count(*)::int as total from automations a where ${where}`,
    values,
  );
  return row?.total ?? 0;
}
