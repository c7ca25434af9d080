import type { ScopedKey } from '../../http/context.ts';
import { AppError, conflict, notFound } from '../../lib/errors.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { databaseNow } from '../../store/changes.ts';
import type { Database } from '../../store/sql.ts';
import { checkStoredMail } from './key-limits.ts';
import { cancelQueued, findLeft, moveQueued } from './queries.ts';
import { scheduledInstant } from './schedule.ts';

/** @throws 404, and 403 for a key with limits that could not have sent this mail */
export async function checkKeyOfMail(
  db: Database,
  key: ScopedKey | null,
  projectId: string,
  id: string,
): Promise<void> {
  if (!key?.senderDomains && !key?.recipients) return;
  const mail = await findLeft(db, projectId, id);
  if (mail === null) throw notFound('email', id);
  checkStoredMail(key, mail);
}

/** Cancels a mail that has not been claimed for sending. @throws 404, 409 EMAIL_LEFT, 409 for a campaign's mail */
export async function cancelEmail(db: Database, projectId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await cancelQueued(tx, projectId, id))) throw await refusalFor(tx, projectId, id);
    await recordChange(tx, projectId, { action: 'email.cancelled', target: id });
  });
}

/**
 * Moves a mail to another time; null sends it now. Answers when it is due, null for now.
 * @throws 422 for an instant more than 30 days ahead, 404, 409 EMAIL_LEFT, 409 for a campaign's mail
 */
export async function rescheduleEmail(
  db: Database,
  projectId: string,
  id: string,
  scheduledFor: string | null,
): Promise<Date | null> {
  const at = scheduledFor === null ? null : scheduledInstant(scheduledFor, await databaseNow(db));
  await db.transaction(async (tx) => {
    if (!(await moveQueued(tx, projectId, id, at))) throw await refusalFor(tx, projectId, id);
    const after = { scheduledFor: at?.toISOString() };
    await recordChange(
      tx,
      projectId,
      at === null ? { action: 'email.released', target: id } : { action: 'email.rescheduled', target: id, after },
    );
  });
  return at;
}

async function refusalFor(db: Database, projectId: string, id: string): Promise<AppError> {
  const mail = await findLeft(db, projectId, id);
  if (mail === null) return notFound('email', id);
  if (mail.campaignId !== null && mail.status === 'PENDING')
    return conflict('This email belongs to a campaign: stop the campaign instead', { campaignId: mail.campaignId });
  const status = mail.isClaimed && mail.status === 'PENDING' ? 'SENDING' : mail.status;
  return new AppError(409, 'EMAIL_LEFT', `This email is ${status}: it can no longer be changed`, {
    details: { status },
  });
}
