import { Migration } from '@mikro-orm/migrations';

/** How often somebody without a key has looked at the pages of recipients. Losing it in a crash costs nothing. */
export class Migration20261121000600_recipient_visits extends Migration {
  override up(): void {
    this.addSql(`
      create unlogged table recipient_visits (
        visitor text primary key,
        started_at timestamptz(3) not null,
        used integer not null
      ) with (fillfactor = 70)`);
    this.addSql('create index recipient_visits_started on recipient_visits (started_at)');
  }
}
