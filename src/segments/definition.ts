import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import { refused, refusing } from '../contacts/conditions.ts';
import { type Condition, filtersOf, type MailSource, parseCondition } from '../lib/conditions/condition.ts';
import { conditionFault } from '../lib/conditions/dates.ts';
import { isObject } from '../lib/conditions/filters.ts';
import {
  checkSegmentReferences,
  dependsOn,
  resolveSegments,
  type SegmentMap,
  type StoredSegment,
} from '../lib/conditions/segments.ts';
import { eventOf } from '../lib/conditions/sql-happened.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import { segmentTypes } from './schema.ts';

const p = defineEntity.properties;

/**
 * A part of a project's audience: contacts that a condition finds, or that were added by requests. What its evaluation
 * keeps beside that (what it depends on, how far it is settled) is written by SQL only.
 */
export const Segment = defineEntity({
  name: 'Segment',
  tableName: 'segments',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.enum(segmentTypes),
    condition: p.json<Record<string, unknown>>().nullable(),
    trackMembership: p.boolean().default(false),
    memberCount: p.integer().default(0),
    revision: p.integer().default(1).version(),
    watchedEvents: p.array().defaultRaw("'{}'::text[]").lazy(),
    watchedSegments: p.array().columnType('uuid[]').defaultRaw("'{}'::uuid[]").lazy(),
    readsContacts: p.boolean().default(false).lazy(),
    hasWindow: p.boolean().default(false).lazy(),
    settledThrough: p.datetime(3).nullable().lazy(),
    evaluatedAt: p.datetime(3).nullable().lazy(),
    listedCount: p.integer().nullable().lazy(),
    listedThrough: p.datetime(3).nullable().lazy(),
    listedAt: p.datetime(3).nullable().lazy(),
  },
  indexes: [
    {
      name: 'segments_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'segments_tracked', properties: ['projectId'], where: "track_membership AND (type = 'DYNAMIC')" },
  ],
  checks: [{ name: 'segments_check', expression: "(type = 'DYNAMIC') = (condition IS NOT NULL)" }],
});
export type Segment = InferEntity<typeof Segment>;

/** Locks a segment of the project until the transaction ends; null when there is none. */
export function lockSegment(tx: Database, projectId: string, id: string): Promise<Segment | null> {
  return tx.em.findOne(Segment, { projectId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

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
  await checkMailSources(db, projectId, definition.condition, null);
  return definition;
}

/** The graph of a workflow that a condition is part of. */
export interface GraphOfCondition {
  automationId: string;
  stepIds: ReadonlySet<string>;
}

/** `checkedDefinition` for the condition of a workflow's step: of its own workflow it can name the steps of that graph only. */
export async function checkStepDefinition(
  db: Database,
  projectId: string,
  tree: unknown,
  graph: GraphOfCondition,
): Promise<void> {
  const definition = await stepDefinition(db, projectId, tree);
  refusing(() => checkSegmentReferences(definition.condition, definition.segments));
  await checkMailSources(db, projectId, definition.condition, graph);
}

/** Refuses filters on the mail of a campaign, template or step that the project does not have. @throws 400 that names the place */
async function checkMailSources(
  db: Database,
  projectId: string,
  condition: Condition,
  graph: GraphOfCondition | null,
): Promise<void> {
  const named = filtersOf(condition).flatMap((filter) => (filter.kind === 'activity' && filter.of ? [filter.of] : []));
  if (named.length === 0) return;
  const ids = [...new Set(named.map(({ id }) => id))];
  const rows = await db.rows<Pick<MailSource, 'kind' | 'id'>>(sql`
    select 'campaignId' as kind, id from campaigns where project_id = ${projectId} and id = any(${ids}::uuid[])
    union all select 'templateId', id from templates where project_id = ${projectId} and id = any(${ids}::uuid[])
    union all select 'stepId', s.id from automation_steps s join automations a on a.id = s.automation_id
      where a.project_id = ${projectId} and s.id = any(${ids}::uuid[])
        and a.id is distinct from ${graph?.automationId ?? null}::uuid`);
  const unknown = named.find(
    ({ kind, id }) =>
      !rows.some((row) => row.kind === kind && row.id === id) && !(kind === 'stepId' && graph?.stepIds.has(id)),
  );
  if (unknown === undefined) return;
  const what = unknown.kind.slice(0, -'Id'.length);
  refused(conditionFault([unknown.path], `No ${what} with id ${unknown.id} exists in this project`));
}

/** A caller's condition as the object that it must be. @throws 400 with `complaint` for anything else */
export function conditionObject(condition: unknown, complaint: string): Record<string, unknown> {
  if (isObject(condition)) return condition;
  throw bareBadRequest(complaint);
}

/** Parses a stored condition tree; segments it refers to that are gone have no members. */
export function storedDefinition(db: Database, projectId: string, tree: unknown): Promise<Definition> {
  return definitionOf(db, projectId, tree, false);
}

/** `storedDefinition` for the condition of a workflow's step, which may ask for `trigger.<key>`. */
export function stepDefinition(db: Database, projectId: string, tree: unknown): Promise<Definition> {
  return definitionOf(db, projectId, tree, true);
}

async function definitionOf(db: Database, projectId: string, tree: unknown, ofStep: boolean): Promise<Definition> {
  const condition = refusing(() => parseCondition(tree, ofStep));
  const segments = await resolveSegments(condition, (ids) => segmentsAsStored(db, projectId, ids)).catch(refused);
  return { condition, segments };
}

function segmentsAsStored(db: Database, projectId: string, ids: string[]): Promise<StoredSegment[]> {
  const fields = ['type', 'condition', 'trackMembership'] as const;
  return db.session().em.find(Segment, { projectId, id: ids }, { fields, disableIdentityMap: true });
}

/** The columns of a segment by which changes are recognized that its condition depends on. */
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
