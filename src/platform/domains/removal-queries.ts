import { type Database, sql } from '../../core/database/sql.ts';
import { DomainRemoval } from './entity.ts';

/** Notes, inside the transaction that deletes a domain, that the provider must forget it as well. */
export async function removeLater(tx: Database, providerId: string, domain: string): Promise<void> {
  await tx.count(sql`
    insert into domain_removals (provider_id, domain, due_at) values (${providerId}, ${domain}, now() + interval '1 minute')
      on conflict do nothing`);
}

/** The provider has forgotten it. */
export async function removalDone(db: Database, providerId: string): Promise<void> {
  await db.session().em.nativeDelete(DomainRemoval, { providerId });
}

/** Takes removals whose time has come, for an attempt; what fails again is tried ever more rarely. */
export async function takeRemovals(db: Database, limit: number): Promise<string[]> {
  const rows = await db.rows<{ providerId: string }>(sql`
    with due as (
      select provider_id from domain_removals r where due_at <= now() order by due_at limit ${limit} for update skip locked)
    update domain_removals r
      set due_at = now() + least(interval '1 day', greatest(interval '5 minutes', now() - r.created_at))
      from due where r.provider_id = due.provider_id
        and not exists (select from domains d where d.provider_id = r.provider_id)
      returning r.provider_id as "providerId"`);
  return rows.map(({ providerId }) => providerId);
}
