import { Migration } from '@mikro-orm/migrations';

/** Blocks of emails that a project keeps to insert again. */
export class Migration20261122013001_saved_blocks extends Migration {
  override up(): void {
    this.addSql(`
      create table saved_blocks (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        content jsonb not null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        constraint saved_blocks_name unique (project_id, name)
      )`);
  }
}
