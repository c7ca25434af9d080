import { Migration } from '@mikro-orm/migrations';

/**
 * `write_contacts` writes contacts with all that follows, so that no trigger stands behind an insert or an update, and none is told by a
 * setting what to do. What follows a deletion is one trigger. Processes of the release before must have stopped: their changes of
 * contacts would be missing from the history and the catalogue.
 */
export class Migration20261124123000_write_contacts extends Migration {
  override up(): void {
    this.addSql(`
      drop function if exists note_contact_change() cascade;
      drop function if exists note_contact_changes() cascade;
      drop function if exists limit_contact_data() cascade;
      drop function if exists note_lost_contacts() cascade;
      drop function if exists forget_runs_of_contacts() cascade;
      drop function if exists contact_cause() cascade`);
    this.addSql('alter table contacts drop column subscription_before');
  }
}
