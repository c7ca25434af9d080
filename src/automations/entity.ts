import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { activeStatuses, runStatuses } from '../lib/enums.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns } from '../store/columns.ts';
import { Template } from '../templates/queries.ts';
import type { Graph } from './graph/graph.ts';
import type { StepBody } from './graph/schema.ts';
import { stepTypes } from './graph/step-configs.ts';
import type { RolloutBody, VersionCounts } from './schema.ts';

const p = defineEntity.properties;

/** The types of triggers. */
export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE', 'CONTACT_CREATED', 'DATE'] as const;

/**
 * A workflow that contacts go through. `graphDirty`: steps or transitions changed since `currentVersionId` was written.
 * `scheduleRevision` counts what the schedule in Temporal must follow. `limitedBy` is the key whose limits hold for its mail, where one
 * with limits enabled it. Those whom a pause held go on from `resumedAt` to `spreadUntil`.
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
    triggerConfig: p.json<Record<string, unknown>>().nullable(),
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
    removedRuns: p.integer().default(0).lazy(),
    pausedAt: p.datetime(3).nullable(),
    resumedAt: p.datetime(3).nullable(),
    spreadUntil: p.datetime(3).nullable(),
  },
  indexes: [
    {
      name: 'automations_created',
      properties: ['projectId'],
      where: "(trigger_type = 'CONTACT_CREATED') AND enabled",
    },
    { name: 'automations_dates', properties: ['id'], where: "(trigger_type = 'DATE') AND enabled" },
    { name: 'automations_event', properties: ['projectId', 'eventName'], where: 'enabled' },
    {
      name: 'automations_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    { name: 'automations_schedule', properties: ['id'], where: "trigger_type = 'SCHEDULE'" },
  ],
});
export type Automation = InferEntity<typeof Automation>;

/** How many runs that retention has removed took a path of a step on a day in UTC ('' for none). For the schema: SQL reads and writes it. */
export const AutomationPathSum = defineEntity({
  name: 'AutomationPathSum',
  tableName: 'automation_path_sums',
  properties: {
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    stepId: p.uuid().primary(),
    day: p.date().primary(),
    branch: p.text().primary(),
    runs: p.integer(),
  },
});

/** A pending enrollment: by an event, a time of a schedule, or a new contact, whose ID `eventId` is then. For counts: SQL writes it. */
export const AutomationArrival = defineEntity({
  name: 'AutomationArrival',
  tableName: 'automation_arrivals',
  properties: {
    id: p.uuid().primary().defaultRaw('uuidv7()'),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    projectId: p.uuid(),
    contactId: p.uuid(),
    eventId: p.uuid(),
    createdAt: baseColumns.createdAt,
    limitedBy: p.uuid().nullable(),
  },
  uniques: [{ properties: ['automationId', 'eventId'] }],
  indexes: [{ name: 'automation_arrivals_contact', properties: ['contactId'] }],
});

/**
 * When a date of a contact starts an automation next; null where it has none to come. `lastDay` is the day of the last one that did, and
 * `isInvalid` says that the value is no date.
 */
export const AutomationDate = defineEntity({
  name: 'AutomationDate',
  tableName: 'automation_dates',
  properties: {
    contactId: p.uuid().primary(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    dueAt: p.datetime(3).nullable(),
    isInvalid: p.boolean().default(false),
    lastDay: p.date().nullable(),
  },
  indexes: [
    { name: 'automation_dates_due', properties: ['automationId', 'dueAt'] },
    { name: 'automation_dates_invalid', properties: ['automationId'], where: 'is_invalid' },
  ],
});

/**
 * How far an automation that dates start has followed the changes of contacts: those before `followedAt`, and of that instant up to
 * `followedId`. Dates count from `since`. It begins anew when the automation has another `revision` of its trigger.
 */
export const AutomationDatePlace = defineEntity({
  name: 'AutomationDatePlace',
  tableName: 'automation_date_places',
  properties: {
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    revision: p.integer(),
    since: p.datetime(3),
    followedAt: p.datetime(3),
    followedId: p.uuid(),
  },
});

/** An instant from which an automation was enabled, or disabled. */
export const AutomationSwitch = defineEntity({
  name: 'AutomationSwitch',
  tableName: 'automation_switches',
  properties: {
    id: p.uuid().primary().defaultRaw('uuidv7()'),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    at: p.datetime(3).defaultRaw('now()'),
    enabled: p.boolean(),
  },
  indexes: [{ name: 'automation_switches_automation', properties: ['automationId', 'at'] }],
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
    position: p.json<StepBody['position']>(),
    config: p.json<StepBody['config']>().defaultRaw("'{}'::jsonb"),
    templateId: p.manyToOne(Template).mapToPk().deleteRule('set null').nullable(),
    note: p.text().nullable(),
  },
  uniques: [{ name: 'automation_steps_trigger', properties: ['automationId'], where: "type = 'TRIGGER'" }],
  indexes: [
    { name: 'automation_steps_automation', properties: ['automationId', 'createdAt', 'id'] },
    { name: 'automation_steps_template', properties: ['templateId'], where: 'template_id IS NOT NULL' },
  ],
});

export type AutomationStep = InferEntity<typeof AutomationStep>;

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
export type AutomationTransition = InferEntity<typeof AutomationTransition>;

/** A graph that runs are pinned to. `layout` and `notes` are positions and notes of its steps when it was made, by their IDs. */
export const AutomationVersion = defineEntity({
  name: 'AutomationVersion',
  tableName: 'automation_versions',
  properties: {
    id: p.uuid().primary(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    version: p.integer(),
    graph: p.json<Graph>(),
    hash: p.blob(),
    createdAt: baseColumns.createdAt,
    layout: p.json<Record<string, StepBody['position']>>().nullable(),
    notes: p.json<Record<string, string>>().nullable(),
  },
  uniques: [{ properties: ['automationId', 'hash'] }, { properties: ['automationId', 'version'] }],
});

/**
 * An event that a version of a graph listens for besides that of its trigger. `ends`: it may end runs, `counts`: it may reach the goal, `waits`: a step waits for it. `eventName` is the name of the
 * event, or `segment:<id>` for that of contacts who leave the segment.
 */
export const AutomationWatch = defineEntity({
  name: 'AutomationWatch',
  tableName: 'automation_watches',
  properties: {
    versionId: p.manyToOne(AutomationVersion).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    eventName: p.text().primary(),
    projectId: p.uuid(),
    automationId: p.uuid(),
    ends: p.boolean().default(true),
    counts: p.boolean().default(false),
    waits: p.boolean().default(false),
  },
  indexes: [{ name: 'automation_watches_event', properties: ['projectId', 'eventName'] }],
});

const ofVersion = () => p.manyToOne(AutomationVersion).mapToPk().deleteRule('no action');
/**
 * What became of the goal of the version that a run entered by; it stays when the run is removed, without the contact. `until`: how long it counts.
 * `checkAt`: when it is tested next, null once it is decided. `hadMet`: the contact had met it at entry, and is not counted. `branches`: those that
 * the run took at SPLIT steps, by their IDs.
 */
export const AutomationGoal = defineEntity({
  name: 'AutomationGoal',
  tableName: 'automation_goals',
  properties: {
    runId: p.uuid().primary(),
    versionId: p.manyToOne(AutomationVersion).mapToPk().deleteRule('cascade').updateRule('no action'),
    contactId: p.uuid().nullable(),
    enteredAt: p.datetime(3),
    until: p.datetime(3),
    checkAt: p.datetime(3).nullable(),
    metAt: p.datetime(3).nullable(),
    hadMet: p.boolean().default(false),
    branches: p.json<Record<string, string>>().nullable(),
  },
  indexes: [
    { name: 'automation_goals_entered', properties: ['versionId', 'enteredAt'] },
    { name: 'automation_goals_open', properties: ['contactId', 'versionId'], where: 'check_at IS NOT NULL' },
    { name: 'automation_goals_check', properties: ['checkAt'], where: 'check_at IS NOT NULL' },
  ],
});
export type AutomationGoal = InferEntity<typeof AutomationGoal>;

/** How a rollout stands: under way, at all new contacts, taken back by a person or by a limit, or over since another graph was published. */
export const rolloutStates = ['RUNNING', 'FINISHED', 'BACK', 'STOPPED', 'REPLACED'] as const;

/**
 * A version that a share of new contacts gets (`share`, in hundredths of a percent), while the others get the one that was published before.
 * `counts` is what both came to when it ended.
 */
export const AutomationRollout = defineEntity({
  name: 'AutomationRollout',
  tableName: 'automation_rollouts',
  properties: {
    ...baseColumns,
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    versionId: ofVersion(),
    beforeVersionId: ofVersion(),
    share: p.integer(),
    stopIf: p.json<RolloutBody['stopIf']>(),
    days: p.integer(),
    state: p.enum(rolloutStates).default('RUNNING'),
    stopped: p.json<NonNullable<RolloutBody['stopped']>>().nullable(),
    counts: p.json<VersionCounts[]>().nullable(),
    endedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'automation_rollouts_running', properties: ['automationId'], where: "state = 'RUNNING'" }],
  indexes: [
    {
      name: 'automation_rollouts_automation',
      columns: [{ name: 'automation_id' }, { name: 'created_at', sort: 'desc' }],
    },
  ],
});
export type AutomationRollout = InferEntity<typeof AutomationRollout>;

const whereActive = `status IN ${activeStatuses.sql}`;
const newestFirst = [
  { name: 'started_at', sort: 'desc' },
  { name: 'id', sort: 'desc' },
] as const;

/** One execution of an automation for a contact. For reads: runs are written by SQL, many at a time and under locks. */
export const AutomationRun = defineEntity({
  name: 'AutomationRun',
  tableName: 'automation_runs',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    automationId: p.manyToOne(Automation).mapToPk().deleteRule('cascade'),
    versionId: ofVersion(),
    nextVersionId: ofVersion().nullable(),
    contactId: p.uuid(),
    entry: p.integer(),
    status: p.enum(runStatuses).default('RUNNING'),
    currentStepId: p.uuid().nullable(),
    exitReason: p.text().nullable(),
    context: p.json<JsonObjectValue>().nullable(),
    seq: p.integer().default(0),
    dueAt: p.datetime(3).nullable(),
    sourceEventId: p.uuid().nullable(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    completedAt: p.datetime(3).nullable(),
    limitedBy: p.array().columnType('uuid[]').nullable(),
    sentBefore: p.integer().nullable().lazy(),
    exitEventId: p.uuid().nullable(),
  },
  uniques: [
    { properties: ['automationId', 'contactId', 'entry'] },
    { name: 'automation_runs_active', properties: ['automationId', 'contactId'], where: whereActive },
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
    { name: 'automation_runs_due', properties: ['dueAt'], where: whereActive },
    {
      name: 'automation_runs_ended',
      columns: [{ name: 'automation_id' }, { name: 'status' }, ...newestFirst],
      where: `NOT (${whereActive})`,
    },
    {
      name: 'automation_runs_inside',
      properties: ['automationId', 'currentStepId', 'id', 'status'],
      where: whereActive,
    },
    { name: 'automation_runs_list', columns: [{ name: 'automation_id' }, ...newestFirst] },
    { name: 'automation_runs_next_version', properties: ['nextVersionId'], where: 'next_version_id IS NOT NULL' },
    { name: 'automation_runs_project', columns: [{ name: 'project_id' }, ...newestFirst] },
    { name: 'automation_runs_version', properties: ['versionId'] },
    { name: 'automation_runs_walk', properties: ['automationId', 'id'], where: whereActive },
  ],
});
export type AutomationRun = InferEntity<typeof AutomationRun>;
