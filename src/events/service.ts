import { isoInstant } from '../db/columns.ts';
import type { Sql } from '../db/sql.ts';
import { splitData, withoutDangerousKeys } from '../lib/contact-data.ts';
import { invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { JsonObjectValue } from '../lib/json.ts';
import { isReservedEvent } from './names.ts';
import { trackEvent } from './queries.ts';
import type { TrackBody } from './schema.ts';

/**
 * Records an event of a contact, which is created when it is new (contract page 1, 2.9).
 * @throws 422 `reserved_event` before anything is written
 */
export async function track(
  sql: Sql,
  projectId: string,
  body: TrackBody,
): Promise<{ contact: string; event: string; timestamp: string }> {
  if (isReservedEvent(body.event))
    throw invalidField('event', 'is a name that only the service itself records', 'reserved_event', body.event);
  // Stored as it was sent, wrappers and all; only what could reach a prototype is left out.
  const data = body.data ? (withoutDangerousKeys(body.data as JsonObjectValue) as JsonObjectValue) : null;
  const { set, remove } = splitData(data ?? {});
  const flipEventId = newId();
  const event = newId();
  const stored = await trackEvent(
    sql,
    projectId,
    {
      newId: newId(),
      email: body.email,
      subscribed: body.subscribed ?? null,
      subscribedWhenNew: true,
      set,
      remove,
      flipEventId,
    },
    { id: event, name: body.event, data },
  );
  return { contact: stored.contactId, event, timestamp: isoInstant(stored.createdAt) };
}
