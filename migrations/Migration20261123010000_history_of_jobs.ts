import { Migration } from '@mikro-orm/migrations';

/**
 * The contacts that a job changed, in the order of their IDs: each step of an undo reads the next of them, and without it read the
 * history of the whole job for every thousand contacts. A hash is a third of the entry that the ID of a job would be.
 */
export class Migration20261123010000_history_of_jobs extends Migration {
  override up(): void {
    this.addSql(`
      create index contact_history_job on contact_history (hashtextextended(cause ->> 'id', 0), contact_id)
        where cause ->> 'type' in ('import', 'bulk', 'undo')`);
  }
}
