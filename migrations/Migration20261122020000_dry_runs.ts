import { Migration } from '@mikro-orm/migrations';

/** Reviews of campaigns before they are sent: what a dry run found, whom it found, and who has to approve the send. */
export class Migration20261122020000_dry_runs extends Migration {
  override up(): void {
    this.addSql(`
      create table dry_runs (
        id uuid not null primary key,
        project_id uuid not null references projects (id) on delete cascade,
        campaign_id uuid not null,
        n integer not null,
        state text not null default 'RUNNING' check (state in ('RUNNING', 'DONE', 'FAILED')),
        failed_reason text,
        facts jsonb not null,
        expected integer not null,
        through uuid,
        audience integer not null default 0,
        would_send integer not null default 0,
        render_ms double precision not null default 0,
        chain bytea not null default '',
        findings jsonb not null default '{}',
        fingerprint text,
        finished_at timestamptz(3),
        expires_at timestamptz(3) not null,
        asked jsonb,
        asked_at timestamptz(3),
        approved_by uuid references users (id) on delete set null,
        approved_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        constraint dry_runs_campaign unique (campaign_id, n)
      )`);
    this.addSql('create index dry_runs_expiry on dry_runs (expires_at)');
    this.addSql('create index dry_runs_project on dry_runs (project_id)');
    this.addSql(`create index dry_runs_running on dry_runs (updated_at) where state = 'RUNNING'`);
    this.addSql(`
      create table dry_run_rows (
        dry_run_id uuid not null references dry_runs (id) on delete cascade,
        contact_id uuid not null,
        body_hash bytea,
        bytes integer,
        left_out text,
        primary key (dry_run_id, contact_id)
      )`);
    this.addSql('alter table campaign_sends add column review_id uuid, add column drift text');
    this.addSql('alter table projects add column approval_above integer check (approval_above >= 0)');
  }
}
