import { Migration } from '@mikro-orm/migrations';

/** Executions of workflows, and events whose instant changes, are counted by the statement that writes them, and no longer by triggers behind it. */
export class Migration20261124132000_counted_runs extends Migration {
  override up(): void {
    this.addSql('drop function if exists count_runs_on_insert() cascade');
    this.addSql('drop function if exists count_ended_run() cascade');
    this.addSql('drop function if exists recount_moved_event() cascade');
  }
}
