import { Migration } from '@mikro-orm/migrations';

/** What the reconciler needs to recognize a Temporal store that lost executions, and to find what it left behind. */
export class Migration20261122000500_recovery extends Migration {
  override up(): void {
    // The last execution of the reconciler, by task queue prefix: a Temporal store that does not know it has lost executions.
    // Rows that were last written before changed_at may belong to executions that are gone or behind.
    this.addSql(`
      create table temporal_stores (
        task_queue text primary key,
        workflow_id text not null,
        run_id text not null,
        changed_at timestamptz(3)
      )`);

    // Waits whose event has come and that no execution has acted upon yet; a wait leaves this index within moments.
    this.addSql(
      `create index automation_step_runs_resolved on automation_step_runs (updated_at, id)
         where status = 'WAITING' and outcome is not null`,
    );

    // The reconciler pages through open sends by their key; the place in line is not needed.
    this.addSql('drop index campaign_sends_checked');
    this.addSql('alter table campaign_sends drop column checked_at');
  }
}
