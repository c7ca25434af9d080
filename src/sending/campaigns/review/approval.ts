import type { Database } from '../../../core/database/sql.ts';
import type { KeyActor, MemberActor } from '../../../core/http/context.ts';
import { AppError, conflict, forbidden } from '../../../core/lib/errors.ts';
import { roleIncludes } from '../../../core/lib/roles.ts';
import type { OutboxTicket } from '../../../core/outbox/enqueue.ts';
import { recordChange } from '../../../platform/audit/index.ts';
import type { TellMembers } from '../../../platform/system-mail/index.ts';
import type { LockedCampaign } from '../state.ts';
import {
  type AskedSend,
  approvalAbove,
  noteApproved,
  type PendingApproval,
  pendingApproval,
  withdrawAsked,
  writeAsked,
} from './approval-queries.ts';
import type { CheckedReview } from './launch-check.ts';

/** Who asks for a send. */
export type Sender = KeyActor | MemberActor;

/**
 * How many contacts a sender may write to without an approval; null for any number. Members and keys with scopes need one above
 * the project's `approvalAbove`; the secret key acts as ADMIN, as everywhere.
 */
export async function mostUnapproved(tx: Database, projectId: string, sender: Sender): Promise<number | null> {
  const isTrusted = sender.kind === 'key' ? sender.scoped === null : roleIncludes(sender.role, 'ADMIN');
  return isTrusted ? null : approvalAbove(tx, projectId);
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

/** What a request for an approval needs. */
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
    path: `/app/${projectId}/campaigns/${id}?step=review`,
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
  await noteApproved(tx, asked.reviewId, approver.userId);
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
