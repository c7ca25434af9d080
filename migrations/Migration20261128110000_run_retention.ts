import { Migration } from '@mikro-orm/migrations';

/** What runs of automations came to that retention has removed, wherever they are counted from rows: the runs, and the paths their steps took by day. */
export class Migration20261128110000_run_retention extends Migration {
  override up(): void {
    this.addSql(`
      create table automation_path_sums (
        automation_id uuid not null references automations (id) on delete cascade,
        step_id uuid not null,
        day date not null,
        branch text not null,
        runs int not null,
        constraint automation_path_sums_pkey primary key (automation_id, step_id, day, branch)
      )`);
    this.addSql('alter table automations add column removed_runs int not null default 0');
  }
}
