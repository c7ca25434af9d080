import { Migration } from '@mikro-orm/migrations';

/** Events of campaigns, imports, domains and executions, and switches of workflows, are written by the statements that change these. */
export class Migration20261124121000_written_events extends Migration {
  override up(): void {
    for (const name of [
      'tell_project_change',
      'tell_held_campaigns',
      'note_automation_switch',
      // What a deleted run leaves behind is in one function now: forget_runs.
      'count_runs_on_delete',
      'cancel_lost_runs',
    ])
      this.addSql(`drop function if exists ${name}() cascade`);
    this.addSql('drop trigger if exists api_keys_announce_changed on api_keys');
    this.addSql('drop trigger if exists domains_announce_verified on domains');
  }
}
