import { type Query, sql } from '../../core/database/sql.ts';

/**
 * The common table expressions that find or write the contacts of several requests at once. They follow one called `item`, of
 * `contact_id` (for a new contact), `email` and `set` (data to store), whose addresses differ. `contact` gets id, email, subscribed and
 * data of those that can be written for. What would not change is read and not written. `why` is `because(…)`.
 *
 * Requests that share a statement must not wait for what one of them waits for. So new contacts come first, in the order of their
 * addresses like in every upsert, and then nothing waits: contacts that somebody else holds are left out of `contact`.
 */
export function groupedContactCtes(projectId: string, subscribedWhenNew: boolean, why: Query): Query {
  return sql`
    known as materialized (
      select c.id, c.email, c.subscribed, c.data, item.set, c.data || item.set <> c.data as changes
      from item cross join lateral (
        select * from contacts where project_id = ${projectId} and email = item.email limit 1) c),
    added as (
      insert into contacts (id, project_id, email, subscribed, subscription_before, data)
      select contact_id, ${projectId}, email, ${subscribedWhenNew}, ${subscribedWhenNew}, set from item
      where not exists (select from known where known.email = item.email) and ${why}
      order by email
      on conflict (project_id, email) do nothing
      returning id, email, subscribed, data),
    free as materialized (
      select c.id from contacts c
      where c.id = any (array(select id from known where not changes)) and (select count(*) from added) >= 0
      for key share skip locked),
    held as materialized (
      select c.id from contacts c
      where c.id = any (array(select id from known where changes)) and (select count(*) from added) >= 0
      for no key update skip locked),
    changed as (
      update contacts c set subscription_before = c.subscribed, data = c.data || known.set, updated_at = now()
      from known
      where c.id = any (array(select id from held)) and known.id = c.id and ${why}
      returning c.id, c.email, c.subscribed, c.data),
    contact as (
      select id, email, subscribed, data from known where id in (select id from free)
      union all
      select id, email, subscribed, data from changed
      union all
      select id, email, subscribed, data from added)`;
}
