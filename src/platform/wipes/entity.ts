import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;

/** The removal of a project, or of everything in it, and how far it is. */
export const ProjectWipe = defineEntity({
  name: 'ProjectWipe',
  tableName: 'project_wipes',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    kind: p.enum(['RESET', 'DELETE'] as const),
    /** Where it stands: the place in the list of tables, and the last id that is gone there. */
    place: p.integer().default(0),
    after: p.uuid().nullable(),
    /** How often the list has been begun. */
    pass: p.integer().default(1),
    removedInPass: p.bigint('number').defaultRaw('0'),
    removed: p.bigint('number').defaultRaw('0'),
    /** The payment subscription to cancel. */
    subscription: p.text().nullable(),
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'project_wipes_open', properties: ['projectId'], where: 'finished_at IS NULL' }],
  indexes: [{ name: 'project_wipes_age', properties: ['finishedAt'], where: 'finished_at IS NOT NULL' }],
});
export type ProjectWipe = InferEntity<typeof ProjectWipe>;
