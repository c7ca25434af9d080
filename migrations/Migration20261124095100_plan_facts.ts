import { Migration } from '@mikro-orm/migrations';

/**
 * What the sentence of a plan stands for, so that nothing else is carried out. Plans from before have none and must be made again;
 * they live for ten minutes.
 */
export class Migration20261124095100_plan_facts extends Migration {
  override up(): void {
    this.addSql('alter table mcp_plans add column facts jsonb');
    this.addSql(
      'create index mcp_plans_open on mcp_plans (key_id, expires_at) where committed_at is null and refused_at is null',
    );
  }
}
