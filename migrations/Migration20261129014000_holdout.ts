import { Migration } from '@mikro-orm/migrations';

/** The control group of a project, `{ key, percent, until }`; null for none. */
export class Migration20261129014000_holdout extends Migration {
  override up(): void {
    this.addSql('alter table projects add column holdout jsonb');
  }
}
