import { Migration } from '@mikro-orm/migrations';

/** Instants to which the database was set back, and what became of the mail that the provider accepted after them. */
export class Migration20261128070000_restores extends Migration {
  override up(): void {
    this.addSql(`
      create table restores (
        restored_to timestamptz(3) not null,
        provider text not null,
        phase text not null default 'SEARCHING' check (phase in ('SEARCHING', 'MATCHING', 'SETTLING', 'FINISHED')),
        held_at timestamptz(3) not null default clock_timestamp(),
        finished_at timestamptz(3),
        searched boolean not null default true,
        position text,
        campaigns uuid[] not null,
        constraint restores_pkey primary key (restored_to)
      )`);
    this.addSql(`
      create table restored_mail (
        restored_to timestamptz(3) not null references restores (restored_to) on delete cascade,
        email_id uuid not null,
        project_id uuid not null,
        contact_id uuid,
        campaign_id uuid,
        source text not null,
        message_id text,
        accepted_at timestamptz(3),
        outcome text not null
          check (outcome in ('FOUND', 'SETTLED', 'LOST', 'MATCHED', 'UNKNOWN', 'RELEASED', 'GIVEN_UP')),
        constraint restored_mail_pkey primary key (restored_to, email_id)
      )`);
    this.addSql(`create index restored_mail_open on restored_mail (outcome) where outcome in ('FOUND', 'UNKNOWN')`);
  }
}
