import { Migration } from '@mikro-orm/migrations';

/** The time zone that a project sends by: the first choice where a time is set. */
export class Migration20261128203000_project_time_zone extends Migration {
  override up(): void {
    this.addSql('alter table projects add column time_zone text');
  }
}
