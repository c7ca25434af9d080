import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { Automation, AutomationVersion } from '../entity.ts';
import { runStatuses } from '../rows.ts';

const p = defineEntity.properties;

/**
 * A contact going through an automation. `seq` is the number of its next step execution; `nextVersionId` is the version
 * it takes over when it leaves its current step; `limitedBy` the keys whose limits hold for its mail.
 */
export const AutomationRun = defineEntity({
  name: 'AutomationRun',
  tableName: 'automation_runs',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    versionId: p.manyToOne(AutomationVersion).mapToPk(),
    nextVersionId: p.manyToOne(AutomationVersion).mapToPk().deleteRule('no action').nullable(),
    contactId: p.uuid(),
    entry: p.integer(),
    status: p.enum(runStatuses).default('RUNNING'),
    currentStepId: p.uuid().nullable(),
    exitReason: p.text().nullable(),
    context: p.json<unknown>().nullable(),
    seq: p.integer().default(0),
    dueAt: p.datetime(3).nullable(),
    sourceEventId: p.uuid().nullable(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    completedAt: p.datetime(3).nullable(),
    limitedBy: p.array().columnType('uuid[]').nullable(),
  },
  uniques: [
    { properties: ['automationId', 'contactId', 'entry'] },
    {
      name: 'automation_runs_active',
      properties: ['automationId', 'contactId'],
      where: "status in ('RUNNING', 'WAITING')",
    },
    {
      name: 'automation_runs_event',
      properties: ['automationId', 'sourceEventId'],
      where: 'source_event_id IS NOT NULL',
    },
  ],
  indexes: [
    {
      name: 'automation_runs_completed',
      properties: ['projectId', 'completedAt', 'id'],
      where: 'completed_at IS NOT NULL',
    },
    { name: 'automation_runs_contact', columns: [{ name: 'contact_id' }, { name: 'started_at', sort: 'desc' }] },
    {
      name: 'automation_runs_contact_completed',
      properties: ['contactId', 'completedAt', 'id'],
      where: 'completed_at IS NOT NULL',
    },
    { name: 'automation_runs_due', properties: ['dueAt'], where: "status in ('RUNNING', 'WAITING')" },
    {
      name: 'automation_runs_ended',
      columns: [
        { name: 'automation_id' },
        { name: 'status' },
        { name: 'started_at', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
      where: "NOT (status in ('RUNNING', 'WAITING'))",
    },
    {
      name: 'automation_runs_inside',
      properties: ['automationId', 'currentStepId', 'id', 'status'],
      where: "status in ('RUNNING', 'WAITING')",
    },
    {
      name: 'automation_runs_list',
      columns: [{ name: 'automation_id' }, { name: 'started_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'automation_runs_next_version', properties: ['nextVersionId'], where: 'next_version_id IS NOT NULL' },
    {
      name: 'automation_runs_project',
      columns: [{ name: 'project_id' }, { name: 'started_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'automation_runs_version', properties: ['versionId'] },
    { name: 'automation_runs_walk', properties: ['automationId', 'id'], where: "status in ('RUNNING', 'WAITING')" },
  ],
});

/** One execution of a step. `outcome` is set once, by the event or by the timeout, whichever is first. */
export const AutomationStepRun = defineEntity({
  name: 'AutomationStepRun',
  tableName: 'automation_step_runs',
  properties: {
    ...baseColumns,
    runId: p.manyToOne(AutomationRun).mapToPk().deleteRule('cascade'),
    projectId: p.uuid(),
    contactId: p.uuid(),
    stepId: p.uuid(),
    seq: p.integer(),
    stepType: p.text(),
    stepName: p.text(),
    status: p.enum(['PENDING', 'SCHEDULED', 'WAITING', 'RUNNING', 'COMPLETED', 'SKIPPED', 'FAILED'] as const),
    scheduledFor: p.datetime(3).nullable(),
    executeAfter: p.datetime(3).nullable(),
    eventName: p.text().nullable(),
    outcome: p.enum(['EVENT', 'TIMEOUT'] as const).nullable(),
    resumeEventId: p.uuid().nullable(),
    input: p.json<unknown>().nullable(),
    output: p.json<unknown>().nullable(),
    error: p.text().nullable(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    completedAt: p.datetime(3).nullable(),
    branch: p
      .text()
      .generated(
        "(COALESCE((output ->> 'branch'), (output ->> 'waitOutcome'), CASE WHEN (status = 'COMPLETED') THEN CASE WHEN (step_type <> 'WEBHOOK') THEN 'next' WHEN ((output ->> 'success') = 'true') THEN 'success' ELSE 'failure' END ELSE NULL END)) stored",
      )
      .nullable(),
    unwrittenCalls: p.smallint().default(0),
    repeatedCalls: p.smallint().default(0),
  },
  uniques: [{ properties: ['runId', 'seq'] }],
  indexes: [
    {
      name: 'automation_step_runs_delays',
      properties: ['projectId', 'scheduledFor', 'id'],
      where: "(step_type = 'DELAY') AND (status = 'SCHEDULED')",
    },
    { name: 'automation_step_runs_reached', properties: ['stepId', 'startedAt', 'branch', 'status'] },
    {
      name: 'automation_step_runs_resolved',
      properties: ['updatedAt', 'id'],
      where: "(status = 'WAITING') AND (outcome IS NOT NULL)",
    },
    {
      name: 'automation_step_runs_waits',
      properties: ['projectId', 'eventName', 'contactId'],
      where: "(status = 'WAITING') AND (outcome IS NULL)",
    },
  ],
});
