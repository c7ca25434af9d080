import { Migration } from '@mikro-orm/migrations';

/**
 * The content of a send can be replaced while it is paused: claims and mail note which version they carry, and a version that was
 * replaced is kept. A mail without a version carries the first, so that nothing is written for a send whose content never changed.
 * A correction is a campaign to those who got certain versions.
 */
export class Migration20261122031000_content_versions_of_sends extends Migration {
  override up(): void {
    this.addSql(`alter table emails add column content_version integer`);
    this.addSql(`
      alter table campaigns add column content_version integer not null default 1, add column correction jsonb,
        add constraint campaigns_correction_check check (correction is null or resend_of is not null)`);
    this.addSql(`drop index campaigns_resend`);
    this.addSql(`
      create unique index campaigns_resend on campaigns (resend_of, resend_seq)
      where resend_of is not null and correction is null`);
    this.addSql(`
      alter table campaign_claims add column version integer not null default 1, add column former_version integer`);
    this.addSql(`
      create table campaign_versions (
        campaign_id uuid not null references campaigns (id) on delete cascade,
        send_seq integer not null,
        version integer not null,
        subject text not null,
        body text not null,
        sent integer not null,
        replaced_at timestamptz(3) not null default now(),
        primary key (campaign_id, send_seq, version)
      )`);
  }
}
