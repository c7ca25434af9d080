import { Migration } from '@mikro-orm/migrations';

/** What mail came to that retention has removed, wherever it is counted from rows: the recipients of a send, and the mail of a template. */
export class Migration20261128093000_retention extends Migration {
  override up(): void {
    this.addSql(`
      create table campaign_ledger_sums (
        campaign_id uuid not null references campaigns (id) on delete cascade,
        send_seq int not null,
        verdict text not null check (verdict in ('handed_over', 'skipped', 'failed')),
        reason text not null,
        recipients int not null,
        constraint campaign_ledger_sums_pkey primary key (campaign_id, send_seq, verdict, reason)
      )`);
    this.addSql('alter table templates add column removed_mails int not null default 0');
  }
}
