import { Migration } from '@mikro-orm/migrations';

/**
 * Frees the two tables that get a row for each message from foreign keys whose checks cost more than the row itself
 * (measured: a third of all work of Postgres during a campaign). What the keys did on deletion is done by a trigger for
 * each statement. `emails.contact_id` keeps its key: no message may be in the ledger without its recipient.
 */
export class Migration20261121000300_history extends Migration {
  override up(): void {
    // A project's mail goes with its contacts.
    this.addSql('alter table emails drop constraint emails_project_id_fkey');
    this.addSql('alter table events drop constraint events_contact_id_fkey, drop constraint events_project_id_fkey');
    this.addSql(`
      create function forget_contacts() returns trigger language plpgsql as $fn$
      begin
        delete from events e using gone where e.contact_id = gone.id;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger contacts_forgotten after delete on contacts referencing old table as gone
        for each statement execute function forget_contacts()`);
    this.addSql(`
      create function forget_projects() returns trigger language plpgsql as $fn$
      begin
        delete from events e using gone where e.project_id = gone.id;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger projects_forgotten after delete on projects referencing old table as gone
        for each statement execute function forget_projects()`);
  }
}
