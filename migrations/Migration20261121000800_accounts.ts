import { Migration } from '@mikro-orm/migrations';

/** Sign-in: single-use tokens, counted attempts, the service's own mail, and projects that are being emptied or removed. */
export class Migration20261121000800_accounts extends Migration {
  override up(): void {
    this.addSql(`
      create table account_tokens (
        token_hash bytea primary key,
        user_id uuid not null references users on delete cascade,
        purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
        expires_at timestamptz(3) not null,
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index account_tokens_user on account_tokens (user_id, purpose)');
    this.addSql('create index account_tokens_expiry on account_tokens (expires_at)');

    // Fixed windows of attempts, shared by all processes. The subject (an address, a network address, a user) is hashed: the
    // table would otherwise list what strangers typed.
    this.addSql(`
      create table attempt_windows (
        scope text not null,
        subject bytea not null,
        used integer not null,
        ends_at timestamptz not null,
        primary key (scope, subject)
      ) with (fillfactor = 70)`);
    this.addSql('create index attempt_windows_end on attempt_windows (ends_at)');

    // Mail of the service itself. content_sealed holds subject, text and HTML encrypted, for a link inside may sign somebody
    // in; it is emptied once the provider has the mail.
    this.addSql(`
      create table system_mails (
        id uuid primary key,
        kind text not null,
        to_address text not null,
        dedupe_key text unique,
        content_sealed text,
        status text not null default 'PENDING' check (status in ('PENDING', 'SENT', 'FAILED')),
        attempts integer not null default 0,
        message_id text,
        error text,
        sent_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql(`create index system_mails_pending on system_mails (updated_at) where status = 'PENDING'`);
    this.addSql('create index system_mails_age on system_mails (created_at)');

    // resetting: everything but the project itself is being deleted, and writes are refused. deleted_at: the project is gone
    // for everybody, and its rows are being removed.
    this.addSql(
      'alter table projects add column resetting boolean not null default false, add column deleted_at timestamptz(3)',
    );
    this.addSql(`
      create table project_wipes (
        id uuid primary key,
        project_id uuid not null,
        kind text not null check (kind in ('RESET', 'DELETE')),
        place integer not null default 0,
        after uuid,
        pass integer not null default 1,
        removed_in_pass bigint not null default 0,
        removed bigint not null default 0,
        provider_domains jsonb not null default '[]',
        subscription text,
        finished_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create unique index project_wipes_open on project_wipes (project_id) where finished_at is null');
    this.addSql('create index project_wipes_age on project_wipes (finished_at) where finished_at is not null');
  }

  override down(): void {
    this.addSql('drop table project_wipes, system_mails, attempt_windows, account_tokens');
    this.addSql('alter table projects drop column resetting, drop column deleted_at');
  }
}
