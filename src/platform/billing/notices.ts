import { type Database, raw, sql } from '../../core/database/sql.ts';
import { leastId } from '../../core/lib/ids.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { billingColumns, type ProjectBilling, type UsageCategory } from '../projects/index.ts';
import type { TellMembers } from '../system-mail/index.ts';
import { thisMonth } from './counting-queries.ts';
import type { BillingSettings } from './service.ts';
import { usageOf, usedOf } from './usage-queries.ts';
import { type UsageGate, usageGate } from './usage-schema.ts';

export interface NoticeDeps extends Pick<BillingSettings, 'freeTier'> {
  db: Database;
  tell: TellMembers;
  dispatchSoon(...tickets: readonly OutboxTicket[]): void;
}

const pageSize = 200;
const names: Record<UsageGate['category'], string> = {
  WORKFLOW: 'workflows',
  CAMPAIGN: 'campaigns',
  TRANSACTIONAL: 'transactional',
  INBOUND: 'inbound',
  TOTAL: 'all mail',
};

/**
 * Tells the members of projects that have used 80 % or all of a limit, once for each month, category and level. Answers
 * how many such notices were written. Safe to run side by side.
 */
export async function tellOfUsage(deps: NoticeDeps): Promise<number> {
  let told = 0;
  for (let after = leastId; ; ) {
    const projects = await limitedProjects(deps.db, after);
    for (const { id, billing, categories } of projects) {
      after = id;
      const used = await usageOf(deps.db, id);
      for (const category of categories) {
        const gate = gateNamed(billing, category, deps.freeTier);
        if (gate === null) continue;
        const usage = usedOf(used, category);
        const level = usage >= gate.limit ? 100 : usage >= 0.8 * gate.limit ? 80 : null;
        if (level !== null && (await tellOne(deps, id, gate, usage, level))) told += 1;
      }
    }
    if (projects.length < pageSize) return told;
  }
}

/** A page of projects whose mail is counted against limits that are not known to be reached. */
function limitedProjects(db: Database, after: string): Promise<LimitedProject[]> {
  return db.rows(sql`
    select p.id, ${raw(billingColumns('p'))} as billing, array_agg(u.category) as categories
      from usage_counters u join projects p on p.id = u.project_id
      where u.month = ${thisMonth} and u.reserved is not null and p.id > ${after}
        and not exists (select from usage_notices n where n.project_id = u.project_id and n.month = u.month
          and n.category = u.category and n.level = 100)
      group by p.id order by p.id limit ${pageSize}`);
}

interface LimitedProject {
  id: string;
  billing: ProjectBilling;
  categories: UsageGate['category'][];
}

async function tellOne(
  deps: NoticeDeps,
  projectId: string,
  { category, limit }: UsageGate,
  usage: number,
  level: 80 | 100,
): Promise<boolean> {
  const tickets = await deps.db.transaction(async (tx) => {
    // Who hears that the limit is reached need not hear that it comes near.
    const levels = level === 100 ? [80, 100] : [80];
    const added = await tx.rows<{ level: number }>(sql`
      insert into usage_notices (project_id, month, category, level)
        select ${projectId}, ${thisMonth}, ${category}, level from unnest(${levels}::smallint[]) as l(level)
        on conflict do nothing returning level`);
    if (!added.some((row) => row.level === level)) return null;
    const values = { used: String(usage), limit: String(limit), category: names[category] };
    const kind = level === 100 ? 'usage-reached' : 'usage-warning';
    return deps.tell(tx, { projectId, kind, path: '/settings?tab=billing', values });
  });
  if (tickets === null) return false;
  deps.dispatchSoon(...tickets);
  return true;
}

function gateNamed(billing: ProjectBilling, name: UsageGate['category'], freeTier: number | null): UsageGate | null {
  const category: UsageCategory = name === 'TOTAL' ? 'TRANSACTIONAL' : name;
  const gate = usageGate(billing, category, freeTier);
  return gate?.category === name ? gate : null;
}
