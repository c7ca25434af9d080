import { Migration } from '@mikro-orm/migrations';

/**
 * Wakes are found by their automation, so that each project has its share of them; cancellations of automations are among them. The turns of contacts who
 * wait for one instant are found by the project.
 */
export class Migration20261129181500_fair_wakes extends Migration {
  override up(): void {
    this.addSql('drop index outbox_open_wakes');
    this.addSql(`create index outbox_open_wakes on outbox ((substr(workflow_id, 12, 36) collate "C"), next_attempt_at, id)
      where done_at is null and kind in ('signal', 'cancel') and workflow_id like 'automation/%'`);
    this.addSql('drop index outbox_open_others');
    this.addSql(`create index outbox_open_others on outbox (next_attempt_at, id)
      where done_at is null and (kind not in ('signal', 'cancel') or workflow_id not like 'automation/%')`);
    this.addSql('drop index automation_step_runs_turns');
    this.addSql(`create index automation_step_runs_turns on automation_step_runs (project_id, scheduled_for, turn_ms)
      where step_type = 'WAIT_UNTIL' and status = 'SCHEDULED'`);
  }
}
