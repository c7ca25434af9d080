import { Migration } from '@mikro-orm/migrations';

/** The overview asks every few seconds which campaigns of a project are sending. */
export class Migration20261122036000_campaigns_sending extends Migration {
  override up(): void {
    this.addSql(`create index campaigns_sending on campaigns (project_id) where status = 'SENDING'`);
  }
}
