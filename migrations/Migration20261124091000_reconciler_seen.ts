import { Migration } from '@mikro-orm/migrations';

/** When the reconciler last ran, so that readiness can tell when Temporal answers and starts nothing. */
export class Migration20261124091000_reconciler_seen extends Migration {
  override up(): void {
    this.addSql('alter table temporal_stores add column seen_at timestamptz(3)');
  }
}
