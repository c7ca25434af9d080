import { Migration } from '@mikro-orm/migrations';

/** Notes which text of each function in `migrations/functions` was installed, so that the migrator installs what changed since. */
export class Migration20261122001100_functions extends Migration {
  override up(): void {
    this.addSql(`
      create table database_functions (
        name text not null,
        hash text not null,
        installed_at timestamptz not null default clock_timestamp(),
        primary key (name, hash)
      )`);
  }
}
