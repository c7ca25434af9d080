import { Migration } from '@mikro-orm/migrations';

/** New mail is counted, and its contact held, by the statement that accepts it, and no longer by triggers behind each insert. */
export class Migration20261124130000_accept_mail extends Migration {
  override up(): void {
    const counts = 'outgoing incoming delivered opened clicked bounced rated rated_bounced rated_complained'.split(' ');
    this.addSql(`alter table mail_count_changes ${counts.map((column) => `alter ${column} set default 0`).join(', ')}`);
    this.addSql('drop function if exists count_new_mail() cascade');
    this.addSql('drop function if exists require_contact() cascade');
  }
}
