import { Migration } from '@mikro-orm/migrations';

/** SMTP submission: a repeated message is answered with the emails of the first time. */
export class Migration20261122009000_smtp_in extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_keys add column email_ids uuid[]');
  }
}
