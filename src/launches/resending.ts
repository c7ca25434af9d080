import { audienceSize } from '../campaigns/audience/audience.ts';
import { Campaign, CampaignSend } from '../campaigns/entity.ts';
import { getCampaign } from '../campaigns/service.ts';
import { lockCampaign } from '../campaigns/state.ts';
import { checkKeySender } from '../domains/service.ts';
import { CampaignStatus, finishedStatuses } from '../lib/enums.ts';
import { badRequest, conflict, forbidden } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { domainOf } from '../lib/validation/email-address.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { recordChange } from '../projects/audit/record.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import { limitingKey } from '../store/sql.ts';
import { checkSender } from '../templates/service.ts';
import { mostUnapproved, type Sender } from './review/approval.ts';
import { checkQuota, commitSend, type SendingDeps, type Sent } from './sending.ts';

/**
 * Sends a campaign to those whom it missed: the recipients who were skipped or failed without the provider's last word,
 * and who may be written to now. They get a campaign of their own, so that the ledger of the first stays as it is. Each
 * send is made good once; whom that misses too is reached by a resend of the resend.
 * @throws 400 unless the campaign is over, or when nobody was missed; 404; 409 when this send has its resend already; 402
 * and 403 for the billing limit; 403 for the domain
 */
export async function resendCampaign(
  deps: SendingDeps,
  project: ProjectFacts,
  id: string,
  sender: Sender,
): Promise<Sent> {
  const resendId = newId();
  const ticket = await deps.db.transaction(async (tx) => {
    // Of two requests at once the second waits here, and finds the resend of the first.
    const original = await lockCampaign(tx, project.id, id);
    const { status, sendSeq } = original;
    const send = await tx.em.findOne(CampaignSend, { campaignId: id, sendSeq });
    if (!finishedStatuses.has(status) || send?.closed !== true)
      throw badRequest('Only a finished campaign can be resent', { status });
    const known = await tx.em.findOne(
      Campaign,
      { resendOf: id, resendSeq: sendSeq, correction: null },
      { fields: ['id', 'status'] },
    );
    if (known !== null)
      throw conflict(`Campaign ${known.id} is already the resend of this campaign`, {
        campaignId: known.id,
        status: known.status,
      });
    const { projectId, type, audienceType } = original;
    const audience = { projectId, type, audienceType, resendOf: id, resendSeq: sendSeq };
    const recipients = await audienceSize(tx, audience, deps.clock());
    if (recipients === 0) throw badRequest('None of the missed recipients can receive email now');
    await checkQuota(tx, deps.billing, original, recipients);
    const key = sender.kind === 'key' ? sender.scoped : null;
    checkUnplanned(key, recipients);
    checkKeySender(key, domainOf(original.from));
    const most = await mostUnapproved(tx, project.id, sender);
    if (most !== null && recipients > most)
      throw forbidden(`Only an admin can resend to more than ${most} contacts`, { recipients, approvalAbove: most });
    await checkSender(deps.senderDomains, project.id, original.from);
    // The copy keeps the choice of the audience for whoever duplicates it; what it goes to is resend_of.
    const { name, description, subject, body, document, from, fromName, replyTo, audienceCondition, segmentId } =
      await tx.em.findOneOrFail(Campaign, { projectId, id });
    const content = { name: `${name} (Resend)`, description, subject, body, document, from, fromName, replyTo };
    tx.em.create(Campaign, { id: resendId, ...audience, ...content, audienceCondition, segmentId });
    await tx.em.flush();
    const { ticket } = await commitSend(tx, await lockCampaign(tx, project.id, resendId), project.name, {
      recipients,
      at: null,
      limitedBy: limitingKey(tx),
    });
    await recordChange(tx, project.id, {
      action: 'campaign.sent',
      target: resendId,
      after: { resendOf: id, recipients },
    });
    return ticket;
  });
  deps.outbox.dispatchSoon(ticket);
  const campaign = await getCampaign(deps, project.id, resendId);
  return { campaign: { ...campaign, status: CampaignStatus.SENDING }, message: 'Sending to the missed recipients' };
}
