import { Migration } from '@mikro-orm/migrations';

/** Events are recorded by one function, record_events, which takes this type, and no longer by a trigger behind each insert. */
export class Migration20261124120000_record_events extends Migration {
  override up(): void {
    this.addSql(`
      create type new_event as (
        id uuid, project_id uuid, contact_id uuid, email_id uuid, name text, data jsonb, mail_at timestamptz, limited_by uuid)`);
    this.addSql('drop function if exists route_events() cascade');
  }
}
