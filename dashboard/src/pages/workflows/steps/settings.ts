import { inOrder, type Tree } from '../../../conditions/tree.ts';
import type { Workflow } from '../workflow.ts';

/** A test of an event's data, as the API has it. */
export interface EventTest {
  path: string;
  operator: string;
  value?: unknown;
}

/** What meets an exit or a goal, as the API has it. */
export type Cause = { event?: string; where?: EventTest[]; condition?: Tree; leavesSegment?: string };

/** What ends executions early, as the API has it. */
export interface Exit {
  id: string;
  on: Cause;
  reason: string;
}

/** What a workflow is for, as the API has it. */
export interface Goal {
  on: Cause;
  withinDays: number;
  then: 'count' | 'exit';
}

/** The name of an automation, its trigger, and whether contacts may enter again. */
export interface Settings {
  name: string;
  description: string;
  allowReentry: boolean;
  triggerType: Workflow['triggerType'];
  eventName: string;
  /** Only events whose data passes these tests start it; null for all. */
  where: EventTest[] | null;
  schedule: string;
  timezone: string;
  segmentId: string;
  /** Only contacts that match it enter; beside a segment, those of its contacts. */
  audienceCondition: Tree | null;
  /** Whether contacts that an import creates enter too. */
  imports: boolean;
  /** The date that starts it; empty texts are absent. */
  date: DateSettings;
  exits: Exit[];
  goal: Goal | null;
}

export interface DateSettings {
  field: string;
  offset: string;
  at: string;
  every: string;
  zone: string;
  fallback: string;
}

/** The settings of a saved automation. */
export function settingsOf(workflow: Workflow): Settings {
  const { name, description, allowReentry, triggerType, triggerConfig } = workflow;
  const text = (key: string) => (typeof triggerConfig?.[key] === 'string' ? triggerConfig[key] : '');
  return {
    name,
    description: description ?? '',
    allowReentry,
    triggerType,
    eventName: text('eventName'),
    where: (triggerConfig?.where as EventTest[] | undefined) ?? null,
    schedule: text('schedule'),
    timezone: text('timezone') || 'UTC',
    segmentId: text('segmentId'),
    // Settings that the service has stored are valid, or are named among the issues.
    audienceCondition: isTree(triggerConfig?.audienceCondition) ? inOrder(triggerConfig.audienceCondition) : null,
    imports: triggerConfig?.imports === true,
    date: {
      field: text('field') || 'data.',
      offset: text('offset'),
      at: text('at') || (triggerType === 'DATE' ? '' : '09:00'),
      every: text('every'),
      zone: text('zone') || 'contact',
      fallback: text('fallback'),
    },
    exits: workflow.exits as unknown as Exit[],
    goal: workflow.goal as unknown as Goal | null,
  };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && Array.isArray((value as { groups?: unknown }).groups);
}

/** The part of a change of the automation that says what starts it. */
export function triggerBody({
  triggerType,
  eventName,
  where,
  schedule,
  timezone,
  segmentId,
  audienceCondition,
  imports,
  date,
}: Settings) {
  if (triggerType === 'EVENT') return { triggerType, triggerConfig: { eventName, ...(where ? { where } : {}) } };
  if (triggerType === 'MANUAL') return { triggerType, triggerConfig: {} };
  if (triggerType === 'DATE')
    return { triggerType, triggerConfig: Object.fromEntries(Object.entries(date).filter(([, value]) => value !== '')) };
  const matching = audienceCondition ? { audienceCondition } : {};
  if (triggerType === 'CONTACT_CREATED')
    return { triggerType, triggerConfig: { ...matching, ...(imports && { imports }) } };
  const audience = { ...(segmentId ? { segmentId } : {}), ...matching };
  return { triggerType, triggerConfig: { schedule, timezone, ...audience } };
}
