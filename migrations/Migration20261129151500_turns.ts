import { Migration } from '@mikro-orm/migrations';

/** How long after the instant that many contacts of a workflow wait for it is the turn of each, and an index that has the last turn at once. */
export class Migration20261129151500_turns extends Migration {
  override up(): void {
    this.addSql('alter table automation_step_runs add column turn_ms integer not null default 0');
    this.addSql(`
      create index automation_step_runs_turns on automation_step_runs (step_id, scheduled_for, turn_ms)
      where step_type = 'WAIT_UNTIL' and status = 'SCHEDULED'`);
  }
}
