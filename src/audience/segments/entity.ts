import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { segmentTypes } from './schema.ts';

const p = defineEntity.properties;

const SegmentSchema = defineEntity({
  name: 'Segment',
  tableName: 'segments',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.enum(segmentTypes),
    condition: p.json<Record<string, unknown>>().nullable(),
    trackMembership: p.boolean().default(false),
    memberCount: p.integer().default(0),
  },
});

/**
 * A part of a project's audience: contacts that a condition finds, or that were put in by hand. What its evaluation
 * keeps beside that (what it depends on, how far it is settled) is written by SQL only.
 */
export class Segment extends SegmentSchema.class {}
SegmentSchema.setClass(Segment);
