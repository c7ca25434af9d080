import { Migration } from '@mikro-orm/migrations';

/** The list of those who are not subscribed read every contact of the project where they are few. Nobody else is in this index. */
export class Migration20261123010001_contacts_unsubscribed extends Migration {
  override up(): void {
    this.addSql('create index contacts_unsubscribed on contacts (project_id, created_at, id) where not subscribed');
  }
}
