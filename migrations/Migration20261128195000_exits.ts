import { Migration } from '@mikro-orm/migrations';

/** What events end runs, by the version of the graph that says so, and the first event of a run that may be one of them. */
export class Migration20261128195000_exits extends Migration {
  override up(): void {
    this.addSql(`
      create table automation_watches (
        version_id uuid not null references automation_versions (id) on delete cascade,
        event_name text not null,
        project_id uuid not null,
        automation_id uuid not null,
        constraint automation_watches_pkey primary key (version_id, event_name)
      )`);
    this.addSql('create index automation_watches_event on automation_watches (project_id, event_name)');
    this.addSql('alter table automation_runs add column exit_event_id uuid');
  }
}
