import { Migration } from '@mikro-orm/migrations';

/** Waits whose event has come, or one that their run has yet to test: both have an event, and the first of them an outcome. */
export class Migration20261128192000_tested_waits extends Migration {
  override up(): void {
    this.addSql('drop index automation_step_runs_resolved');
    this.addSql(`
      create index automation_step_runs_resolved on automation_step_runs (updated_at, id)
      where status = 'WAITING' and resume_event_id is not null`);
  }
}
