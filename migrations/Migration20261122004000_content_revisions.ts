import { Migration } from '@mikro-orm/migrations';

/** What guards the edits of templates, campaigns and segments against one another: a count of edits of what people write. */
export class Migration20261122004000_content_revisions extends Migration {
  override up(): void {
    for (const table of ['templates', 'campaigns', 'segments'])
      this.addSql(`alter table ${table} add column revision integer not null default 1`);
  }
}
