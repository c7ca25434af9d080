import { Migration } from '@mikro-orm/migrations';

/** Which failed mail keeps its attachments, so that it can be sent again: their sum in a project is limited. */
export class Migration20261123030000_failed_attachments extends Migration {
  override up(): void {
    this.addSql(`
      create table failed_attachments (
        email_id uuid not null primary key references emails (id) on delete cascade,
        project_id uuid not null,
        bytes integer not null
      )`);
    this.addSql('create index failed_attachments_project on failed_attachments (project_id)');
  }
}
