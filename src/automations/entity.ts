import { defineEntity } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns } from '../store/columns.ts';
import { Template } from '../templates/queries.ts';
import { stepTypes } from './graph/step-configs.ts';
import { triggerTypes } from './rows.ts';

const p = defineEntity.properties;

/**
 * A workflow that contacts go through. `graphDirty`: steps or transitions changed since `currentVersionId` was written.
 * `scheduleRevision` counts what the schedule in Temporal must follow. `limitedBy` is the key whose limits hold for its mail, where one
 * with limits enabled it.
 */
export const Automation = defineEntity({
  name: 'Automation',
  tableName: 'automations',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    description: p.text().nullable(),
    enabled: p.boolean().default(false),
    triggerType: p.enum(triggerTypes).default('EVENT'),
    triggerConfig: p.json<unknown>().nullable(),
    eventName: p
      .text()
      .generated("( CASE WHEN (trigger_type = 'EVENT') THEN (trigger_config ->> 'eventName') ELSE NULL END) stored")
      .nullable(),
    allowReentry: p.boolean().default(false),
    graphDirty: p.boolean().default(true),
    currentVersionId: p.uuid().nullable(),
    scheduleRevision: p.integer().default(0),
    revision: p.integer().default(1),
    editedAt: p.datetime(3).nullable(),
    editedBy: p.manyToOne(User).mapToPk().deleteRule('set null').nullable(),
    limitedBy: p.uuid().nullable(),
  },
  indexes: [
    { name: 'automations_event', properties: ['projectId', 'eventName'], where: 'enabled' },
    {
      name: 'automations_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'automations_schedule', properties: ['id'], where: "trigger_type = 'SCHEDULE'" },
  ],
});

/** A step of the graph that is being edited. */
export const AutomationStep = defineEntity({
  name: 'AutomationStep',
  tableName: 'automation_steps',
  properties: {
    ...baseColumns,
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    type: p.enum(stepTypes),
    name: p.text(),
    position: p.json<unknown>(),
    config: p.json<unknown>().defaultRaw("'{}'::jsonb"),
    templateId: p.manyToOne(Template).mapToPk().deleteRule('set null').nullable(),
    note: p.text().nullable(),
  },
  uniques: [{ name: 'automation_steps_trigger', properties: ['automationId'], where: "type = 'TRIGGER'" }],
  indexes: [
    { name: 'automation_steps_automation', properties: ['automationId', 'createdAt', 'id'] },
    { name: 'automation_steps_template', properties: ['templateId'], where: 'template_id IS NOT NULL' },
  ],
});

/** A path from one step to another in the graph that is being edited. */
export const AutomationTransition = defineEntity({
  name: 'AutomationTransition',
  tableName: 'automation_transitions',
  properties: {
    ...baseColumns,
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    fromStepId: p.manyToOne(AutomationStep).mapToPk().deleteRule('cascade'),
    toStepId: p.manyToOne(AutomationStep).mapToPk().deleteRule('cascade'),
    branch: p.text().nullable(),
    waitOutcome: p.enum(['EVENT', 'TIMEOUT'] as const).nullable(),
    priority: p.integer().default(0),
  },
  indexes: [
    { name: 'automation_transitions_automation', properties: ['automationId'] },
    { name: 'automation_transitions_from', properties: ['fromStepId'] },
    { name: 'automation_transitions_to', properties: ['toStepId'] },
  ],
});
