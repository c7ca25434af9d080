import { Migration } from '@mikro-orm/migrations';

/** From which step execution on a retried run sends mail again: what it has sent before then is passed. */
export class Migration20261128191000_retried_runs extends Migration {
  override up(): void {
    this.addSql('alter table automation_runs add column sent_before int');
  }
}
