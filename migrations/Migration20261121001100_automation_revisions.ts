import { Migration } from '@mikro-orm/migrations';

/** What guards the edits of an automation against one another, and the layout that a version was drawn with. */
export class Migration20261121001100_automation_revisions extends Migration {
  override up(): void {
    // revision counts every edit of the automation, its steps and transitions. edited_at is null until the first of them,
    // edited_by where it was made with a key.
    this.addSql(`
      alter table automations
        add column revision integer not null default 1,
        add column edited_at timestamptz(3),
        add column edited_by uuid references users on delete set null`);
    // Places of the steps by their ids, no part of what the hash covers; null in versions from before.
    this.addSql('alter table automation_versions add column layout jsonb');
  }
}
