import type { components } from '../../api/schema.d.ts';
import type { Tone } from '../../ui/Badge.tsx';

export type Endpoint = components['schemas']['WebhookEndpoint'];
export type Delivery = components['schemas']['WebhookDelivery'];
export type DeliveryDetails = components['schemas']['WebhookDeliveryWithAttempts'];

interface State {
  name: string;
  tone: Tone;
}

export const deliveryStates: Record<Delivery['status'], State> = {
  PENDING: { name: 'Pending', tone: 'info' },
  DELIVERED: { name: 'Delivered', tone: 'good' },
  FAILED: { name: 'Failed', tone: 'bad' },
};

/** The state of an endpoint: also one that is called may be failing. */
export function endpointState({ status, failingSince }: Endpoint): State {
  if (status === 'PAUSED') return { name: 'Paused', tone: 'warn' };
  if (status === 'DISABLED') return { name: 'Disabled', tone: 'bad' };
  return failingSince ? { name: 'Failing', tone: 'bad' } : { name: 'Enabled', tone: 'good' };
}

/** Events that most endpoints listen to; every other name may be typed. */
export const commonEvents = [
  'email.*',
  'email.delivery',
  'email.bounce',
  'email.complaint',
  'email.failed',
  'email.open',
  'email.click',
  'contact.*',
  'contact.created',
  'contact.subscribed',
  'contact.unsubscribed',
] as const;

/** Whether an event is among those of a subscription: a name, a prefix such as `contact.*`, or `*`. */
export function includes(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The names of events that somebody has typed, one per line or separated by commas. */
export function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\n,]+/).flatMap((each) => each.trim() || []))];
}
