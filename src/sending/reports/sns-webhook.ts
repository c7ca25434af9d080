import {
  amazonUrl,
  distrustSns,
  readSesEvent,
  readSesReceived,
  readSnsEnvelope,
  type SnsClient,
  type SnsEnvelope,
} from '@fernpost/mail-providers';
import { parseDate } from '../../core/lib/time.ts';
import { type NotificationAnswer, type NotificationDeps, takeReport } from './report.ts';
import { takeMail } from './webhooks.ts';

/** What posts of Amazon SNS are handled with. */
export interface SnsDeps extends NotificationDeps {
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
    const parsed: unknown = JSON.parse(message, (_, value: unknown) =>
      // U+0000 and half surrogate pairs are what Postgres cannot store.
      typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
    );
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function refusal(status: number, message: string): NotificationAnswer {
  return { status, body: { success: false, message } };
}
