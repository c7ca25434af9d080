import { Migration } from '@mikro-orm/migrations';

/** What answers why a contact did not enter a workflow: the last refusal of each contact, and when workflows were enabled. */
export class Migration20261122015000_explained_enrollments extends Migration {
  override up(): void {
    this.addSql(`
      alter table automation_entries
        add column refused_at timestamptz(3), add column refused_reason text, add column refused_event_id uuid,
        add column refusals integer not null default 0`);
    this.addSql(`
      create table automation_switches (
        id uuid primary key default uuidv7(),
        automation_id uuid not null references automations (id) on delete cascade,
        at timestamptz(3) not null default now(),
        enabled boolean not null
      )`);
    this.addSql('create index automation_switches_automation on automation_switches (automation_id, at)');
  }
}
