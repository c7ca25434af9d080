import { Migration } from '@mikro-orm/migrations';

/** The provider's entries of removed domains have a list of their own, `domain_removals`. */
export class Migration20261121000801_wipes extends Migration {
  override up(): void {
    this.addSql('alter table project_wipes drop column provider_domains');
  }

  override down(): void {
    this.addSql(`alter table project_wipes add column provider_domains jsonb not null default '[]'`);
  }
}
