import { Migration } from '@mikro-orm/migrations';

/** Mail keeps the key whose limits hold for what it starts, so that its events carry them: opens, clicks, bounces and unsubscribes. */
export class Migration20261124190000_limited_mail extends Migration {
  override up(): void {
    this.addSql('alter table emails add column limited_by uuid');
  }
}
