import { Migration } from '@mikro-orm/migrations';

/** Lists of contacts that a project keeps: a filter, a sort and columns under a name. */
export class Migration20261122025000_contact_views extends Migration {
  override up(): void {
    this.addSql(`
      create table contact_views (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        filter jsonb not null default '{}',
        sort text not null default 'createdAt',
        dir text not null default 'desc',
        columns jsonb,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        constraint contact_views_name unique (project_id, name)
      )`);
  }
}
