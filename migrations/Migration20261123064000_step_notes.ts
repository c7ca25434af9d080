import { Migration } from '@mikro-orm/migrations';

/** Notes of the people who edit a workflow, at its steps; a version keeps those it was made with, by step. */
export class Migration20261123064000_step_notes extends Migration {
  override up(): void {
    this.addSql('alter table automation_steps add column note text');
    this.addSql('alter table automation_versions add column notes jsonb');
  }
}
