import { Migration } from '@mikro-orm/migrations';

/** Tags of mail. Mail without any has no row, so that it costs nothing. */
export class Migration20261122009500_email_tags extends Migration {
  override up(): void {
    this.addSql(`
      create table email_tags (
        email_id uuid not null references emails (id) on delete cascade,
        name text not null,
        value text not null,
        project_id uuid not null,
        primary key (email_id, name)
      )`);
    this.addSql('create index email_tags_value on email_tags (project_id, name, value, email_id)');
  }
}
