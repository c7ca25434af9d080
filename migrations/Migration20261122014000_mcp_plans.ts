import { Migration } from '@mikro-orm/migrations';

/** Plans of language models, and what a key allows them. */
export class Migration20261122014000_mcp_plans extends Migration {
  override up(): void {
    this.addSql('alter table api_keys add column mcp jsonb');
    this.addSql(`
      create table mcp_plans (
        id uuid not null primary key,
        project_id uuid not null references projects (id) on delete cascade,
        key_id uuid not null,
        action text not null,
        operation text not null,
        input jsonb not null,
        sentence text not null,
        affects int not null,
        samples text[] not null,
        content_hash bytea,
        again boolean not null,
        needs_approval boolean not null,
        approved_at timestamptz(3),
        approved_by uuid,
        committed_at timestamptz(3),
        result jsonb,
        expires_at timestamptz(3) not null,
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index mcp_plans_project on mcp_plans (project_id, created_at)');
    this.addSql('create index mcp_plans_content on mcp_plans (project_id, content_hash, committed_at)');
  }
}
