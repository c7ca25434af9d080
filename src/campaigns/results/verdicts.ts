import { hasLeft, hasReason, isLeftOut, versionSql } from '../../mail/ledger/reasons.ts';
import { type Query, raw, sql } from '../../store/sql.ts';
import type { EarlierRecipients } from '../schema.ts';

/**
 * The verdicts about a recipient. `handed_over`: the provider has the message. `skipped`: left out on purpose. `failed`: it
 * could not be sent. `unknown`: it is with the provider or was, and nobody has said yet what became of it. `pending`: its
 * turn has not come.
 */
export const verdicts = ['handed_over', 'skipped', 'failed', 'unknown', 'pending'] as const;
/** One of `verdicts`. */
export type LedgerVerdict = (typeof verdicts)[number];

/**
 * The verdict of the ledger row `alias`. Rows in the range of a claim that is under way, or was interrupted, may be with
 * the provider.
 */
export function verdictSql(alias: string): string {
  return `case
    when ${hasLeft(alias)} then 'handed_over'
    when ${alias}.status in ('PENDING', 'SENDING') then
      case when exists (select from campaign_claims k
        where k.campaign_id = ${alias}.campaign_id and k.send_seq = ${alias}.send_seq and not k.settled
          and k.handed_at is not null and ${alias}.contact_id <= k.through_contact
          and (k.after_contact is null or ${alias}.contact_id > k.after_contact)
          and (not k.canary or exists (select from campaign_canary_contacts m
            where m.campaign_id = k.campaign_id and m.send_seq = k.send_seq and m.contact_id = ${alias}.contact_id)))
        then 'unknown' else 'pending' end
    when ${isLeftOut(alias)} then 'skipped'
    else 'failed' end`;
}

/** Why the row was skipped or failed; null for other verdicts. */
export function reasonSql(alias: string): string {
  return `case when ${hasLeft(alias)} or ${alias}.status in ('PENDING', 'SENDING') then null
    when ${alias}.status = 'SUPPRESSED' then 'Suppressed' || coalesce(' by rule "' || (${alias}.suppression ->> 'name') || '"', '')
    else coalesce(mail_reason_text(${alias}.reason), 'Unknown') end`;
}

/**
 * The condition that a later send may make good what the row missed: it never left, the provider did not refuse it for
 * good, and it was not given up because nobody can tell whether it arrived. Whoever is still unsubscribed or suppressed is
 * left out of that send again.
 */
export function isMissed(alias: string): string {
  return `(${alias}.sent_at is null and ${alias}.message_id is null and ${alias}.status in ('FAILED', 'SUPPRESSED')
    and not ${hasReason(alias, 'refused', 'submission_unknown', 'left_audience', 'left_out_at_review')})`;
}

/** The condition that the recipient of the row got one of the versions, and did with it what is asked for. */
export function gotVersion(alias: string, { versions, who }: EarlierRecipients): Query {
  const seen = {
    got: 'true',
    opened: `${alias}.opened_at is not null`,
    clicked: `${alias}.clicked_at is not null`,
    not_opened: `${alias}.opened_at is null and ${alias}.clicked_at is null and ${alias}.bounced_at is null`,
    not_clicked: `${alias}.clicked_at is null and ${alias}.bounced_at is null`,
  }[who];
  return sql`(${raw(versionSql(alias))} = any(${versions}::int[]) and ${raw(seen)})`;
}
