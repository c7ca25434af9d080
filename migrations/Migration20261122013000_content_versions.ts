import { Migration } from '@mikro-orm/migrations';

/** The history of templates and drafts of campaigns: what each save made of them. */
export class Migration20261122013000_content_versions extends Migration {
  override up(): void {
    this.addSql(`
      create table content_versions (
        project_id uuid not null references projects on delete cascade,
        item_id uuid not null,
        version integer not null,
        author_kind text check (author_kind in ('user', 'key', 'mcp', 'system')),
        author_id text,
        restored_from integer,
        content jsonb not null,
        created_at timestamptz(3) not null default now(),
        primary key (project_id, item_id, version)
      )`);
  }
}
