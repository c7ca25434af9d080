import { Migration } from '@mikro-orm/migrations';

/** Addresses of a project that may get tests beside its members. */
export class Migration20261124050000_test_addresses extends Migration {
  override up(): void {
    this.addSql(`alter table projects add column test_addresses text[] not null default '{}'`);
  }
}
