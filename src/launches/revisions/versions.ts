import { isOfClaim } from '../../campaigns/delivery/held.ts';
import { CampaignVersion } from '../../campaigns/entity.ts';
import { type RevisedSend, sentVersions } from '../../campaigns/results/results.ts';
import type { SentVersion } from '../../campaigns/results/schema.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** Keeps the content of a locked campaign before it is replaced, and how many got it. */
export async function keepReplaced(tx: Database, campaign: RevisedSend): Promise<SentVersion> {
  const { id, sendSeq, contentVersion, subject, body } = campaign;
  const current = (await sentVersions(tx, campaign)).at(-1);
  if (current === undefined) throw new Error('A send has at least one version');
  const kept = { campaignId: id, sendSeq, version: contentVersion, subject, body, sent: current.sentCount };
  await tx.em.insert(CampaignVersion, kept);
  return current;
}

/**
 * Ends the claims of a locked, paused send that were put back with nothing at the provider: a new claim of `version` has the rest of
 * each, so that no claim has two versions. Answers how many messages are still leaving; then nothing was changed. Whoever
 * takes a claim over or settles it holds its row and waits for the campaign, so that this must not wait for claims.
 */
export async function splitClaims(tx: Database, campaign: RevisedSend, version: number): Promise<number> {
  const { id, sendSeq } = campaign;
  const rows = await tx.rows<{ id: string }>(sql`
    select id from campaign_claims
    where campaign_id = ${id} and send_seq = ${sendSeq} and not settled and holder is null and handed_at is null
    for update skip locked`);
  const putBack = rows.map((row) => row.id);
  const withoutVerdict = sql`
    select count(*)::int from emails e
    where e.campaign_id = k.campaign_id and e.send_seq = k.send_seq and ${raw(isOfClaim('e', 'k'))}
      and e.sent_at is null and (e.status = 'PENDING' or e.message_id is not null)`;
  const open = await tx.row<{ leaving: number }>(sql`
    select coalesce(sum(greatest(1, (${withoutVerdict}))), 0)::int as leaving
    from campaign_claims k
    where k.campaign_id = ${id} and k.send_seq = ${sendSeq} and not k.settled and k.id <> all(${putBack}::text[])`);
  const leaving = open?.leaving ?? 0;
  if (leaving > 0 || putBack.length === 0) return leaving;
  // One that nobody has taken since it was split has handed over nothing: it gets the new version as it is.
  await tx.count(sql`
    with untouched as (
      update campaign_claims set version = ${version}::int
      where id = any(${putBack}::text[]) and former_version is not null and taken_at = claimed_at returning id),
    ended as (
      update campaign_claims k set settled = true
      where k.id = any(${putBack}::text[]) and not (k.former_version is not null and k.taken_at = k.claimed_at)
      returning k.*)
    insert into campaign_claims (id, campaign_id, send_seq, after_contact, through_contact, contacts, size, canary, version, former_version)
    select regexp_replace(k.id, '[.]v[0-9]+$', '') || '.v' || ${version}::int, k.campaign_id, k.send_seq, k.after_contact,
      k.through_contact, k.contacts, k.rest, k.canary, ${version}::int, k.version
    from (select k.*, (${withoutVerdict}) as rest from ended k) k where k.rest > 0`);
  return 0;
}
