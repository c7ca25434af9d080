import { type Activity, type Condition, type ConditionFilter, filtersOf } from './condition.ts';
import { expansion, noSegments, type SegmentMap } from './segments.ts';

/** The changes that can alter the matches of a condition. */
export interface Dependencies {
  /** Top-level keys of contact data. A filter on `a.b` reads the key `a.b` and the key `a`. */
  dataKeys: string[];
  contactColumns: ('email' | 'subscribed' | 'createdAt' | 'updatedAt')[];
  events: string[];
  activities: Activity[];
  /** Segments whose membership, or condition, is asked for. */
  segments: string[];
  /** Whether the passing of time alone can change the answer. */
  timeWindows: boolean;
}

/**
 * Returns the facts that a condition depends on. Untracked DYNAMIC segments have no membership to watch, so where the map has them, what
 * their conditions depend on is included.
 */
export function dependsOn(condition: Condition, segments: SegmentMap = noSegments): Dependencies {
  const dataKeys = new Set<string>();
  const contactColumns = new Set<Dependencies['contactColumns'][number]>();
  const events = new Set<string>();
  const activities = new Set<Activity>();
  const referred = new Set<string>();
  let timeWindows = false;
  collect(condition, []);
  return {
    dataKeys: [...dataKeys],
    contactColumns: [...contactColumns],
    events: [...events],
    activities: [...activities],
    segments: [...referred],
    timeWindows,
  };

  function collect(own: Condition, above: string[]): void {
    for (const filter of filtersOf(own)) {
      if ('test' in filter && 'milliseconds' in filter.test) timeWindows = true;
      switch (filter.kind) {
        case 'email':
        case 'subscribed':
          contactColumns.add(filter.kind);
          break;
        case 'date':
          contactColumns.add(filter.column);
          break;
        case 'data':
          for (const key of topLevelKeys(filter)) dataKeys.add(key);
          break;
        case 'event':
          events.add(filter.name);
          break;
        case 'activity':
          activities.add(filter.activity);
          break;
        case 'segment': {
          const seen = referred.has(filter.segmentId);
          referred.add(filter.segmentId);
          const nested = seen ? null : expansion(filter.segmentId, segments, above);
          if (nested) collect(nested.condition, nested.above);
        }
      }
    }
  }
}

/**
 * Whether a condition mentions a contact field as `GET /contacts/fields` names it: `email`, `subscribed`, `createdAt`,
 * `updatedAt`, or `data.<key>`. A filter on `data.a.b` mentions `data.a` too, because deleting that key would change it.
 */
export function mentionsField(condition: Condition, field: string): boolean {
  return filtersOf(condition).some(
    (filter) =>
      (filter.kind === field && (field === 'email' || field === 'subscribed')) ||
      (filter.kind === 'date' && filter.column === field) ||
      (filter.kind === 'data' && topLevelKeys(filter).some((key) => `data.${key}` === field)),
  );
}

/** Whether a condition has a filter on events of exactly this name, written `event.<name>` or bare. */
export function mentionsEvent(condition: Condition, name: string): boolean {
  return filtersOf(condition).some((filter) => filter.kind === 'event' && filter.name === name);
}

function topLevelKeys(filter: ConditionFilter & { kind: 'data' }): string[] {
  return [...new Set([filter.key, filter.path[0] ?? filter.key])];
}
