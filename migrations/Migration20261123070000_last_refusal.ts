import { Migration } from '@mikro-orm/migrations';

/** What the provider answered to the latest attempt, so that a mail that waits can say why. The row is written then anyway. */
export class Migration20261123070000_last_refusal extends Migration {
  override up(): void {
    this.addSql('alter table email_queue add column last_refusal text');
  }
}
