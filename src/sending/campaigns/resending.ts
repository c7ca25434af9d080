import { checkSender } from '../../content/templates/index.ts';
import { statement } from '../../core/database/sql.ts';
import { badRequest, conflict, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';
import { audienceSize } from './audience.ts';
import { checkRoom, commitSend, type SendingDeps, type Sent } from './sending.ts';
import { getCampaign } from './service.ts';
import { lockCampaign } from './state.ts';

const findResend = statement(
  'campaigns.resend_of',
  'select id, status from campaigns where resend_of = $1 and resend_seq = $2',
);

// The copy keeps the choice of the audience for whoever duplicates it; what it goes to is resend_of.
const copy = statement(
  'campaigns.copy_for_resend',
  `insert into campaigns (id, project_id, name, description, subject, body, "from", from_name, reply_to, type, audience_type,
     audience_condition, segment_id, resend_of, resend_seq)
   select $3, project_id, name || ' (Resend)', description, subject, body, "from", from_name, reply_to, type, audience_type,
     audience_condition, segment_id, id, send_seq
   from campaigns where project_id = $1 and id = $2`,
);

const isClosed = statement(
  'campaigns.send_closed',
  'select closed from campaign_sends where campaign_id = $1 and send_seq = $2',
);

/**
 * Sends a campaign to those whom it missed: the recipients who were skipped or failed without the provider's last word,
 * and who may be written to now. They get a campaign of their own, so that the ledger of the first stays as it is. Each
 * send is made good once; whom that misses too is reached by a resend of the resend.
 * @throws 400 unless the campaign is over, or when nobody was missed; 404; 409 when this send has its resend already; 402
 * and 403 for the billing limit; 403 for the domain
 */
export async function resendCampaign(deps: SendingDeps, project: ProjectFacts, id: string): Promise<Sent> {
  const resendId = newId();
  const ticket = await deps.db.transaction(async (sql) => {
    // Of two requests at once the second waits here, and finds the resend of the first.
    const original = await lockCampaign(sql, project.id, id);
    if (original === null) throw notFound('campaign', id);
    const { status, sendSeq } = original;
    const send = await sql.row<{ closed: boolean }>(isClosed, [id, sendSeq]);
    if ((status !== 'SENT' && status !== 'CANCELLED') || send?.closed !== true)
      throw badRequest('Only a finished campaign can be resent', { status });
    const known = await sql.row<{ id: string; status: string }>(findResend, [id, sendSeq]);
    if (known !== null)
      throw conflict(`Campaign ${known.id} is already the resend of this campaign`, {
        campaignId: known.id,
        status: known.status,
      });
    const { projectId, type, audienceType } = original;
    const audience = { projectId, type, audienceType, resendOf: id, resendSeq: sendSeq };
    const recipients = await audienceSize(sql, audience, deps.clock());
    if (recipients === 0) throw badRequest('No recipient was missed who can be written to now');
    await checkRoom(sql, deps.billing, original, recipients);
    await checkSender(deps.senderDomains, project.id, original.from);
    await sql.count(copy, [project.id, id, resendId]);
    const resend = await lockCampaign(sql, project.id, resendId);
    if (resend === null) throw new Error('The resend was not written');
    return commitSend(sql, resend, project.name, recipients, null);
  });
  deps.outbox.dispatchSoon(ticket);
  const campaign = await getCampaign(deps, project.id, resendId);
  return { campaign: { ...campaign, status: 'SENDING' }, message: 'Sending to those who were missed' };
}
