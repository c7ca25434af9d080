import { Migration } from '@mikro-orm/migrations';

/** Contacts that the undo of an import has deleted, so that it can be undone itself. */
export class Migration20261122011001_contacts_trash extends Migration {
  override up(): void {
    this.addSql(`
      create table contacts_trash (
        id uuid primary key,
        project_id uuid not null,
        job_id text not null,
        deleted_at timestamptz(3) not null default now(),
        email text not null,
        subscribed boolean not null,
        data jsonb not null,
        created_at timestamptz(3) not null
      )`);
    this.addSql('create index contacts_trash_deleted on contacts_trash (deleted_at)');
    this.addSql('create index contacts_trash_job on contacts_trash (job_id, id)');
    this.addSql('create index contacts_trash_project on contacts_trash (project_id)');
  }
}
