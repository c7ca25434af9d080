import { refused, refusing } from '../contacts/conditions/service.ts';
import { type Activity, type Condition, parseCondition } from '../lib/conditions/condition.ts';
import { dependsOn } from '../lib/conditions/dependencies.ts';
import { checkSegmentReferences, resolveSegments, type SegmentMap } from '../lib/conditions/segments.ts';
import { bareBadRequest } from '../lib/errors.ts';
import type { Database } from '../store/sql.ts';
import { segmentLookup } from './queries.ts';

/** A parsed condition with the segments it refers to. */
export interface Definition {
  condition: Condition;
  segments: SegmentMap;
}

/**
 * Parses a caller's condition tree and checks what it refers to.
 * @throws 400 that names the place in the tree
 */
export async function checkedDefinition(
  db: Database,
  projectId: string,
  tree: unknown,
  selfId?: string,
): Promise<Definition> {
  const definition = await storedDefinition(db, projectId, tree);
  refusing(() => checkSegmentReferences(definition.condition, definition.segments, selfId));
  return definition;
}

/** A caller's condition as the object that it must be. @throws 400 with `complaint` for anything else */
export function conditionObject(condition: unknown, complaint: string): Record<string, unknown> {
  if (typeof condition === 'object' && condition !== null && !Array.isArray(condition))
    return condition as Record<string, unknown>;
  throw bareBadRequest(complaint);
}

/** Parses a stored condition tree; segments it refers to that are gone have no members. */
export async function storedDefinition(db: Database, projectId: string, tree: unknown): Promise<Definition> {
  const condition = refusing(() => parseCondition(tree));
  const segments = await resolveSegments(condition, segmentLookup(db, projectId)).catch(refused);
  return { condition, segments };
}

/** What a segment's row keeps of its condition to recognize changes that matter. */
export interface WatchFacts {
  /** Names of events that can change the matches; mail activities are seen by their events. */
  watchedEvents: string[];
  /** Segments that the condition refers to, directly or through conditions. */
  watchedSegments: string[];
  /** Whether a change of a contact that exists can matter; the creation of one always can. */
  readsContacts: boolean;
  /** Whether time alone can change the matches. */
  hasWindow: boolean;
}

const eventOf: Record<Activity, string> = {
  sent: 'email.sent',
  delivered: 'email.delivery',
  opened: 'email.open',
  clicked: 'email.click',
  bounced: 'email.bounce',
  complained: 'email.complaint',
};

/** Which changes can alter the matches of a condition. */
export function watchFacts({ condition, segments }: Definition): WatchFacts {
  const read = dependsOn(condition, segments);
  return {
    watchedEvents: [...new Set([...read.events, ...read.activities.map((activity) => eventOf[activity])])],
    watchedSegments: read.segments,
    readsContacts: read.dataKeys.length > 0 || read.contactColumns.some((column) => column !== 'createdAt'),
    hasWindow: read.timeWindows,
  };
}
