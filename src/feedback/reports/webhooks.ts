import { createHash, timingSafeEqual } from 'node:crypto';
import { sandboxWebhookUser } from '@fernpost/earlier-name';
import type { ReceivedMail } from '../../domains/providers/mailer.ts';
import {
  parsePostmark,
  readPostmarkReceived,
  readPostmarkRecord,
} from '../../domains/providers/postmark/postmark-notification.ts';
import {
  mayBeUnstorable,
  readSesEvent,
  readSesReceived,
  storable,
} from '../../domains/providers/ses/ses-notification.ts';
import {
  amazonUrl,
  distrustSns,
  readSnsEnvelope,
  type SnsClient,
  type SnsEnvelope,
} from '../../domains/providers/ses/sns.ts';
import type { Config } from '../../lib/config/config.ts';
import { parseDate } from '../../lib/time.ts';
import { type NotificationAnswer, type NotificationDeps, recordReceivedMail, takeReport } from './report.ts';

/** The dependencies of handling posts of Amazon SNS. */
interface SnsDeps extends NotificationDeps {
  /** Setting SNS_TOPIC_ARNS. */
  topics: readonly string[];
  client: SnsClient;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Takes one post of Amazon SNS (docs/contract/platform.md#8-2): topic, then signature, and only then what it says. A message
 * counts once by its id, however often and in whatever order it comes. Rejects when Postgres does.
 */
export async function receiveSns(deps: SnsDeps, body: string): Promise<NotificationAnswer> {
  let envelope: SnsEnvelope;
  try {
    envelope = readSnsEnvelope(body);
  } catch {
    return refusal(400, 'The body is no JSON object');
  }
  const { TopicArn = '', Type, Timestamp = '' } = envelope;
  const reason = deps.topics.includes(TopicArn)
    ? await distrustSns(envelope, deps.client, deps.clock())
    : 'the topic is not among SNS_TOPIC_ARNS';
  if (reason !== null) {
    deps.log.warn({ reason, topic: TopicArn.slice(0, 256) }, 'a message that claims to be of Amazon SNS was refused');
    return refusal(403, 'Invalid SNS signature');
  }
  const sentAt = parseDate(Timestamp);
  if (sentAt === null || deps.clock().getTime() - sentAt.getTime() > dayMs)
    return { status: 200, body: { success: true, message: 'Ignored: older than a day' } };
  switch (Type) {
    case 'SubscriptionConfirmation':
      return confirm(deps, envelope);
    case 'UnsubscribeConfirmation':
      deps.log.warn({ topic: TopicArn }, 'this service was unsubscribed from a topic of Amazon SNS');
      return { status: 200, body: { success: true, message: 'Noted; the subscription is not restored' } };
    case 'Notification':
      return notification(deps, envelope);
    default:
      return refusal(200, 'Unknown message type');
  }
}

async function confirm(deps: SnsDeps, { SubscribeURL = '', TopicArn }: SnsEnvelope): Promise<NotificationAnswer> {
  const url = amazonUrl(SubscribeURL);
  if (url === null) return refusal(400, 'Invalid SubscribeURL');
  try {
    await deps.client.confirm(url);
  } catch (error) {
    deps.log.warn({ reason: (error as Error).message, topic: TopicArn }, 'a subscription could not be confirmed');
    return refusal(502, 'Amazon SNS did not take the confirmation');
  }
  return { status: 200, body: { success: true, message: 'Subscription confirmed' } };
}

async function notification(deps: SnsDeps, { Message = '', MessageId = '' }: SnsEnvelope): Promise<NotificationAnswer> {
  const event = parseObject(Message);
  // SES tries a topic out with a sentence when it is set up.
  if (event === null) return { status: 200, body: { success: true, message: 'Ignored: no event of Amazon SES' } };
  const mail = await readSesReceived(event, deps.clock());
  if (mail !== null) return takeMail(deps, mail);
  const read = readSesEvent(event, MessageId, deps.clock());
  if (read.kind === 'unnamed') return { status: 400, body: { success: false, error: 'No messageId found' } };
  if (read.kind === 'ignored') return { status: 200, body: { success: true } };
  return takeReport(deps, 'sns', read.notification);
}

function parseObject(message: string): object | null {
  try {
    const parsed: unknown = mayBeUnstorable(message)
      ? JSON.parse(message, (_, value: unknown) => storable(value))
      : JSON.parse(message);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function refusal(status: number, message: string): NotificationAnswer {
  return { status, body: { success: false, message } };
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
async function takeMail(
  { db, billing, erasedAddresses }: NotificationDeps,
  mail: ReceivedMail,
): Promise<NotificationAnswer> {
  const outcome = await recordReceivedMail(db, billing, erasedAddresses, mail);
  if (outcome === 'duplicate') return { status: 200, body: { success: true, duplicate: true } };
  const message = outcome === 'done' ? 'Inbound email processed' : 'Ignored: for no domain that is verified here';
  return { status: 200, body: { success: true, message } };
}
