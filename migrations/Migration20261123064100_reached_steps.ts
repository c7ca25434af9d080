import { Migration } from '@mikro-orm/migrations';

/**
 * How many contacts reached a step in a span of time, and what became of them there, is counted by one index alone. It does
 * what the index of branches did.
 */
export class Migration20261123064100_reached_steps extends Migration {
  override up(): void {
    this.addSql(
      'create index automation_step_runs_reached on automation_step_runs (step_id, started_at, branch, status)',
    );
    this.addSql('drop index automation_step_runs_branch');
  }
}
