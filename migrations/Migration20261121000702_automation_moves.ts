import { Migration } from '@mikro-orm/migrations';

/** The walk over everybody inside an automation, in the order in which a move between versions takes them. */
export class Migration20261121000702_automation_moves extends Migration {
  override up(): void {
    this.addSql(
      `create index automation_runs_walk on automation_runs (automation_id, id) where status in ('RUNNING', 'WAITING')`,
    );
    this.addSql(
      `create index automation_migrations_stalled on automation_migrations (updated_at) where state in ('waiting', 'active')`,
    );
  }
}
