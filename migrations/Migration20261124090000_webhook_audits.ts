import { Migration } from '@mikro-orm/migrations';

/** How many events of the last day an endpoint was never queued, and when that was last counted. */
export class Migration20261124090000_webhook_audits extends Migration {
  override up(): void {
    this.addSql(`alter table webhook_endpoints
      add column missing integer not null default 0,
      add column audited_at timestamptz(3)`);
  }
}
