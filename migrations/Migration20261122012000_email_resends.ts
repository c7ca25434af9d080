import { Migration } from '@mikro-orm/migrations';

/** Which mail repeats which that failed. A table of its own, so that no other mail carries a column for it. */
export class Migration20261122012000_email_resends extends Migration {
  override up(): void {
    this.addSql(`
      create table email_resends (
        email_id uuid not null primary key references emails (id) on delete cascade,
        resend_of uuid not null,
        project_id uuid not null
      )`);
    this.addSql('create index email_resends_first on email_resends (resend_of)');
  }
}
