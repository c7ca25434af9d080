import { createHash, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Sql } from '../db/sql.ts';
import { applyNotification, findByMessageId, type Notified } from '../emails/notify.ts';
import { type Clock, pause } from '../lib/time.ts';
import type { Notification } from './notification.ts';
import { readPostmarkNotification } from './postmark-notification.ts';

/** What a webhook is answered. */
export interface WebhookAnswer {
  status: number;
  body: { success: boolean; message?: string; duplicate?: boolean };
}

/** What the webhooks of Postmark are handled with. */
export interface WebhookDeps {
  db: Sql;
  clock: Clock;
  log: { warn(facts: object, text: string): void };
  /** How long our own record of a hand-over is waited for, in milliseconds; 1,500 when absent. */
  patienceMs?: number;
}

type Credentials = Pick<Config, 'POSTMARK_WEBHOOK_USER' | 'POSTMARK_WEBHOOK_PASSWORD' | 'POSTMARK_WEBHOOK_TOKEN'>;

/**
 * Whether a call may be Postmark's: by HTTP Basic credentials or by the token in its path. Postmark does not sign, so
 * that without either setting nobody is let in.
 */
export function mayNotify(config: Credentials, authorization: string, token: string | null): boolean {
  const { POSTMARK_WEBHOOK_USER: user, POSTMARK_WEBHOOK_PASSWORD: password, POSTMARK_WEBHOOK_TOKEN } = config;
  const basic = /^basic +(\S+)$/i.exec(authorization.trim())?.[1];
  const byBasic =
    user !== null &&
    password !== null &&
    basic !== undefined &&
    same(Buffer.from(basic, 'base64').toString('utf8'), `${user}:${password}`);
  const byToken = POSTMARK_WEBHOOK_TOKEN !== null && token !== null && same(token, POSTMARK_WEBHOOK_TOKEN);
  return byBasic || byToken;
}

// Digests have one length, so that the comparison tells nothing about the secret, not even its length.
function same(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Takes one webhook of Postmark (contract page 3, 8.1 and 8.3): one record, applied once. What is about a mail that is
 * not known yet is answered 503, so that Postmark repeats it, for a day. Rejects when Postgres does.
 */
export async function receivePostmark(deps: WebhookDeps, body: string): Promise<WebhookAnswer> {
  let notification: Notification | null;
  try {
    notification = readPostmarkNotification(body);
  } catch {
    return { status: 400, body: { success: false, message: 'The body is no JSON object' } };
  }
  // Received mail, and records about nobody's mail, are taken and left alone.
  if (notification === null) return { status: 200, body: { success: true, message: 'Ignored' } };
  const outcome = await apply(deps, notification);
  if (outcome === 'done') return { status: 200, body: { success: true } };
  if (outcome === 'duplicate') return { status: 200, body: { success: true, duplicate: true } };
  const { kind } = notification.effect;
  if (deps.clock().getTime() - Date.parse(notification.at) > dayMs) {
    deps.log.warn(
      { messageId: notification.messageId, kind },
      'a report about an unknown mail was dropped after a day',
    );
    return { status: 200, body: { success: true, message: 'Dropped: no such mail' } };
  }
  return { status: 503, body: { success: false, message: 'The mail is not known yet' } };
}

// A report can overtake the record of its own hand-over by some milliseconds. Waiting keeps `email.sent` first and lets the
// event carry the rendered subject; a mail whose hand-over is in doubt is changed all the same, for the report proves it.
async function apply(deps: WebhookDeps, notification: Notification): Promise<Notified> {
  const { recipient, messageId } = notification;
  const mail = await mailOf(deps.db, notification);
  if (mail === null) return 'unknown';
  const deadline = performance.now() + (deps.patienceMs ?? 1500);
  let outcome = await applyNotification(deps.db, 'postmark', mail, notification, false);
  for (let wait = 20; outcome === 'unsettled'; wait = Math.min(wait * 2, 250)) {
    const late = performance.now() + wait > deadline;
    if (!late) await pause(wait);
    outcome = await applyNotification(deps.db, 'postmark', mail, notification, late);
  }
  if (outcome !== 'unknown' || messageId === null) return outcome;
  // Metadata that names no mail of ours may have been set by another system on the same server.
  const other = await findByMessageId(deps.db, recipient, messageId);
  return other === null ? 'unknown' : applyNotification(deps.db, 'postmark', other, notification, true);
}

async function mailOf(sql: Sql, { emailId, projectId, recipient, messageId }: Notification) {
  if (emailId !== null && projectId !== null) return { emailId, projectId };
  return messageId === null ? null : findByMessageId(sql, recipient, messageId);
}
