import { Migration } from '@mikro-orm/migrations';

/** The full life of campaigns: pauses, rows that were left out on purpose, and sends to those whom an earlier send missed. */
export class Migration20261121000400_campaigns extends Migration {
  override up(): void {
    // resend_of, resend_seq: the audience is whom that send of that campaign missed.
    this.addSql(`
      alter table campaigns
        add column paused_at timestamptz(3),
        add column skipped_count integer not null default 0,
        add column resend_of uuid,
        add column resend_seq integer,
        add check ((resend_of is null) = (resend_seq is null))`);
    // Of two requests at once one makes the resend; nobody whom it reached is written to again by another.
    this.addSql(
      'create unique index campaigns_resend on campaigns (resend_of, resend_seq) where resend_of is not null',
    );
    // When it was last made sure that something works on the send.
    this.addSql('alter table campaign_sends add column checked_at timestamptz(3) not null default now()');
    this.addSql('create index campaign_sends_checked on campaign_sends (checked_at) where not closed');
  }
}
