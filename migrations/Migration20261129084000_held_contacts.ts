import { Migration } from '@mikro-orm/migrations';

/** Recipients of campaigns who wait for the end of quiet hours, and claims that name their recipients. */
export class Migration20261129084000_held_contacts extends Migration {
  override up(): void {
    // The key begins with the contact, so that nothing but the index of the instants serves those who are due.
    this.addSql(`
      create table campaign_held_contacts (
        campaign_id uuid not null,
        send_seq integer not null,
        contact_id uuid not null,
        due_at timestamptz(3) not null,
        constraint campaign_held_contacts_pkey primary key (contact_id, campaign_id, send_seq),
        foreign key (campaign_id, send_seq) references campaign_sends (campaign_id, send_seq) on delete cascade
      ) with (autovacuum_vacuum_scale_factor = 0.02)`);
    this.addSql(
      'create index campaign_held_contacts_due on campaign_held_contacts (campaign_id, send_seq, due_at, contact_id)',
    );
    this.addSql('alter table campaign_claims add column contacts uuid[]');
  }
}
