import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { ofProject } from '../projects/entity.ts';
import { baseColumns } from '../store/columns.ts';
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
