import { LockMode } from '@mikro-orm/core';
import type { Campaign } from '../../campaigns/entity.ts';
import { pendingCount } from '../../campaigns/record.ts';
import type { CampaignWithSegment } from '../../campaigns/schema.ts';
import { type CampaignDeps, getCampaign, load } from '../../campaigns/service.ts';
import { keepSendLimits, lockCampaignSend } from '../../campaigns/state.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { AppError, badRequest, forbidden } from '../../lib/errors.ts';
import { checkSeen } from '../../lib/ids.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { checkSources } from '../../templates/service.ts';
import { storedContent } from '../../templates/source.ts';
import { keepFirstVersion, keepVersion } from '../../templates/versions.ts';
import { mostUnapproved, type Sender } from '../review/approval.ts';
import type { ReviseCampaign } from './correct.ts';
import { keepReplaced, splitClaims } from './versions.ts';

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
