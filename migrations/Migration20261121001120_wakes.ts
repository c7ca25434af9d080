import { Migration } from '@mikro-orm/migrations';

/** Wakes of automations are taken from the outbox beside everything else, at a pace of their own. */
export class Migration20261121001120_wakes extends Migration {
  override up(): void {
    // Each open row is in one of them, so that a wave of wakes is no part of what the others are looked for in.
    this.addSql(`create index outbox_open_wakes on outbox (next_attempt_at, id)
      where done_at is null and kind = 'signal' and workflow_id like 'automation/%'`);
    this.addSql(`create index outbox_open_others on outbox (next_attempt_at, id)
      where done_at is null and (kind <> 'signal' or workflow_id not like 'automation/%')`);
    this.addSql('drop index outbox_open');
  }
}
