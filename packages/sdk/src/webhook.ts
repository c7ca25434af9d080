import { Webhook } from 'standardwebhooks';

/** A webhook that the service has called with. */
export interface WebhookCall {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/**
 * Checks the signature of a webhook and returns what it says. `body` is the text as it was received.
 * @throws when the signature is not by this secret, or the call is older than five minutes
 */
export function verifyWebhook(body: string, headers: Headers | Record<string, string>, secret: string): WebhookCall {
  const given = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return new Webhook(secret).verify(body, given) as WebhookCall;
}
