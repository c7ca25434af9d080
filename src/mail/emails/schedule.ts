import * as v from 'valibot';
import { reaches } from '../../contacts/suppressions/matching.ts';
import { checkKeySender } from '../../domains/service.ts';
import type { ScopedKey } from '../../http/context.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { MessageClass } from '../../lib/enums.ts';
import { AppError, conflict, forbidden, invalidField, notFound } from '../../lib/errors.ts';
import { placeWithin } from '../../lib/ids.ts';
import { dayMs, hourMs, offsetAt, ownZone, parseDate, timeOfDayMs, wallInstant, weekdayOf } from '../../lib/time.ts';
import { domainOf } from '../../lib/validation/email-address.ts';
import { coded } from '../../lib/validation/fields.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { QuietHours } from '../../projects/schema.ts';
import { databaseNow } from '../../store/changes.ts';
import type { Database } from '../../store/sql.ts';
import { MailStatus } from '../status.ts';
import { cancelQueued, findLeft, moveQueued } from './queries.ts';

/** @throws 403 for mail that a key could not have sent, and so may not change */
export function checkStoredMail(key: ScopedKey | null, { from, to }: { from: string; to: string }): void {
  checkKeySender(key, domainOf(from));
  if (reaches(key, to)) return;
  throw forbidden(
    `This key may not send to ${to}`,
    { reason: 'recipient', recipient: to, allowed: key?.recipients },
    'Use a key that may send to this recipient.',
  );
}

const furthestDays = 30;
const minuteMs = 60_000;

/** An instant at which mail is to be sent. */
export const ScheduledFor = v.pipe(
  v.string(),
  coded('invalid_string', isInstant, 'must be an ISO 8601 instant with an offset, for example 2026-12-24T18:00:00Z'),
);

/** How long mail is held for its sender to cancel it. */
export const HoldFor = v.pipe(
  v.string(),
  coded('invalid_string', (text) => holdMs(text) !== null, 'must be from "15m" to "24h"'),
);

/** When mail is sent that is not sent at once; at most one of the two is set. */
export interface SendTime {
  scheduledFor: Date | null;
  heldUntil: Date | null;
}

/** Returns the time that a request asks for, by the clock of Postgres, which decides when mail is due. @throws 422 `too_big` for an instant that is more than 30 days ahead */
export function scheduleOf(
  { scheduledFor, hold }: { scheduledFor?: string | null | undefined; hold?: string | null | undefined },
  now: Date,
): SendTime {
  const held = hold == null ? null : holdMs(hold);
  return {
    scheduledFor: scheduledFor == null ? null : scheduledInstant(scheduledFor, now),
    heldUntil: held === null ? null : new Date(now.getTime() + held),
  };
}

/** The instant of a `scheduledFor`; null when it is over. @throws 422 `too_big` when it is more than 30 days ahead */
function scheduledInstant(text: string, now: Date): Date | null {
  const at = new Date(text);
  if (at.getTime() > now.getTime() + furthestDays * dayMs)
    throw invalidField('scheduledFor', `must be at most ${furthestDays} days ahead`, 'too_big');
  return at > now ? at : null;
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text) && parseDate(text) !== null;
}

function holdMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,4})([mh])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 'h' ? hourMs : minuteMs);
  return ms >= 15 * minuteMs && ms <= dayMs ? ms : null;
}

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
  if (mail.campaignId !== null && mail.status === MailStatus.PENDING)
    return conflict('This email belongs to a campaign: stop the campaign instead', { campaignId: mail.campaignId });
  const status = mail.isClaimed && mail.status === MailStatus.PENDING ? MailStatus.SENDING : mail.status;
  return new AppError(409, 'EMAIL_LEFT', `This email is ${status}: it can no longer be changed`, {
    details: { status },
  });
}

/**
 * Returns when the quiet hours end that an instant lies in, in milliseconds; null where it lies in none. Those that last over midnight belong to
 * the day on which they begin. The beginning is quiet, the end is not.
 */
export function quietUntil({ from, to, days }: QuietHours, zone: string, now: number): number | null {
  const today = Math.floor((now + offsetAt(now, zone)) / dayMs) * dayMs;
  const [start, end] = [timeOfDayMs(from), timeOfDayMs(to)];
  const length = end > start ? end : end + dayMs;
  for (const day of [today - dayMs, today]) {
    if (days && !days.includes(weekdayOf(day))) continue;
    const until = wallInstant(day + length, zone);
    if (wallInstant(day + start, zone) <= now && now < until) return until;
  }
  return null;
}

/** Mail is spread over so long after the end of quiet hours, in milliseconds: 100,000 that waited are 6 ms apart. */
export const spreadMs = 600_000;

/** The quiet hours of a project, and the time zone of contacts without one of their own. */
export interface QuietFacts {
  quietHours: QuietHours | null;
  timeZone: string | null;
}

/** A contact as quiet hours ask for it. */
interface QuietContact {
  id: string;
  data: JsonObjectValue;
}

/**
 * Returns the instant at which an email to a contact may leave, in milliseconds, or null for now. Contacts without a valid `data.timezone` have
 * the zone of the project, or UTC. Each contact has a place of its own within `spreadMs` after the end, so that mail of others goes between.
 */
export function heldUntil(
  { quietHours, timeZone }: QuietFacts,
  messageClass: MessageClass,
  { id, data }: QuietContact,
  now: number,
): number | null {
  if (quietHours === null || messageClass === 'TRANSACTIONAL' || !quietHours.types.includes(messageClass)) return null;
  const until = quietUntil(quietHours, ownZone(data) ?? timeZone ?? 'UTC', now);
  return until === null ? null : until + placeWithin(id, spreadMs);
}

/**
 * Returns the instant at which an email may leave that waits until `until`, by the hours as they are now: their end, or for whoever is in none
 * the place of the contact from now on, where that is sooner.
 */
export function heldAgain(
  facts: QuietFacts,
  messageClass: MessageClass,
  contact: QuietContact,
  { now, until }: { now: number; until: number },
): number {
  return heldUntil(facts, messageClass, contact, now) ?? Math.min(until, now + placeWithin(contact.id, spreadMs));
}
