import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { Automation, AutomationVersion } from '../entity.ts';
import { migrationStates } from './queries.ts';

const p = defineEntity.properties;

/** A migration of runs between versions. The counts move in the transaction that moves the runs. */
export const AutomationMigration = defineEntity({
  name: 'AutomationMigration',
  tableName: 'automation_migrations',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    toVersionId: p.manyToOne(AutomationVersion).mapToPk(),
    rules: p.json<unknown>(),
    state: p.enum(migrationStates).default('waiting'),
    through: p.uuid().nullable(),
    expected: p.integer(),
    finished: p.integer().default(0),
    movedAtNextStep: p.integer().default(0),
    movedNow: p.integer().default(0),
    exited: p.integer().default(0),
    passedOver: p.integer().default(0),
    failedReason: p.text().nullable(),
    completedAt: p.datetime(3).nullable(),
  },
  uniques: [
    { name: 'automation_migrations_open', properties: ['automationId'], where: "state in ('waiting', 'active')" },
  ],
  indexes: [
    {
      name: 'automation_migrations_automation',
      columns: [{ name: 'automation_id' }, { name: 'created_at', sort: 'desc' }],
    },
    { name: 'automation_migrations_stalled', properties: ['updatedAt'], where: "state in ('waiting', 'active')" },
  ],
});
