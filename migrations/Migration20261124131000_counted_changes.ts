import { Migration } from '@mikro-orm/migrations';

/** Mail that changes is counted, and its failure reported, by the statement that changes it, and no longer by triggers behind each update. */
export class Migration20261124131000_counted_changes extends Migration {
  override up(): void {
    this.addSql('drop function if exists recount_changed_mail() cascade');
    this.addSql('drop function if exists tell_failed_mail() cascade');
  }
}
