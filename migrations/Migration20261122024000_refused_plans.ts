import { Migration } from '@mikro-orm/migrations';

/** Who refused a plan of a language model, and when. */
export class Migration20261122024000_refused_plans extends Migration {
  override up(): void {
    this.addSql('alter table mcp_plans add column refused_at timestamptz(3), add column refused_by uuid');
  }
}
