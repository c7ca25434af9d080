import { Migration } from '@mikro-orm/migrations';

/**
 * The canary of a send: a first slice of its recipients, the limits it is held against, and what came of it. While
 * `campaign_sends.canary` is set, only members of the slice are claimed.
 */
export class Migration20261122021000_campaign_canaries extends Migration {
  override up(): void {
    this.addSql('alter table campaigns add column pause_reason text');
    this.addSql('alter table campaign_sends add column canary boolean not null default false');
    this.addSql('alter table campaign_claims add column canary boolean not null default false');
    this.addSql(`
      create table campaign_canaries (
        campaign_id uuid not null,
        send_seq integer not null,
        recipients integer not null,
        hold_seconds integer not null,
        stop_if jsonb not null,
        min_delivered integer not null,
        state text not null default 'WAITING' check (state in ('WAITING', 'SENDING', 'HOLDING', 'STOPPED', 'PASSED')),
        chosen integer,
        held_until timestamptz(3),
        released_at timestamptz(3),
        ended_at timestamptz(3),
        stopped jsonb,
        counts jsonb,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        primary key (campaign_id, send_seq),
        foreign key (campaign_id, send_seq) references campaign_sends (campaign_id, send_seq) on delete cascade
      )`);
    this.addSql(`
      create table campaign_canary_contacts (
        campaign_id uuid not null,
        send_seq integer not null,
        contact_id uuid not null,
        primary key (campaign_id, send_seq, contact_id),
        foreign key (campaign_id, send_seq) references campaign_canaries (campaign_id, send_seq) on delete cascade
      )`);
  }
}
