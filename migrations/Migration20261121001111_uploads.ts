import { Migration } from '@mikro-orm/migrations';

/** What was uploaded, so that it can be listed and deleted; the bytes are in the store of images. */
export class Migration20261121001111_uploads extends Migration {
  override up(): void {
    this.addSql(`
      create table uploads (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        key text not null,
        filename text not null,
        content_type text not null,
        size integer not null,
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index uploads_project on uploads (project_id, id)');
  }
}
