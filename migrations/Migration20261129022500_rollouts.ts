import { Migration } from '@mikro-orm/migrations';

/** New versions of graphs that a share of new contacts gets first. */
export class Migration20261129022500_rollouts extends Migration {
  override up(): void {
    this.addSql(`
      create table automation_rollouts (
        id uuid not null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        automation_id uuid not null references automations (id) on delete cascade,
        version_id uuid not null references automation_versions (id),
        before_version_id uuid not null references automation_versions (id),
        share integer not null,
        stop_if jsonb not null,
        days integer not null,
        state text not null default 'RUNNING',
        stopped jsonb,
        counts jsonb,
        ended_at timestamptz(3),
        constraint automation_rollouts_pkey primary key (id),
        constraint automation_rollouts_state_check check (state in ('RUNNING', 'FINISHED', 'BACK', 'STOPPED', 'REPLACED'))
      )`);
    this.addSql(
      `create unique index automation_rollouts_running on automation_rollouts (automation_id) where state = 'RUNNING'`,
    );
    this.addSql('create index automation_rollouts_automation on automation_rollouts (automation_id, created_at desc)');
  }
}
