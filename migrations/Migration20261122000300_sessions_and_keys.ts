import { Migration } from '@mikro-orm/migrations';

/** Sessions that were ended by signing out, and whether members see the secret key of their project. */
export class Migration20261122000300_sessions_and_keys extends Migration {
  override up(): void {
    // A row lives as long as the session would have, at most seven days.
    this.addSql(`
      create table ended_sessions (
        session_hash bytea primary key,
        expires_at timestamptz not null
      )`);
    this.addSql('create index ended_sessions_expiry on ended_sessions (expires_at)');
    this.addSql('alter table projects add column hide_secret_key boolean not null default false');
  }

  override down(): void {
    this.addSql('drop table ended_sessions');
    this.addSql('alter table projects drop column hide_secret_key');
  }
}
