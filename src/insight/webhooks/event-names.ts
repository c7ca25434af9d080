import { editDistance } from '@fernpost/address-verification';
import { countByName } from '../../audience/events/index.ts';
import type { Database } from '../../core/database/sql.ts';
import { invalid } from '../../core/lib/errors.ts';
import { dayMs, sqlSpan } from '../../core/lib/span.ts';

// What the service records below the prefixes that are its own.
const ownNames = [
  ...['sent', 'delivery', 'open', 'click', 'bounce', 'complaint', 'failed', 'received'].map((name) => `email.${name}`),
  ...['sent', 'paused', 'cancelled', 'held'].map((name) => `campaign.${name}`),
  ...['finished', 'failed'].map((name) => `workflow.${name}`),
  'import.finished',
  ...['verified', 'lost'].map((name) => `domain.${name}`),
];
const ownPrefixes = [...new Set(ownNames.map((name) => name.slice(0, name.indexOf('.') + 1)))];

/**
 * Refuses to subscribe an endpoint to an event that never comes: a name below one of the service's own prefixes that the
 * service does not record and the project has not tracked. Other names may be tracked later.
 * @throws 422 with the nearest name for each
 */
export async function refuseUnknownEvents(db: Database, projectId: string, events: readonly string[]): Promise<void> {
  const unknown = events.flatMap((name, place) => (isUnknown(name) ? [{ name, place }] : []));
  if (unknown.length === 0) return;
  const span = sqlSpan({ from: null, until: null }, dayMs);
  const tracked = new Set((await countByName(db, projectId, span)).map(({ name }) => name));
  const refused = unknown.filter(({ name }) => !tracked.has(name));
  if (refused.length > 0)
    throw invalid(
      refused.map(({ name, place }) => ({
        field: `events.${place}`,
        code: 'invalid_enum_value',
        message: `is not an event: did you mean "${nearest(name)}"?`,
      })),
      `The service's own events are ${ownNames.join(', ')}.`,
    );
}

function isUnknown(name: string): boolean {
  if (!ownPrefixes.some((prefix) => name.startsWith(prefix))) return false;
  return name.endsWith('.*') ? !ownPrefixes.includes(name.slice(0, -1)) : !ownNames.includes(name);
}

function nearest(name: string): string {
  // A name of the same prefix is nearer than one with fewer slips.
  const prefix = name.slice(0, name.indexOf('.') + 1);
  const candidates = ownNames.filter((own) => own.startsWith(prefix));
  const distance = (own: string) => editDistance(name.toLowerCase(), own, name.length + own.length);
  return candidates.toSorted((one, other) => distance(one) - distance(other))[0] ?? `${prefix}*`;
}
