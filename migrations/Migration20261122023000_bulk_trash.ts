import { Migration } from '@mikro-orm/migrations';

/** Bulk deletes can be undone for a week: the trash keeps memberships, the history says who deleted a contact, and jobs are listed. */
export class Migration20261122023000_bulk_trash extends Migration {
  override up(): void {
    this.addSql(`alter table contacts_trash add column memberships jsonb not null default '[]'`);
    this.addSql('drop index contacts_trash_project');
    this.addSql('create index contacts_trash_email on contacts_trash (project_id, email)');
    this.addSql(`
      alter table contact_history add column moved text
        constraint contact_history_moved_check check (moved in ('deleted', 'restored'))`);
    this.addSql('drop index jobs_project');
    this.addSql('create index jobs_list on jobs (project_id, created_at, id)');
  }
}
