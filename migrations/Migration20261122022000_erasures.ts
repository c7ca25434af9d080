import { Migration } from '@mikro-orm/migrations';

/** Erasures of contacts with their certificates, the addresses that they keep out, and redacted entries of the audit log. */
export class Migration20261122022000_erasures extends Migration {
  override up(): void {
    this.addSql('alter table projects add column erasure_key_sealed text');
    this.addSql('alter table audit_log add column redacted_hash bytea');
    this.addSql(`
      create table erasures (
        id uuid not null primary key,
        project_id uuid not null references projects (id) on delete cascade,
        contact_id uuid not null constraint erasures_contact unique,
        subject text not null,
        reference text,
        keep_suppressed boolean not null,
        addresses_sealed text,
        phase text not null default 'SETTLING'
          constraint erasures_phase_check check (phase in ('SETTLING', 'LEDGERS', 'ROWS', 'CERTIFYING', 'WAITING', 'DONE')),
        place int not null default 0,
        after uuid,
        found_in_pass int not null default 0,
        counts jsonb not null default '{}',
        ledgers jsonb not null default '[]',
        mentions jsonb not null default '[]',
        certificate text,
        signature text,
        public_key text,
        due_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        erased_at timestamptz(3),
        finished_at timestamptz(3)
      )`);
    this.addSql('create index erasures_project on erasures (project_id, id)');
    this.addSql('create index erasures_open on erasures (updated_at, id) where finished_at is null');
    this.addSql(`
      create table erased_addresses (
        project_id uuid not null references projects (id) on delete cascade,
        subject text not null,
        suppressed boolean not null,
        created_at timestamptz(3) not null default now(),
        primary key (project_id, subject)
      )`);
  }
}
