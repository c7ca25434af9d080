import { Migration } from '@mikro-orm/migrations';

/** How many recipients a send may come to have without an approval, for one that was scheduled by somebody who needs it. */
export class Migration20261122020100_unapproved_sends extends Migration {
  override up(): void {
    this.addSql('alter table campaign_sends add column most_unapproved integer');
  }
}
