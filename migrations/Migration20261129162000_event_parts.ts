import { Migration } from '@mikro-orm/migrations';

/**
 * What dropping old parts of events needs, where an operator divides them (src/store/event-parts.ts): up to which event the rows that stay are being
 * copied, and which of them changed meanwhile. `remove_events` gets a parameter more.
 */
export class Migration20261129162000_event_parts extends Migration {
  override up(): void {
    this.addSql('alter table event_counts_state add column copied_before uuid');
    this.addSql('create table events_touched (id uuid not null)');
    this.addSql('drop function if exists remove_events(uuid[])');
  }
}
