import { Migration } from '@mikro-orm/migrations';

/** What became of the goals of workflows for each run, and which events only goals listen for. */
export class Migration20261129015000_goals extends Migration {
  override up(): void {
    this.addSql(`
      create table automation_goals (
        run_id uuid not null,
        version_id uuid not null references automation_versions (id) on delete cascade,
        contact_id uuid,
        entered_at timestamptz(3) not null,
        until timestamptz(3) not null,
        check_at timestamptz(3),
        met_at timestamptz(3),
        had_met boolean not null default false,
        branches jsonb,
        constraint automation_goals_pkey primary key (run_id)
      )`);
    this.addSql('create index automation_goals_version on automation_goals (version_id)');
    this.addSql(
      'create index automation_goals_open on automation_goals (contact_id, version_id) where check_at is not null',
    );
    this.addSql('create index automation_goals_check on automation_goals (check_at) where check_at is not null');
    this.addSql('alter table automation_watches add column ends boolean not null default true');
  }
}
