import { hasLeft, hasReason, isLeftOut, versionSql } from '../../mail/ledger/reasons.ts';
import { type Query, raw, sql } from '../../store/sql.ts';
import { isOfClaim } from '../delivery/held.ts';
import type { SendKey } from '../delivery/ledger.ts';
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
 * The verdict of the ledger row `alias`. Rows of a claim that is under way, or was interrupted, may be with
 * the provider.
 */
export function verdictSql(alias: string): string {
  return `case
    when ${hasLeft(alias)} then 'handed_over'
    when ${alias}.status in ('PENDING', 'SENDING') then
      case when exists (select from campaign_claims k
        where k.campaign_id = ${alias}.campaign_id and k.send_seq = ${alias}.send_seq and not k.settled
          and k.handed_at is not null and ${isOfClaim(alias, 'k')}
          and (not k.canary or exists (select from campaign_canary_contacts m
            where m.campaign_id = k.campaign_id and m.send_seq = k.send_seq and m.contact_id = ${alias}.contact_id)))
        then 'unknown' else 'pending' end
    when ${isLeftOut(alias)} then 'skipped'
    else 'failed' end`;
}

/** Why the row was skipped or failed; null for other verdicts. */
export function reasonSql(alias: string): string {
  return `case when ${hasLeft(alias)} or ${alias}.status in ('PENDING', 'SENDING') then null
    when ${alias}.suppression ->> 'kind' = 'HOLDOUT' then 'In the control group (holdout)'
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
    not_opened: notOpened(alias),
    not_clicked: notClicked(alias),
  }[who];
  return sql`(${raw(versionSql(alias))} = any(${versions}::int[]) and ${raw(seen)})`;
}

const notOpened = (alias: string) => `${alias}.opened_at is null and ${notClicked(alias)}`;
const notClicked = (alias: string) => `${alias}.clicked_at is null and ${alias}.bounced_at is null`;

/** What became of an email after it was sent, and what its recipient did or did not do. */
export const deeds = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'not_opened',
  'not_clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
/** One of `deeds`, by the link that was clicked where one is named. */
export interface Deed {
  did: (typeof deeds)[number];
  link: string | null;
}

/** The ledger of a send. */
export type Ledger = Pick<SendKey, 'campaignId' | 'sendSeq'>;

/** The rows `e` of a ledger: where they are read, which of them are listed, and the time that each has in the list. */
interface LedgerRows {
  from: Query;
  where: Query;
  at: Query;
}

/** The rows of the ledger of a send whose recipients did what is asked for; without it, all. */
export function ledgerRows({ campaignId, sendSeq }: Ledger, deed: Deed | null): LedgerRows {
  const ledger = raw('emails e');
  if (deed === null) return { from: ledger, where: raw('true'), at: raw('coalesce(e.sent_at, e.updated_at)') };
  const { did, link } = deed;
  if (did === 'unsubscribed')
    // Few leave: from their events, each with its mail. The limit keeps the planner from reading the ledger once for each of them.
    return {
      from: sql`(
        select ev.email_id, min(ev.created_at) as at
        from campaign_sends s join events ev on ev.project_id = s.project_id and ev.created_at >= s.created_at
        where s.campaign_id = ${campaignId}::uuid and s.send_seq = ${sendSeq}::int
          and ev.name = 'contact.unsubscribed' and ev.email_id is not null and ev.data ->> 'reason' is null
        group by 1) gone cross join lateral (select * from emails where id = gone.email_id limit 1) e`,
      where: raw('true'),
      at: raw('gone.at'),
    };
  if (did === 'not_opened' || did === 'not_clicked') {
    const missed = did === 'not_opened' ? notOpened('e') : notClicked('e');
    return { from: ledger, where: raw(`e.sent_at is not null and ${missed}`), at: raw('e.sent_at') };
  }
  const at = raw(`e.${did}_at`);
  if (link === null) return { from: ledger, where: raw(`e.${did}_at is not null`), at };
  // The row has the first click alone; each click with its link is an event.
  const where = sql`${at} is not null and exists (
    select from events ev where ev.contact_id = e.contact_id and ev.created_at >= e.created_at and ev.name = 'email.click'
      and ev.email_id = e.id and ev.data ->> 'link' = ${link}::text)`;
  return { from: ledger, where, at };
}
