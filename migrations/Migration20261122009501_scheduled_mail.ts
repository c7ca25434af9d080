import { Migration } from '@mikro-orm/migrations';

/** Mail that is sent later, and mail that was cancelled before it was sent. */
export class Migration20261122009501_scheduled_mail extends Migration {
  override up(): void {
    this.addSql(`
      alter table emails add column scheduled_for timestamptz(3), add column held_until timestamptz(3),
        drop constraint emails_status_check,
        add constraint emails_status_check check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED',
          'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED'))`);
  }
}
