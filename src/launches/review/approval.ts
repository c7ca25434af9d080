import type { TellMembers } from '../../accounts/system-mail/service.ts';
import type { Approval, Drift } from '../../campaigns/launch.ts';
import type { LockedCampaign } from '../../campaigns/state.ts';
import type { KeyActor, MemberActor } from '../../http/context.ts';
import { roleIncludes } from '../../lib/enums.ts';
import { AppError, conflict, forbidden } from '../../lib/errors.ts';
import { actorName } from '../../projects/audit/queries.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { Project } from '../../projects/queries.ts';
import { isoInstant } from '../../store/columns.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { CheckedReview } from './launch-check.ts';
import { DryRun } from './queries.ts';

/** A send that somebody asked for and that has to be approved. */
export interface AskedSend {
  drift: Drift;
  /** ISO instant; null for at once. */
  scheduledFor: string | null;
  recipients: number;
  by: { kind: 'user' | 'key' | 'mcp'; id: string };
  /** Further options of the request, as they came. */
  options: Record<string, unknown>;
  /** The key whose limits hold for the send; absent in what was asked before this was kept. */
  limitedBy?: string | null;
}

/** A send that waits, with the review it goes by. */
interface PendingApproval extends AskedSend {
  reviewId: string;
  fingerprint: string;
}

/** Returns the sends of some campaigns that wait for approval, by campaign ID. */
export async function pendingApprovals(db: Database, campaignIds: readonly string[]): Promise<Map<string, Approval>> {
  if (campaignIds.length === 0) return new Map();
  const rows = await db.rows<{
    id: string;
    n: number;
    fingerprint: string;
    asked: AskedSend;
    name: string | null;
    askedAt: string;
    expiresAt: string;
  }>(sql`
    select r.campaign_id as id, r.n, r.fingerprint, r.asked, r.asked_at::text as "askedAt", r.expires_at::text as "expiresAt",
      ${actorName("r.asked -> 'by' ->> 'kind'", "r.asked -> 'by' ->> 'id'", 'r.project_id')} as name
    from dry_runs r where r.campaign_id = any(${campaignIds}::uuid[]) and r.asked_at is not null and r.approved_at is null
      and r.state = 'DONE' and r.expires_at > clock_timestamp()
    order by r.n`);
  return new Map(
    rows.map(({ id, n, fingerprint, asked, name, askedAt, expiresAt }) => [
      id,
      {
        state: 'PENDING',
        fingerprint,
        review: n,
        recipients: asked.recipients,
        drift: asked.drift,
        scheduledFor: asked.scheduledFor,
        requestedBy: { ...asked.by, name },
        requestedAt: isoInstant(askedAt),
        expiresAt: isoInstant(expiresAt),
      },
    ]),
  );
}

/** Returns the send of a locked campaign that waits for approval; null for none. */
async function pendingApproval(tx: Database, campaignId: string): Promise<PendingApproval | null> {
  const waiting = { campaignId, ...unanswered, state: 'DONE', expiresAt: { $gt: new Date() } } as const;
  const run = await tx.em.findOne(DryRun, waiting, { orderBy: { n: 'desc' } });
  return run?.asked && run.fingerprint ? { reviewId: run.id, fingerprint: run.fingerprint, ...run.asked } : null;
}

const unanswered = { askedAt: { $ne: null }, approvedAt: null };

/** Lets a send wait for its approval, in place of another that waits. */
async function writeAsked(tx: Database, campaignId: string, reviewId: string, asked: AskedSend): Promise<void> {
  await withdrawAsked(tx, campaignId);
  const now = new Date();
  const waits = { asked, askedAt: now, approvedAt: null, approvedBy: null, updatedAt: now };
  await tx.em.nativeUpdate(DryRun, { id: reviewId }, waits);
}

/** Forgets what waits. */
async function withdrawAsked(tx: Database, campaignId: string): Promise<void> {
  const withdrawn = { asked: null, askedAt: null, updatedAt: new Date() };
  await tx.em.nativeUpdate(DryRun, { campaignId, ...unanswered }, withdrawn);
}

/** Who asks for a send. */
export type Sender = KeyActor | MemberActor;

/**
 * How many contacts a sender may write to without an approval; null for any number. Members and keys with scopes need one above
 * the project's `approvalAbove`; the secret key acts as ADMIN, as everywhere.
 */
export async function mostUnapproved(tx: Database, projectId: string, sender: Sender): Promise<number | null> {
  const isTrusted = sender.kind === 'key' ? sender.scoped === null : roleIncludes(sender.role, 'ADMIN');
  if (isTrusted) return null;
  const project = await tx.em.findOne(Project, { id: projectId }, { fields: ['approvalAbove'] });
  return project?.approvalAbove ?? null;
}

/** 409 for a send that needs an approval and goes by no review: what is approved is what somebody saw. */
export function reviewNeeded(most: number, recipients: number): AppError {
  return new AppError(
    409,
    'REVIEW_NEEDED',
    `A send to ${recipients} contacts needs the approval of an admin, because it reaches more than ${most}`,
    {
      details: { recipients, approvalAbove: most },
      suggestion:
        'Review the campaign with POST /campaigns/{id}/dry-run and send it with the fingerprint: it then waits for an admin.',
    },
  );
}

/** The parts that a request for an approval needs. */
interface AskDeps {
  tell: TellMembers;
}

/** Lets a send wait, and tells the admins of the project. Answers the calls that send them mail. */
export async function askForApproval(
  tx: Database,
  { tell }: AskDeps,
  campaign: LockedCampaign,
  review: CheckedReview,
  asked: Omit<AskedSend, 'by' | 'recipients' | 'drift'>,
  sender: Sender,
): Promise<OutboxTicket[]> {
  const { id, projectId, name } = campaign;
  const { recipients, drift } = review;
  await writeAsked(tx, id, review.id, { ...asked, recipients, drift, by: authorOf(sender) });
  const tickets = await tell(tx, {
    projectId,
    kind: 'approval-requested',
    path: `/app/${projectId}/campaigns/${id}?step=send`,
    values: { campaign: name, recipients: String(recipients) },
    dedupeKey: `approval:${review.id}`,
    to: { role: 'ADMIN', but: sender.kind === 'user' ? sender.userId : null },
  });
  await recordChange(tx, projectId, {
    action: 'campaign.approval_requested',
    target: id,
    after: { recipients, review: review.n },
  });
  return tickets;
}

function authorOf(sender: Sender): AskedSend['by'] {
  if (sender.kind === 'user') return { kind: 'user', id: sender.userId };
  return { kind: 'key', id: sender.scoped?.id ?? '' };
}

/**
 * Approves the send that waits, and answers it. Nobody approves what they asked for.
 * @throws 403 for who asked, and for keys; 409 where nothing waits with this fingerprint
 */
export async function approveAsked(
  tx: Database,
  campaign: LockedCampaign,
  fingerprint: string,
  approver: Sender,
): Promise<PendingApproval> {
  if (approver.kind === 'key') throw forbidden('API keys cannot approve a send: sign in', { reason: 'key' });
  const asked = await pendingApproval(tx, campaign.id);
  if (asked?.fingerprint !== fingerprint)
    throw conflict(
      'No send with this fingerprint waits for approval: it may have been withdrawn, or its review has expired',
    );
  if (asked.by.kind === 'user' && asked.by.id === approver.userId)
    throw forbidden('Another admin of the project has to approve a send that you asked for');
  const now = new Date();
  const approved = { approvedAt: now, approvedBy: approver.userId, updatedAt: now };
  await tx.em.nativeUpdate(DryRun, { id: asked.reviewId }, approved);
  await recordChange(tx, campaign.projectId, {
    action: 'campaign.approved',
    target: campaign.id,
    after: { recipients: asked.recipients, requestedBy: asked.by.id },
  });
  return asked;
}

/**
 * Takes back a send that waits: its asker does, or an admin who declines it.
 * @throws 403 for anybody else; 409 where nothing waits
 */
export async function withdrawApproval(tx: Database, { id, projectId }: LockedCampaign, sender: Sender): Promise<void> {
  const asked = await pendingApproval(tx, id);
  if (asked === null) throw conflict('No send of this campaign waits for approval');
  const isAdmin = sender.kind === 'key' ? sender.scoped === null : roleIncludes(sender.role, 'ADMIN');
  if (!isAdmin && authorOf(sender).id !== asked.by.id)
    throw forbidden('Only the person who asked for the send, or an admin, can withdraw it');
  await withdrawAsked(tx, id);
  await recordChange(tx, projectId, {
    action: 'campaign.approval_withdrawn',
    target: id,
    before: { recipients: asked.recipients },
  });
}
