import { type Database, join, type Query, raw, sql } from '../core/database/sql.ts';
import { likeText } from '../core/lib/text.ts';
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

function filtered(projectId: string, { search, enabled }: AutomationFilter): Query {
  const where = [sql`a.project_id = ${projectId}`];
  if (enabled !== null) where.push(sql`a.enabled = ${enabled}`);
  if (search !== null) {
    const pattern = `%${likeText(search)}%`;
    where.push(sql`(a.name ilike ${pattern} or a.description ilike ${pattern})`);
  }
  return join(where, ' and ');
}

/** Where a page begins: at an offset, or after the place that a cursor names. */
export type PageStart = { offset: number } | { after: { place: string; id: string } };

/** Up to `limit` automations of a page. Executions are counted for those of the page only. */
export function pageOfAutomations(
  db: Database,
  projectId: string,
  filter: AutomationFilter,
  start: PageStart,
  limit: number,
): Promise<ListedAutomation[]> {
  const [column, type, dir] = [raw(sortColumns[filter.sort]), raw(sortTypes[filter.sort]), raw(filter.dir)];
  const beyond = raw(filter.dir === 'asc' ? '>' : '<');
  const after =
    'after' in start
      ? sql`and (${column}, a.id) ${beyond} (${start.after.place}::${type}, ${start.after.id}::uuid)`
      : raw('');
  return db.rows<ListedAutomation>(sql`
    select ${automationColumns}, counted.steps, ${column}::text as place,
      (select count(*)::int from automation_runs r where r.automation_id = a.id) as executions
    from automations a cross join lateral (
      select count(*)::int as steps from automation_steps s where s.automation_id = a.id) counted
    where ${filtered(projectId, filter)} ${after}
    order by ${column} ${dir}, a.id ${dir} limit ${limit} offset ${'offset' in start ? start.offset : 0}`);
}

/** How many automations the filter leaves. */
export async function countAutomations(db: Database, projectId: string, filter: AutomationFilter): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from automations a where ${filtered(projectId, filter)}`);
  return row?.total ?? 0;
}
