import { type Sql, statement } from '../../core/database/sql.ts';

const add = statement(
  'domain_removals.add',
  `insert into domain_removals (provider_id, domain, due_at) values ($1, $2, now() + interval '1 minute') on conflict do nothing`,
);

/** Writes down, inside the transaction that deletes a domain, that the provider must forget it as well. */
export async function removeLater(sql: Sql, providerId: string, domain: string): Promise<void> {
  await sql.count(add, [providerId, domain]);
}

const drop = statement('domain_removals.drop', 'delete from domain_removals where provider_id = $1');
const keep = statement('domain_removals.keep', 'delete from domain_removals where domain = $1');

/** The provider has forgotten it. */
export async function removalDone(sql: Sql, providerId: string): Promise<void> {
  await sql.count(drop, [providerId]);
}

/** The domain is wanted again: what the provider still has of it is used. */
export async function keepAtProvider(sql: Sql, domain: string): Promise<void> {
  await sql.count(keep, [domain]);
}

const due = statement(
  'domain_removals.take',
  `with due as (
     select provider_id from domain_removals r where due_at <= now() order by due_at limit $1 for update skip locked)
   update domain_removals r set due_at = now() + least(interval '1 day', greatest(interval '5 minutes', now() - r.created_at))
   from due where r.provider_id = due.provider_id
     and not exists (select from domains d where d.provider_id = r.provider_id)
   returning r.provider_id as "providerId"`,
);

/** Takes removals whose time has come, for an attempt; what fails again is tried ever more rarely. */
export async function takeRemovals(sql: Sql, limit: number): Promise<string[]> {
  return (await sql.rows<{ providerId: string }>(due, [limit])).map(({ providerId }) => providerId);
}
