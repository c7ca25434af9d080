import { Migration } from '@mikro-orm/migrations';

/** When the quiet hours of a project, or its time zone, were last changed while email waits for their end; null once that was asked again. */
export class Migration20261129114000_quiet_changes extends Migration {
  override up(): void {
    this.addSql('alter table projects add column quiet_changed_at timestamptz(3)');
    this.addSql(
      'create index projects_quiet_changed on projects (quiet_changed_at) where quiet_changed_at is not null',
    );
  }
}
