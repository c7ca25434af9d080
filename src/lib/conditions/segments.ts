import {
  type Activity,
  type Condition,
  type ConditionFilter,
  filtersOf,
  parseCondition,
  type SegmentFilter,
} from './condition.ts';
import { conditionFault } from './dates.ts';

/** A segment as its row has it. */
export interface StoredSegment {
  id: string;
  type: 'STATIC' | 'DYNAMIC';
  trackMembership: boolean;
  condition: unknown;
}

/** The facts about a segment that a condition refers to; `condition` is null for STATIC ones. */
export interface SegmentFacts extends Omit<StoredSegment, 'condition'> {
  condition: Condition | null;
}

/** Facts by segment id. A segment that is missing here has no members. */
export type SegmentMap = ReadonlyMap<string, SegmentFacts>;

/** For conditions without references to segments. */
export const noSegments: SegmentMap = new Map();

/** Most filters of a condition together with those of the untracked segments it refers to, counted at each mention. */
export const maxExpandedFilters = 2_000;

/** The references of a tree to other segments. */
export function segmentReferences(condition: Condition): SegmentFilter[] {
  return filtersOf(condition).filter((filter) => filter.kind === 'segment');
}

/**
 * Loads the facts of every segment that a condition refers to, directly or through others. `lookup` gets UUIDs only and
 * must return segments of the condition's own project; those it does not return are missing in the result.
 */
export async function resolveSegments(
  condition: Condition,
  lookup: (ids: string[]) => Promise<StoredSegment[]>,
): Promise<SegmentMap> {
  const facts = new Map<string, SegmentFacts>();
  const asked = new Set<string>();
  let wanted = unasked([condition]);
  while (wanted.length > 0) {
    for (const id of wanted) asked.add(id);
    const loaded = (await lookup(wanted)).map(segmentFacts);
    for (const segment of loaded) facts.set(segment.id, segment);
    wanted = unasked(loaded.flatMap((segment) => segment.condition ?? []));
  }
  return facts;

  function unasked(conditions: Condition[]): string[] {
    const ids = conditions.flatMap((each) => segmentReferences(each).map((reference) => reference.segmentId));
    return [...new Set(ids)].filter((id) => uuid.test(id) && !asked.has(id));
  }
}

/** The facts of one segment row. */
export function segmentFacts({ id, type, trackMembership, condition }: StoredSegment): SegmentFacts {
  const dynamic = type === 'DYNAMIC' && condition !== null && condition !== undefined;
  return { id, type, trackMembership, condition: dynamic ? parseCondition(condition) : null };
}

/**
 * Refuses, with a fault that names the filter, a condition that refers to a segment not in the map (unknown, or of
 * another project), to the segment it belongs to (`selfId`), or in a cycle; and one that grows too large with the
 * conditions of the segments it refers to.
 */
export function checkSegmentReferences(condition: Condition, segments: SegmentMap, selfId?: string): void {
  for (const reference of segmentReferences(condition)) {
    const { segmentId, path } = reference;
    if (segmentId === selfId) throw conditionFault([path], 'A segment cannot refer to itself');
    if (!segments.has(segmentId))
      throw conditionFault([path], `No segment with id ${segmentId} exists in this project`);
    if (leadsIntoCycle(segmentId, new Set(selfId === undefined ? [] : [selfId]), new Set())) {
      throw conditionFault([path], 'Segments cannot refer to each other in a cycle');
    }
  }
  refuseOvergrowth(condition, segments);

  function leadsIntoCycle(id: string, above: Set<string>, clear: Set<string>): boolean {
    if (above.has(id)) return true;
    const own = segments.get(id)?.condition;
    if (!own || clear.has(id)) return false;
    const path = new Set(above).add(id);
    if (segmentReferences(own).some((reference) => leadsIntoCycle(reference.segmentId, path, clear))) return true;
    clear.add(id);
    return false;
  }
}

/** Refuses a condition that has more than `maxExpandedFilters` filters once untracked segments are put in their places. */
export function refuseOvergrowth(condition: Condition, segments: SegmentMap): void {
  let filters = 0;
  count(condition, []);

  function count(own: Condition, above: string[]): void {
    for (const filter of filtersOf(own)) {
      filters += 1;
      if (filters > maxExpandedFilters) {
        throw conditionFault([], 'The condition is too large together with those of the segments it refers to');
      }
      const nested = filter.kind === 'segment' ? expansion(filter.segmentId, segments, above) : null;
      if (nested) count(nested.condition, nested.above);
    }
  }
}

/**
 * The condition that replaces membership of a segment: only untracked DYNAMIC ones have one, others have membership
 * rows. A segment met again inside itself, which only two edits at the same moment can bring about, has no members.
 */
export function expansion(
  segmentId: string,
  segments: SegmentMap,
  above: string[],
): { condition: Condition; above: string[] } | null {
  const segment = segments.get(segmentId);
  if (!segment?.condition || hasMembershipRows(segment) || above.includes(segmentId)) return null;
  return { condition: segment.condition, above: [...above, segmentId] };
}

/** Whether membership of a segment is read from its rows rather than from its condition. */
export function hasMembershipRows(segment: SegmentFacts): boolean {
  return segment.type === 'STATIC' || segment.trackMembership;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

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
        case 'trigger':
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
