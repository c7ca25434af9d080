import { Migration } from '@mikro-orm/migrations';

/**
 * `settle_mail` settles every claim, of the queue and of campaigns, and replaces `settle_claim`. Processes of the release before must have
 * stopped: they call that, and read the data of `email.sent` from events that are stored without any from now on.
 */
export class Migration20261124140000_settle_mail extends Migration {
  override up(): void {
    this.addSql(`
      create type settled_claim as (id text, provider text, stream text, campaign uuid, seq integer, holder text);
      create type settled_mail as (
        ids uuid[], outcomes text[], message_ids text[], instants timestamptz[], subjects text[], bodies text[], streams text[],
        reasons jsonb[], flip_ids uuid[], event_ids uuid[]);
      create type returned_mail as (id uuid, delay_ms double precision, is_unconfirmed boolean, attempts integer, refusal text)`);
    this.addSql('drop function if exists settle_claim');
  }
}
