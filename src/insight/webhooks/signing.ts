import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** A new signing secret: 24 random bytes (Standard Webhooks, "Signature scheme"). */
export function newSecret(): string {
  return prefix + randomBytes(24).toString('base64');
}

/**
 * The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of one call (Standard Webhooks 1.0). There is a signature for each
 * secret, so that receivers may change to a new one while the old one still counts.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(prefix.length), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(signature).join(' '),
  };
}

/** The id that receivers know an event by: the same for every repetition and replay. */
export function webhookIdOf(eventId: string): string {
  return `evt_${eventId}`;
}
