import { Migration } from '@mikro-orm/migrations';

/** Keys with scopes. */
export class Migration20261122008000_api_keys extends Migration {
  override up(): void {
    this.addSql(`
      create table api_keys (
        id uuid not null primary key,
        project_id uuid not null references projects (id) on delete cascade,
        name text not null,
        prefix text not null,
        hash bytea not null unique,
        old_hash bytea unique,
        old_hash_until timestamptz(3),
        scopes text[] not null,
        sender_domains text[],
        recipients jsonb,
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        created_by uuid references users (id) on delete set null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index api_keys_project on api_keys (project_id, created_at)');
  }
}
