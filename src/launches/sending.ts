import type { TellMembers } from '../accounts/system-mail/service.ts';
import { type BillingSettings, campaignTooLarge, limitExceeded, quotaFor } from '../billing/service.ts';
import { usageCategory } from '../billing/usage-queries.ts';
import { audienceSize, sourceTypeOf } from '../campaigns/audience/audience.ts';
import type { Drift } from '../campaigns/launch.ts';
import { startOfSend, wakeCampaign } from '../campaigns/lifecycle/begin.ts';
import type { ShowingDeps } from '../campaigns/record.ts';
import type { CampaignWithSegment } from '../campaigns/schema.ts';
import { getCampaign } from '../campaigns/service.ts';
import { keepSendLimits, type LockedCampaign, lockCampaign, openSend } from '../campaigns/state.ts';
import { checkKeySender } from '../domains/service.ts';
import { CampaignStatus, editableStatuses } from '../lib/enums.ts';
import { badRequest, invalidField } from '../lib/errors.ts';
import { type Clock, parseDate } from '../lib/time.ts';
import { domainOf } from '../lib/validation/email-address.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { recordChange } from '../projects/audit/record.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import type { Outbox } from '../store/outbox/dispatcher.ts';
import { enqueue, type OutboxTicket } from '../store/outbox/queries.ts';
import { type Database, limitingKey } from '../store/sql.ts';
import { checkSender, type SenderDomains } from '../templates/service.ts';
import { checkCanary, setCanary } from './canary/choose.ts';
import { approveAsked, askForApproval, mostUnapproved, reviewNeeded, type Sender } from './review/approval.ts';
import { boundReview, type CheckedReview, checkReview, noteReview, type ReviewKey } from './review/launch-check.ts';
import type { SendCampaign } from './routes.ts';

/** The parts that starting a send needs. */
export interface SendingDeps extends ShowingDeps {
  outbox: Outbox;
  senderDomains: SenderDomains;
  clock: Clock;
  billing: BillingSettings;
  tell: TellMembers;
}

/** A send that was asked for. */
export interface Sent {
  campaign: CampaignWithSegment;
  message: string;
}

/**
 * Starts a send, now or at a time, or moves a scheduled one: status, number of the send and the outbox row commit
 * together, and Temporal is notified after that (docs/contract/campaigns-and-workflows.md#2-5). Of two requests at once the second
 * finds the status that the first made. A send that needs an approval waits for it as a draft.
 * @throws 422 for a drift without a fingerprint; 400 for a date that does not parse, the status, an empty audience, a canary of everybody or a time that is past; 404; 402 and 403 for the
 * billing limit; 403 for the domain; 409 REVIEW_STALE, REVIEW_NEEDED
 */
export async function sendCampaign(
  deps: SendingDeps,
  project: ProjectFacts,
  id: string,
  body: SendCampaign,
  sender: Sender,
): Promise<Sent> {
  const at = readSchedule(body.scheduledFor);
  const { isAsked, tickets } = await deps.db.transaction(async (tx) => {
    const campaign = await lockCampaign(tx, project.id, id);
    const { recipients, review } = await checkSend(tx, deps, campaign, body, at);
    const key = sender.kind === 'key' ? sender.scoped : null;
    checkUnplanned(key, recipients);
    checkKeySender(key, domainOf(campaign.from));
    await keepSendLimits(tx, id);
    const limitedBy = limitingKey(tx);
    const most = await mostUnapproved(tx, project.id, sender);
    if (most === null || recipients <= most)
      return {
        isAsked: false,
        tickets: [await begin(tx, project, campaign, body, { at, recipients, review, most, limitedBy })],
      };
    if (review === null || typeof body.fingerprint !== 'string') throw reviewNeeded(most, recipients);
    const { fingerprint: _, drift: __, scheduledFor: ___, ...options } = body;
    const asked = { scheduledFor: at?.toISOString() ?? null, options, limitedBy };
    return { isAsked: true, tickets: await askForApproval(tx, deps, campaign, review, asked, sender) };
  });
  deps.outbox.dispatchSoon(...tickets);
  const campaign = await getCampaign(deps, project.id, id);
  return isAsked ? { campaign, message: 'Waiting for the approval of an admin' } : started(campaign, at);
}

/**
 * Approves a send that waits and starts it as it was asked for, if it is still as it was reviewed.
 * @throws 403 for who asked for it; 409 where nothing waits; else as `sendCampaign`
 */
export async function approveCampaign(
  deps: SendingDeps,
  project: ProjectFacts,
  id: string,
  fingerprint: string,
  approver: Sender,
): Promise<Sent> {
  const { at, ticket } = await deps.db.transaction(async (tx) => {
    const campaign = await lockCampaign(tx, project.id, id);
    const { scheduledFor, drift, options, limitedBy = null } = await approveAsked(tx, campaign, fingerprint, approver);
    const at = readSchedule(scheduledFor);
    const body = { ...options, fingerprint, drift };
    const { recipients, review } = await checkSend(tx, deps, campaign, body, at);
    return { at, ticket: await begin(tx, project, campaign, body, { at, recipients, review, most: null, limitedBy }) };
  });
  deps.outbox.dispatchSoon(ticket);
  return started(await getCampaign(deps, project.id, id), at);
}

// The answer is about the send that was asked for, however fast it was.
function started(campaign: CampaignWithSegment, at: Date | null): Sent {
  if (at === null) return { campaign: { ...campaign, status: CampaignStatus.SENDING }, message: 'Sending started' };
  const scheduledFor = at.toISOString();
  return {
    campaign: { ...campaign, status: CampaignStatus.SCHEDULED, scheduledFor },
    message: `Scheduled for ${scheduledFor}`,
  };
}

/** Checks what forbids a send, and how many get it. @throws as `sendCampaign` */
async function checkSend(
  tx: Database,
  deps: SendingDeps,
  campaign: LockedCampaign,
  { fingerprint, drift, canary }: SendCampaign,
  at: Date | null,
): Promise<{ recipients: number; review: CheckedReview | null }> {
  // Sent without a review, the campaign would go to whoever is in the audience, which is not what was asked for.
  if (typeof fingerprint !== 'string' && drift !== undefined)
    throw invalidField('drift', 'needs the "fingerprint" of a dry run', 'custom');
  if (!editableStatuses.has(campaign.status)) throw notSendable(campaign.status);
  const now = deps.clock();
  const terms = await reviewOf(tx, campaign, { fingerprint, drift });
  const review = terms && (await checkReview(tx, campaign, terms.key, { drift: terms.drift, until: at ?? now, now }));
  const recipients = review?.recipients ?? (await audienceSize(tx, campaign, now));
  if (recipients === 0) throw badRequest('The audience of this campaign is empty');
  checkCanary(canary, recipients);
  await checkQuota(tx, deps.billing, campaign, recipients);
  if (at !== null && at.getTime() <= campaign.nowMs) throw badRequest('"scheduledFor" must lie in the future');
  await checkSender(deps.senderDomains, campaign.projectId, campaign.from);
  return { recipients, review };
}

/** Which review a send goes by: the one it names, or the one that a scheduled campaign is bound to already. */
async function reviewOf(
  tx: Database,
  campaign: LockedCampaign,
  { fingerprint, drift = 'none' }: Pick<SendCampaign, 'fingerprint' | 'drift'>,
): Promise<{ key: ReviewKey; drift: Drift } | null> {
  if (typeof fingerprint === 'string') return { key: { fingerprint }, drift };
  if (fingerprint === null || campaign.status !== CampaignStatus.SCHEDULED) return null;
  const bound = await boundReview(tx, campaign);
  return bound && { key: { id: bound.id }, drift: bound.drift };
}

/** Moves a checked campaign, and writes down who did it and by which review. */
async function begin(
  tx: Database,
  project: ProjectFacts,
  campaign: LockedCampaign,
  body: SendCampaign,
  send: {
    at: Date | null;
    recipients: number;
    review: CheckedReview | null;
    most: number | null;
    limitedBy: string | null;
  },
): Promise<OutboxTicket> {
  const { id, name, status } = campaign;
  const { at, recipients, review, most, limitedBy } = send;
  const { sendSeq, ticket } = await commitSend(tx, campaign, project.name, { recipients, at, limitedBy });
  // A scheduled one may have gone by another review before.
  if (review !== null || most !== null || status === CampaignStatus.SCHEDULED)
    await noteReview(tx, { id, sendSeq }, review, most);
  const { canary } = body;
  await setCanary(tx, id, sendSeq, canary);
  const after = {
    name,
    recipients,
    scheduledFor: at?.toISOString() ?? null,
    ...(review && { review: review.n, joined: review.joined, left: review.left }),
    ...(canary && { canary }),
  };
  const action = at === null ? 'campaign.sent' : 'campaign.scheduled';
  await recordChange(tx, project.id, { action, target: id, after });
  return ticket;
}

/**
 * Checks that the quota of the day and the month is enough for the campaign. @throws 402 when it is used up, or when too
 * little of the day's is left; 403 when too little of the month's is
 */
export async function checkQuota(
  tx: Database,
  billing: BillingSettings,
  { projectId, type }: Pick<LockedCampaign, 'projectId' | 'type'>,
  recipients: number,
): Promise<void> {
  const category = usageCategory(sourceTypeOf(type), type);
  const quota = await quotaFor(tx, billing, { projectId, category, count: recipients });
  if (quota.granted >= recipients) return;
  if (quota.isDaily || (quota.usage ?? 0) >= (quota.limit ?? 0)) throw limitExceeded(category, quota);
  throw campaignTooLarge(recipients, quota);
}

/** Moves a locked campaign and stores the commands for Temporal. @throws 400 when its status forbids it */
export async function commitSend(
  tx: Database,
  campaign: LockedCampaign,
  projectName: string,
  { recipients, at, limitedBy }: { recipients: number; at: Date | null; limitedBy: string | null },
): Promise<{ sendSeq: number; ticket: OutboxTicket }> {
  const { id, status } = campaign;
  const moved = await openSend(tx, id, recipients, at, limitedBy);
  if (moved === null) throw notSendable(status);
  const { sendSeq } = moved;
  // A scheduled one has its execution, which re-checks the row.
  const dueAt = at?.toISOString() ?? null;
  const command =
    status === CampaignStatus.SCHEDULED
      ? wakeCampaign(id, sendSeq)
      : startOfSend({ ...campaign, sendSeq, dueAt }, projectName, recipients);
  return { sendSeq, ticket: await enqueue(tx, command) };
}

function notSendable(status: CampaignStatus) {
  return badRequest(`A campaign that is ${status} cannot be sent: only a draft or a scheduled one can`, { status });
}

/** Reads `scheduledFor`: null for now. @throws 400 when it is no date */
function readSchedule(value: unknown): Date | null {
  if (value === undefined || value === null || value === '' || value === 0) return null;
  const date = typeof value === 'string' || typeof value === 'number' ? parseDate(value) : null;
  if (date === null) throw badRequest('"scheduledFor" must be a date, for example 2026-03-01T09:00:00Z');
  return date;
}
