import { Migration } from '@mikro-orm/migrations';

/**
 * A change of a contact keeps the key whose limits hold for what it starts, so that they hold for what it starts later too, and after the
 * key was deleted. The changes that keys with limits have made until now get theirs.
 */
export class Migration20261124133000_limited_changes extends Migration {
  override up(): void {
    this.addSql('alter table contact_changes add column limited_by uuid');
    this.addSql('alter table contact_history add column limited_by uuid');
    this.addSql(`
      update contact_changes c set limited_by = k.id from api_keys k
      where k.recipients is not null and c.project_id = k.project_id and (
        case when left(c.cause, 1) = '{' then c.cause::jsonb #>> '{by,id}' end = k.id::text
        or exists (select from jobs j where j.id = c.cause and j.limited_by = k.id))`);
    this.addSql(`
      update contact_history h set limited_by = k.id from api_keys k
      where k.recipients is not null and h.project_id = k.project_id and h.cause #>> '{by,id}' = k.id::text`);
    this.addSql('create index contact_changes_limited on contact_changes (contact_id) where limited_by is not null');
    this.addSql('create index events_limited on events (contact_id) where limited_by is not null');
  }
}
