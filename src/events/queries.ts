import { type ContactChange, untilSeen, upsertContactCtes, upsertValues } from '../contacts/queries.ts';
import { type Sql, statement } from '../db/sql.ts';

const track = statement(
  'events.track',
  `with ${upsertContactCtes},
   tracked as (
     insert into events (id, project_id, contact_id, name, data)
     select $9, $1, id, $10, $11::jsonb from contact
     returning created_at)
   select contact.id as "contactId", tracked.created_at::text as "createdAt" from contact, tracked`,
);

/** Upserts the contact and records the event, in one statement. `data` is stored as it was sent. */
export function trackEvent(
  sql: Sql,
  projectId: string,
  change: ContactChange,
  event: { id: string; name: string; data: Record<string, unknown> | null },
): Promise<{ contactId: string; createdAt: string }> {
  const values = [
    ...upsertValues(projectId, change),
    event.id,
    event.name,
    event.data === null ? null : JSON.stringify(event.data),
  ];
  return untilSeen(() => sql.row<{ contactId: string; createdAt: string }>(track, values));
}
