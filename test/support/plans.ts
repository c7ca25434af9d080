import { type Database, type Query, sql } from '../../src/store/sql.ts';

/** A node of a plan that was run (`explain (analyze, buffers, format json)`). */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** What `explain` answers. */
export interface ExplainRow {
  'QUERY PLAN': [{ Plan: PlanNode }];
}

/** Runs a statement, and answers the nodes of its plan, the whole of it first. */
export async function planOf(db: Database, query: Query): Promise<[PlanNode, ...PlanNode[]]> {
  const row = await db.row<ExplainRow>(sql`explain (analyze, buffers, format json) ${query}`);
  if (row === null) throw new Error('There is no plan');
  const below = (node: PlanNode): PlanNode[] => (node.Plans ?? []).flatMap((each) => [each, ...below(each)]);
  const whole = row['QUERY PLAN'][0].Plan;
  return [whole, ...below(whole)];
}

/** How many pages a node and those below it have asked for. */
export const pagesOf = (node: PlanNode): number => node['Shared Hit Blocks'] + node['Shared Read Blocks'];

/** How many rows of these tables a plan has read, with those that it left out. */
export function rowsRead(node: PlanNode, tables: readonly string[]): number {
  const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = tables.includes(node['Relation Name'] ?? '') ? (node['Actual Rows'] + left) * node['Actual Loops'] : 0;
  return own + (node.Plans ?? []).reduce((sum, below) => sum + rowsRead(below, tables), 0);
}

/** The tables that a plan reads from end to end. A part of divided events with a page or none has no cheaper way. */
export function sequentialScans(nodes: readonly PlanNode[]): string[] {
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && pagesOf(node) > 1);
  return scans.map((node) => node['Relation Name'] ?? '');
}
