import { Migration } from '@mikro-orm/migrations';

/** The hours in which marketing email of workflows waits. */
export class Migration20261129063100_quiet_hours extends Migration {
  override up(): void {
    this.addSql('alter table projects add column quiet_hours jsonb');
  }
}
