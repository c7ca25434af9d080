import type { JsonObjectValue } from '../../core/lib/json.ts';

/** An event with whom it is about, as it is delivered. */
export interface DeliveredEvent {
  eventId: string;
  name: string;
  /** ISO instant. */
  at: string;
  data: JsonObjectValue | null;
  contact: { id: string; email: string } | null;
  emailId: string | null;
}

/** Most bytes of a body; a larger event is delivered thin. */
const mostBytes = 20 * 1024;

/** The body of a delivery. What is too large, and everything for a thin endpoint, leaves out the event's data. */
export function payloadOf(event: DeliveredEvent, kind: 'full' | 'thin'): string {
  const thin = bodyOf(event, { id: event.eventId, name: event.name });
  if (kind === 'thin') return JSON.stringify(thin);
  const full = JSON.stringify(bodyOf(event, { id: event.eventId, name: event.name, data: event.data }));
  return Buffer.byteLength(full) <= mostBytes ? full : JSON.stringify({ ...thin, truncated: true });
}

function bodyOf({ name, at, contact, emailId }: DeliveredEvent, event: object) {
  return { type: name, timestamp: at, data: { event, contact, email: emailId === null ? null : { id: emailId } } };
}
