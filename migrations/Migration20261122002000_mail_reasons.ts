import { Migration } from '@mikro-orm/migrations';

/**
 * The ledger says by a code with details why mail was not sent, where it had a sentence. Sentences of earlier releases become their
 * codes; any other text is in a provider's words.
 */
export class Migration20261122002000_mail_reasons extends Migration {
  override up(): void {
    this.addSql('alter table emails add column reason jsonb');
    this.addSql(`
      update emails set reason = case
        when error = 'Project is disabled' then '{"code": "project_disabled"}'
        when error = 'Sender domain is not verified' then '{"code": "domain_unverified"}'
        when error = 'Billing limit reached' then '{"code": "limit_reached"}'
        when error = 'The contact is not subscribed' then '{"code": "not_subscribed"}'
        when error = 'Contact is unsubscribed' then '{"code": "unsubscribed"}'
        when error = 'Campaign cancelled' then '{"code": "campaign_cancelled"}'
        when error = 'submission unknown' then '{"code": "submission_unknown"}'
        when starts_with(error, 'The message could not be rendered: ') then jsonb_build_object('code', 'not_rendered',
          'words', substr(error, length('The message could not be rendered: ') + 1))
        when starts_with(error, 'Given up after 24 hours: ') then jsonb_build_object('code', 'too_old',
          'words', substr(error, length('Given up after 24 hours: ') + 1))
        when error ~ '^Given up after [1-9][0-9]{0,8} attempts: ' then jsonb_build_object('code', 'too_many_attempts',
          'number', substring(error from '^Given up after ([0-9]+)')::int,
          'words', substring(error from '^Given up after [0-9]+ attempts: (.*)$'))
        when error ~ '^Refused by the provider [(](0|-?[1-9][0-9]{0,8})[)]: ' then jsonb_build_object('code', 'refused',
          'number', substring(error from '^Refused by the provider [(](-?[0-9]+)[)]')::int,
          'words', substring(error from '^Refused by the provider [(]-?[0-9]+[)]: (.*)$'))
        else jsonb_build_object('code', 'provider', 'words', error) end
      where error is not null`);
    // Both read the old column; their files make them again.
    this.addSql('drop trigger emails_failed on emails');
    this.addSql('drop function settle_claim');
    this.addSql('alter table emails drop column error');
  }
}
