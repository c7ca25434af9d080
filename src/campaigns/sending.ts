import type { EntityManager } from '@mikro-orm/postgresql';
import { type StartCommand, signals, workflowId } from '../../temporal/commands.ts';
import type { Database, Sql } from '../db/sql.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { type Clock, parseDate } from '../lib/time.ts';
import type { Outbox } from '../outbox/dispatcher.ts';
import { enqueue, type OutboxTicket } from '../outbox/enqueue.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import { checkSender, type SenderDomains } from '../templates/service.ts';
import { audienceSize, checkAudience } from './audience.ts';
import { Campaign } from './entity.ts';
import type { CampaignBody, CampaignStatus, CampaignWithSegment, SendCampaign } from './schema.ts';
import { campaignBody, withSegment } from './service.ts';
import {
  type CampaignState,
  campaignState,
  cancelSend,
  hasDeparted,
  lockCampaign,
  lockCampaignSend,
  startSend,
  unscheduleSend,
} from './state.ts';

/** What starting and stopping a send needs. */
export interface SendingDeps {
  em: EntityManager;
  db: Database;
  outbox: Outbox;
  senderDomains: SenderDomains;
  clock: Clock;
}

/**
 * Starts a send: status, number of the send and the outbox row commit together, and the workflow is started after that
 * (contract page 2, 2.5). Of two requests at once the second finds the campaign SENDING.
 * @throws 400 for a date that does not parse, the status, an empty audience or a time that is past; 404; 403 for the domain
 */
export async function sendCampaign(
  deps: SendingDeps,
  project: ProjectFacts,
  id: string,
  body: SendCampaign,
): Promise<{ campaign: CampaignWithSegment; message: string }> {
  const scheduledFor = readSchedule(body.scheduledFor);
  const ticket = await deps.db.transaction(async (sql) => {
    const campaign = await lockCampaign(sql, project.id, id);
    if (campaign === null) throw notFound('campaign', id);
    if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED') throw notSendable(campaign.status);
    checkAudience(campaign.audienceType);
    const recipients = await audienceSize(sql, campaign);
    if (recipients === 0) throw badRequest('The audience of this campaign is empty');
    if (scheduledFor !== null) {
      if (scheduledFor <= deps.clock()) throw badRequest('"scheduledFor" must lie in the future');
      throw badRequest('Scheduling is not available yet: leave "scheduledFor" out to send now');
    }
    await checkSender(deps.senderDomains, project.id, campaign.from);
    const started = await startSend(sql, id, recipients);
    if (started === null) throw notSendable(campaign.status);
    return enqueue(sql, launchCampaign({ ...campaign, sendSeq: started.sendSeq }, project.name, recipients));
  });
  deps.outbox.dispatchSoon(ticket);
  const campaign = await deps.em.findOneOrFail(Campaign, { id });
  // The answer is about the send that was asked for, however fast it was.
  return { campaign: { ...withSegment(campaign), status: 'SENDING' }, message: 'Sending started' };
}

/** How a cancellation went. */
export interface Cancelled {
  campaign: CampaignBody;
  /** Whether the campaign becomes a draft again once its unsent rows are gone. */
  revertPending: boolean;
  message: string;
}

/**
 * Cancels a send. When this resolves no further recipient is claimed; what is with the provider still goes out and is
 * counted. Asking again for a cancelled campaign repairs a cleanup that got lost (contract page 2, 2.2).
 * @throws 404, 400 for a draft or a campaign that was sent
 */
export async function cancelCampaign(deps: SendingDeps, projectId: string, id: string): Promise<Cancelled> {
  const { state, ticket } = await deps.db.transaction(async (sql) => {
    const found = await campaignState(sql, projectId, id);
    if (found === null) throw notFound('campaign', id);
    return moveToCancelled(sql, found);
  });
  if (ticket !== null) deps.outbox.dispatchSoon(ticket);
  const departed = state === 'DRAFT' ? false : await hasDepartedNow(deps.db, id);
  const campaign = campaignBody(await deps.em.findOneOrFail(Campaign, { id }));
  const revertPending = campaign.status === 'CANCELLED' && !departed;
  return { campaign, revertPending, message: cancelMessage(campaign.status, revertPending) };
}

async function moveToCancelled(
  sql: Sql,
  campaign: CampaignState,
): Promise<{ state: CampaignStatus; ticket: OutboxTicket | null }> {
  const { id, sendSeq, status } = campaign;
  const wake = () => enqueue(sql, { type: 'signal', id: workflowId.campaign(id, sendSeq), signal: signals.wake });
  if (status === 'SCHEDULED' && (await unscheduleSend(sql, id))) return { state: 'DRAFT', ticket: await wake() };
  // With the send locked no claim is being made, so that none can follow the commit.
  await lockCampaignSend(sql, id, sendSeq);
  if (await cancelSend(sql, id, sendSeq)) return { state: 'CANCELLED', ticket: await wake() };
  const now = await campaignState(sql, campaign.projectId, id);
  if (now?.status === 'CANCELLED') return { state: 'CANCELLED', ticket: await wake() };
  throw badRequest(
    now?.status === 'SENT'
      ? 'The campaign has been sent already'
      : `A campaign that is ${now?.status} cannot be cancelled`,
    { status: now?.status },
  );
}

async function hasDepartedNow(db: Database, id: string): Promise<boolean> {
  const row = await db.row<{ sendSeq: number }>('select send_seq as "sendSeq" from campaigns where id = $1', [id]);
  return row !== null && hasDeparted(db, id, row.sendSeq);
}

function cancelMessage(status: CampaignStatus, revertPending: boolean): string {
  if (status === 'DRAFT') return 'Campaign returned to draft';
  if (revertPending) return 'Campaign cancelled: it returns to draft as soon as its unsent messages are removed';
  return 'Campaign cancelled: messages that had been handed over stay sent';
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

/** The start of a campaign's workflow. `restart` is set where an earlier execution ended before its rows did. */
export function launchCampaign(
  campaign: Pick<CampaignState, 'id' | 'projectId' | 'name' | 'sendSeq'>,
  projectName: string,
  recipients: number,
  restart?: string,
): StartCommand {
  const { id, projectId, name, sendSeq } = campaign;
  return {
    type: 'start',
    workflow: 'campaignSend',
    id: workflowId.campaign(id, sendSeq),
    input: { campaignId: id, sendSeq },
    searchAttributes: {
      ProjectId: projectId,
      CampaignId: id,
      Kind: 'campaign',
      State: 'SENDING',
      Recipients: recipients,
    },
    memo: { campaign: name, project: projectName, send: sendSeq },
    staticSummary: `Campaign "${name}"`,
    staticDetails: `Send ${sendSeq} of a campaign of project ${projectName}. The rows in Postgres hold what was sent; this execution holds what comes next.`,
    ...(restart === undefined ? {} : { restart }),
  };
}
