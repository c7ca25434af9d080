import { checkSender, type SenderDomains } from '../../content/templates/index.ts';
import type { Database } from '../../core/database/sql.ts';
import { badRequest } from '../../core/lib/errors.ts';
import { type Clock, parseDate } from '../../core/lib/time.ts';
import type { Outbox } from '../../core/outbox/dispatcher.ts';
import { enqueue, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import { recordChange } from '../../platform/audit/index.ts';
import {
  type BillingSettings,
  campaignTooLarge,
  limitExceeded,
  quotaFor,
  usageCategory,
} from '../../platform/billing/index.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';
import { audienceSize, sourceTypeOf } from './audience.ts';
import { launchCampaign, wakeCampaign } from './launch.ts';
import type { CampaignStatus, CampaignWithSegment, SendCampaign } from './schema.ts';
import { getCampaign } from './service.ts';
import { type LockedCampaign, lockCampaign, openSend } from './state.ts';

/** What starting and stopping a send needs. */
export interface SendingDeps {
  db: Database;
  outbox: Outbox;
  senderDomains: SenderDomains;
  clock: Clock;
  /** The mailer's name, for what holds it. */
  provider: string;
  billing: BillingSettings;
}

/** A send that was asked for. */
export interface Sent {
  campaign: CampaignWithSegment;
  message: string;
}

/**
 * Starts a send, now or at a time, or moves a scheduled one: status, number of the send and the outbox row commit
 * together, and Temporal is told after that (contract page 2, 2.5). Of two requests at once the second finds the status
 * that the first made.
 * @throws 400 for a date that does not parse, the status, an empty audience or a time that is past; 404; 402 and 403 for the
 * billing limit; 403 for the domain
 */
export async function sendCampaign(
  deps: SendingDeps,
  project: ProjectFacts,
  id: string,
  body: SendCampaign,
): Promise<Sent> {
  const at = readSchedule(body.scheduledFor);
  const ticket = await deps.db.transaction(async (tx) => {
    const campaign = await lockCampaign(tx, project.id, id);
    if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED') throw notSendable(campaign.status);
    const recipients = await audienceSize(tx, campaign, deps.clock());
    if (recipients === 0) throw badRequest('The audience of this campaign is empty');
    await checkQuota(tx, deps.billing, campaign, recipients);
    if (at !== null && at.getTime() <= campaign.nowMs) throw badRequest('"scheduledFor" must lie in the future');
    await checkSender(deps.senderDomains, project.id, campaign.from);
    const ticket = await commitSend(tx, campaign, project.name, recipients, at);
    const after = { name: campaign.name, recipients, scheduledFor: at?.toISOString() ?? null };
    await recordChange(tx, project.id, {
      action: at === null ? 'campaign.sent' : 'campaign.scheduled',
      target: id,
      after,
    });
    return ticket;
  });
  deps.outbox.dispatchSoon(ticket);
  const campaign = await getCampaign(deps, project.id, id);
  // The answer is about the send that was asked for, however fast it was.
  if (at === null) return { campaign: { ...campaign, status: 'SENDING' }, message: 'Sending started' };
  const scheduledFor = at.toISOString();
  return { campaign: { ...campaign, status: 'SCHEDULED', scheduledFor }, message: `Scheduled for ${scheduledFor}` };
}

/** Checks that the month's quota is enough for the campaign. @throws 402 when it is used up, 403 when too little is left */
export async function checkQuota(
  tx: Database,
  billing: BillingSettings,
  { projectId, type }: Pick<LockedCampaign, 'projectId' | 'type'>,
  recipients: number,
): Promise<void> {
  const category = usageCategory(sourceTypeOf(type), type);
  const quota = await quotaFor(tx, billing, { projectId, category, count: recipients });
  if (quota.granted >= recipients) return;
  if ((quota.usage ?? 0) >= (quota.limit ?? 0)) throw limitExceeded(category, quota);
  throw campaignTooLarge(recipients, quota);
}

/** Moves a locked campaign and writes down what Temporal must be told. @throws 400 when its status forbids it */
export async function commitSend(
  tx: Database,
  campaign: LockedCampaign,
  projectName: string,
  recipients: number,
  at: Date | null,
): Promise<OutboxTicket> {
  const { id, status } = campaign;
  const moved = await openSend(tx, id, recipients, at);
  if (moved === null) throw notSendable(status);
  const { sendSeq } = moved;
  // A scheduled one has its execution, which re-checks the row.
  if (status === 'SCHEDULED') return enqueue(tx, wakeCampaign(id, sendSeq));
  const dueAt = at?.toISOString() ?? null;
  return enqueue(tx, launchCampaign({ ...campaign, sendSeq, dueAt }, projectName, recipients));
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
