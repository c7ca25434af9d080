import { Migration } from '@mikro-orm/migrations';

/** A rate window and idempotency keys of its own for the public key of a project that wants it so. */
export class Migration20261124095000_public_key_mode extends Migration {
  override up(): void {
    this.addSql(`
      alter table projects
        add column public_key_mode text not null default 'contract',
        add column public_key_requests_per_minute int not null default 600,
        add constraint projects_public_key_mode_check check (public_key_mode in ('contract', 'hardened')),
        add constraint projects_public_key_requests_check check (public_key_requests_per_minute > 0)`);
    this.addSql(`
      alter table rate_windows
        alter column started_at drop not null,
        alter column used set default 0,
        add column public_started_at timestamptz,
        add column public_used int not null default 0`);
  }
}
