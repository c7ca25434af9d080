import { Migration } from '@mikro-orm/migrations';

/** The audit log: who changed what, each row with the hash of the row before it; `audit_heads` has the last hash of a project. */
export class Migration20261122008001_audit_log extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_log (
        id uuid not null primary key,
        project_id uuid not null,
        position bigint not null,
        at timestamptz(3) not null,
        actor_kind text not null check (actor_kind in ('user', 'key', 'mcp', 'system')),
        actor_id text,
        action text not null,
        target text,
        before jsonb,
        after jsonb,
        request_id text,
        ip_hash bytea,
        prev_hash bytea not null,
        constraint audit_log_position unique (project_id, position)
      )`);
    this.addSql('create index audit_log_at on audit_log (at)');
    this.addSql(`
      create table audit_heads (
        project_id uuid not null primary key,
        position bigint not null,
        removed_through bigint not null default 0,
        hash bytea not null
      )`);
  }
}
