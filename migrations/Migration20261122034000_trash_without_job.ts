import { Migration } from '@mikro-orm/migrations';

/** A single contact is restorable as well; no job has deleted it. */
export class Migration20261122034000_trash_without_job extends Migration {
  override up(): void {
    this.addSql('alter table contacts_trash alter column job_id drop not null');
  }
}
