import { Migration } from '@mikro-orm/migrations';

/** Emails as documents of blocks, of which their HTML is compiled, and the brand kits of projects that it is compiled with. */
export class Migration20261122004001_email_documents extends Migration {
  override up(): void {
    // Null for content that was written as HTML.
    for (const table of ['templates', 'campaigns']) this.addSql(`alter table ${table} add column document jsonb`);
    this.addSql(`
      create table brands (
        project_id uuid primary key references projects on delete cascade,
        kit jsonb not null,
        updated_at timestamptz(3) not null default now())`);
  }
}
