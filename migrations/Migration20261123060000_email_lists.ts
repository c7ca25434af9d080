import { Migration } from '@mikro-orm/migrations';

/**
 * Lists of emails are read along an index whatever they are filtered by. The index of the project gains the source; each status that hardly
 * any mail has gets a partial index, which costs other mail nothing.
 */
export class Migration20261123060000_email_lists extends Migration {
  override up(): void {
    // Failures of old releases may have none, and the index finds them by it.
    this.addSql(`
      update emails set reason = '{"code": "provider", "words": "The reason was not kept"}'
      where status = 'FAILED' and reason is null`);
    this.addSql('drop index emails_project');
    this.addSql('create index emails_project on emails (project_id, source_type, id)');
    const conditions = {
      failed: 'reason is not null and bounced_at is null',
      cancelled: `reason = '{"code": "cancelled"}'::jsonb`,
      suppressed: 'suppression is not null',
      bounced: 'bounced_at is not null',
      complained: 'complained_at is not null',
      opened: 'opened_at is not null',
      clicked: 'clicked_at is not null',
    };
    for (const [name, condition] of Object.entries(conditions))
      this.addSql(`create index emails_list_${name} on emails (project_id, id) where ${condition}`);
  }
}
