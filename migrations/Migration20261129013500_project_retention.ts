import { Migration } from '@mikro-orm/migrations';

/** How long a project keeps its mail, events and executions, where that is shorter than the deployment does. The functions get a parameter more. */
export class Migration20261129013500_project_retention extends Migration {
  override up(): void {
    this.addSql(`alter table projects add column email_retention_days integer, add column event_retention_days integer,
      add column execution_retention_days integer`);
    for (const rows of ['mail', 'events', 'runs'])
      this.addSql(`drop function if exists remove_old_${rows}(timestamptz, uuid, uuid, integer)`);
    this.addSql('drop function if exists retention_page(text, text, uuid, uuid, integer)');
    this.addSql('drop function if exists removed_before(text)');
  }
}
