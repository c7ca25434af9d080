import { Migration } from '@mikro-orm/migrations';

/** Sessions that their owner can see and end, and invitations to a project for addresses that may have no account yet. */
export class Migration20261122030000_invitations_and_sessions extends Migration {
  override up(): void {
    this.addSql(`
      create table user_sessions (
        id uuid primary key,
        user_id uuid not null references users (id) on delete cascade,
        session_hash bytea not null,
        session_version integer not null,
        user_agent text not null,
        ip text not null,
        created_at timestamptz(3) not null default now(),
        expires_at timestamptz(3) not null,
        constraint user_sessions_session_hash_key unique (session_hash)
      )`);
    this.addSql('create index user_sessions_user on user_sessions (user_id, created_at)');
    this.addSql('create index user_sessions_expiry on user_sessions (expires_at)');
    this.addSql(`
      create table project_invitations (
        id uuid primary key,
        project_id uuid not null references projects (id) on delete cascade,
        email text not null,
        role text not null,
        token_hash bytea not null,
        invited_by uuid references users (id) on delete set null,
        created_at timestamptz(3) not null default now(),
        expires_at timestamptz(3) not null,
        constraint project_invitations_role_check check (role in ('ADMIN', 'MEMBER')),
        constraint project_invitations_token_hash_key unique (token_hash),
        constraint project_invitations_address unique (project_id, email)
      )`);
    this.addSql('create index project_invitations_inviter on project_invitations (invited_by)');
  }
}
