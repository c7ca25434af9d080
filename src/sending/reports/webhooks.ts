import { createHash, timingSafeEqual } from 'node:crypto';
import { sandboxWebhookUser } from '@fernpost/earlier-name';
import { parsePostmark, type ReceivedMail, readPostmarkReceived, readPostmarkRecord } from '@fernpost/mail-providers';
import type { Config } from '../../core/config/config.ts';
import { recordReceivedMail } from './receive.ts';
import { type NotificationAnswer, type NotificationDeps, takeReport } from './report.ts';

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
    usersOf(user).some((name) => same(Buffer.from(basic, 'base64').toString('utf8'), `${name}:${password}`));
  const byToken = POSTMARK_WEBHOOK_TOKEN !== null && token !== null && same(token, POSTMARK_WEBHOOK_TOKEN);
  return byBasic || byToken;
}

// The user name in a sandbox without POSTMARK_WEBHOOK_USER; one of the earlier release may still repeat its calls.
function usersOf(user: string): string[] {
  return user === 'fernpost' ? [user, sandboxWebhookUser] : [user];
}

// Digests have one length, so that the comparison tells nothing about the secret, not even its length.
function same(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/**
 * Takes one webhook of Postmark (docs/contract/platform.md#8-3): one record, or one received mail, applied once. Rejects when
 * Postgres does.
 */
export async function receivePostmark(deps: NotificationDeps, body: string): Promise<NotificationAnswer> {
  let record: object;
  try {
    record = parsePostmark(body);
  } catch {
    return { status: 400, body: { success: false, message: 'The body is no JSON object' } };
  }
  const mail = readPostmarkReceived(record, deps.clock());
  if (mail !== null) return takeMail(deps, mail);
  const notification = readPostmarkRecord(record);
  // Records about nobody's mail are taken and left alone.
  if (notification === null) return { status: 200, body: { success: true, message: 'Ignored' } };
  return takeReport(deps, 'postmark', notification);
}

/** Takes a mail that a provider received for us (docs/contract/platform.md#8-4). Rejects when Postgres does. */
export async function takeMail(
  { db, billing, erasedAddresses }: NotificationDeps,
  mail: ReceivedMail,
): Promise<NotificationAnswer> {
  const outcome = await recordReceivedMail(db, billing, erasedAddresses, mail);
  if (outcome === 'duplicate') return { status: 200, body: { success: true, duplicate: true } };
  const message = outcome === 'done' ? 'Inbound email processed' : 'Ignored: for no domain that is verified here';
  return { status: 200, body: { success: true, message } };
}
