import { LockMode } from '@mikro-orm/core';
import { isOfClaim } from '../../campaigns/delivery/held.ts';
import { type Campaign, CampaignVersion } from '../../campaigns/entity.ts';
import { pendingCount } from '../../campaigns/record.ts';
import { type RevisedSend, sentVersions } from '../../campaigns/results/results.ts';
import type { SentVersion } from '../../campaigns/results/schema.ts';
import type { CampaignWithSegment } from '../../campaigns/schema.ts';
import { type CampaignDeps, getCampaign, load } from '../../campaigns/service.ts';
import { keepSendLimits, lockCampaignSend } from '../../campaigns/state.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { AppError, badRequest, forbidden } from '../../lib/errors.ts';
import { checkSeen } from '../../lib/ids.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { checkSources } from '../../templates/service.ts';
import { storedContent } from '../../templates/source.ts';
import { keepFirstVersion, keepVersion } from '../../templates/versions.ts';
import { mostUnapproved, type Sender } from '../review/approval.ts';
import type { ReviseCampaign } from './correct.ts';

/**
 * Replaces the content of a paused campaign for everybody who has not got it yet. Nothing may be on its way: every claim is
 * settled, and what was put back becomes a claim of the new version, so that everybody gets exactly one. The campaign stays paused.
 * @throws 404; 400 unless it is paused, where nothing changes, or for a template that does not parse; 403 for who may not write to
 * so many without an approval; 409 STILL_LEAVING; 412 where `ifMatch` names another revision
 */
export async function reviseCampaign(
  deps: CampaignDeps,
  project: ProjectFacts,
  id: string,
  body: ReviseCampaign,
  sender: Sender,
  ifMatch: string,
): Promise<{ campaign: CampaignWithSegment; message: string }> {
  checkSources(body);
  const version = await deps.db.transaction(async (tx) => {
    const campaign = await load(tx, project.id, id, LockMode.PESSIMISTIC_WRITE);
    checkSeen('campaign', '/campaigns/{id}', campaign, ifMatch);
    checkPaused(campaign);
    await keepSendLimits(tx, id);
    const { subject = campaign.subject } = body;
    const content = await storedContent(tx, deps.iconsUrl, project.id, body);
    if (subject === campaign.subject && (content.body ?? campaign.body) === campaign.body)
      throw badRequest('Nothing would change: give another "subject", "body" or "document"');
    const most = await mostUnapproved(tx, project.id, sender);
    const pending = pendingCount(campaign);
    checkUnplanned(sender.kind === 'key' ? sender.scoped : null, pending);
    if (most !== null && pending > most)
      throw forbidden(`Only an admin can revise what more than ${most} contacts have yet to receive`, {
        recipients: pending,
        approvalAbove: most,
      });
    await lockCampaignSend(tx, id, campaign.sendSeq);
    const next = campaign.contentVersion + 1;
    const leaving = await splitClaims(tx, campaign, next);
    if (leaving > 0) throw stillLeaving(leaving);
    await keepFirstVersion(tx, campaign);
    const replaced = await keepReplaced(tx, campaign);
    tx.em.assign(campaign, { ...content, subject, contentVersion: next });
    await tx.em.flush();
    await keepVersion(tx, campaign);
    await recordChange(tx, project.id, {
      action: 'campaign.revised',
      target: id,
      before: { version: replaced.version, subject: replaced.subject, sent: replaced.sentCount },
      after: { version: next, subject, recipients: pending },
    });
    return next;
  });
  return {
    campaign: await getCampaign(deps, project.id, id),
    message: `Revised: the remaining recipients get version ${version} when the campaign is resumed`,
  };
}

function checkPaused({ status, pausedAt }: Campaign): void {
  if (status !== CampaignStatus.SENDING)
    throw badRequest(`A campaign that is ${status} cannot be revised: only one that is paused can`, { status });
  if (!pausedAt) throw badRequest('A campaign can be revised while it is paused: pause it first', { status });
}

function stillLeaving(leaving: number): AppError {
  const messages = leaving === 1 ? '1 message is' : `${leaving.toLocaleString('en-US')} messages are`;
  return new AppError(409, 'STILL_LEAVING', `${messages} still leaving with the old content`, {
    details: { leaving },
    suggestion:
      'Wait until the provider has confirmed them, which takes seconds, and try again. The campaign stays paused.',
  });
}

/** Keeps the content of a locked campaign before it is replaced, and how many got it. */
async function keepReplaced(tx: Database, campaign: RevisedSend): Promise<SentVersion> {
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
