import { Migration } from '@mikro-orm/migrations';

/** Goals of a version in the order of entry, for the contacts who entered since a rollout began. */
export class Migration20261129053100_goals_by_entry extends Migration {
  override up(): void {
    this.addSql('create index automation_goals_entered on automation_goals (version_id, entered_at)');
    this.addSql('drop index automation_goals_version');
  }
}
