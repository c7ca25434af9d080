import { Migration } from '@mikro-orm/migrations';

/** How large a queued mail is once it is read: what the ledger stores may be compressed to a hundredth of that. */
export class Migration20261122001200_queued_bytes extends Migration {
  override up(): void {
    // Mail from before is 0 and counts by what it takes in the ledger.
    this.addSql('alter table email_queue add column bytes int not null default 0');
  }
}
