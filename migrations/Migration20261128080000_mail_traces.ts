import { Migration } from '@mikro-orm/migrations';

/** Mail that is accepted in a sampled trace keeps its context (`traceparent`), so that its delivery and its reports are of the same trace. */
export class Migration20261128080000_mail_traces extends Migration {
  override up(): void {
    this.addSql('alter table emails add column traceparent text');
  }
}
