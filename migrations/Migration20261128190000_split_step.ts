import { Migration } from '@mikro-orm/migrations';

/** Steps that split contacts by shares. */
export class Migration20261128190000_split_step extends Migration {
  override up(): void {
    this.addSql('alter table automation_steps drop constraint automation_steps_type_check');
    this.addSql(`
      alter table automation_steps add constraint automation_steps_type_check check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY',
        'WAIT_FOR_EVENT', 'CONDITION', 'SPLIT', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT'))`);
  }
}
