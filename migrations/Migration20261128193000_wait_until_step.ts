import { Migration } from '@mikro-orm/migrations';

/** Steps that wait for a time of day or for a date of the contact. Whoever changes a contact finds its waits by an index, and so is counted whose time zone was invalid. */
export class Migration20261128193000_wait_until_step extends Migration {
  override up(): void {
    this.addSql('alter table automation_steps drop constraint automation_steps_type_check');
    this.addSql(`
      alter table automation_steps add constraint automation_steps_type_check check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY',
        'WAIT_FOR_EVENT', 'WAIT_UNTIL', 'CONDITION', 'SPLIT', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT'))`);
    this.addSql('drop index automation_step_runs_delays');
    this.addSql(`create index automation_step_runs_delays on automation_step_runs (project_id, scheduled_for, id)
      where status = 'SCHEDULED'`);
    this.addSql(`create index automation_step_runs_until on automation_step_runs (contact_id)
      where step_type = 'WAIT_UNTIL' and status = 'SCHEDULED'`);
    this.addSql(`create index automation_step_runs_invalid_zones on automation_step_runs (step_id, started_at)
      where output ? 'invalidZone'`);
  }
}
