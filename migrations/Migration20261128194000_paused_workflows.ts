import { Migration } from '@mikro-orm/migrations';

/** Since when a workflow is paused, and over what time those whom the pause held go on. */
export class Migration20261128194000_paused_workflows extends Migration {
  override up(): void {
    this.addSql(`
      alter table automations add column paused_at timestamptz(3), add column resumed_at timestamptz(3),
        add column spread_until timestamptz(3)`);
  }
}
