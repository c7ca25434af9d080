import { type Command, workflowId, workflowScheduleId } from '../../../temporal/commands.ts';
import { AppError } from '../../lib/errors.ts';
import { cutText } from '../../lib/text.ts';
import { checkedDefinition, Segment } from '../../segments/definition.ts';
import type { Database } from '../../store/sql.ts';
import type { Automation } from '../entity.ts';
import type { Issue } from '../graph/schema.ts';
import { readStepConfig } from '../graph/step-configs.ts';
import { readDateTrigger } from '../graph/wait-until.ts';
import type { AutomationRow } from '../rows.ts';
import { calendarsOf, readSchedule } from './schedule.ts';

/** The name of the event in a trigger's config, or null. */
export function eventNameOf(config: unknown): string | null {
  const { eventName } = (config ?? {}) as { eventName?: unknown };
  return typeof eventName === 'string' && eventName !== '' && eventName.length <= 255 ? eventName : null;
}

/** Name and config of the TRIGGER step that goes with a trigger. */
export function triggerStep({ triggerType, triggerConfig }: Pick<AutomationRow, 'triggerType' | 'triggerConfig'>): {
  name: string;
  config: Record<string, unknown>;
} {
  const eventName = triggerType === 'EVENT' ? eventNameOf(triggerConfig) : null;
  const where = triggerConfig?.where ?? null;
  if (triggerType === 'DATE') {
    const { field, offset, at, every, zone, fallback } = triggerConfig ?? {};
    const given = Object.entries({ field, offset, at, every, zone, fallback });
    return { name: 'Trigger: date', config: Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
  }
  if (triggerType === 'CONTACT_CREATED') {
    const { audienceCondition, imports } = triggerConfig ?? {};
    const config = {
      ...(audienceCondition ? { audienceCondition } : {}),
      ...(imports === undefined ? {} : { imports }),
    };
    return { name: 'Trigger: contact created', config };
  }
  if (eventName !== null)
    return {
      name: cutText(`Trigger: ${eventName}`, 255),
      config: { eventName, ...(where === null ? {} : { where }) },
    };
  return { name: `Trigger: ${triggerType.toLowerCase()}`, config: {} };
}

type TriggerIssue = Pick<Issue, 'field' | 'message'>;

/** What keeps a trigger from being enabled; fields begin at the automation. */
export async function triggerIssues(
  db: Database,
  { projectId, triggerType, triggerConfig }: Pick<AutomationRow, 'projectId' | 'triggerType' | 'triggerConfig'>,
): Promise<TriggerIssue[]> {
  if (triggerType === 'MANUAL') return [];
  if (triggerType === 'EVENT') {
    if (eventNameOf(triggerConfig) === null)
      return [{ field: 'triggerConfig.eventName', message: 'is required for the trigger EVENT' }];
    return stepIssues({ triggerType, triggerConfig });
  }
  if (triggerType === 'CONTACT_CREATED') {
    const issues = stepIssues({ triggerType, triggerConfig });
    return issues.length > 0 ? issues : audienceIssues(db, projectId, triggerConfig?.audienceCondition);
  }
  if (triggerType === 'DATE') {
    const { problems } = readDateTrigger(triggerConfig);
    return (problems ?? []).map(({ field, message }) => ({ field: `triggerConfig.${field}`, message }));
  }
  const { schedule, problems } = readSchedule(triggerConfig);
  if (schedule === null)
    return problems.map(({ field, message }) => ({
      field: field === '' ? 'triggerConfig' : `triggerConfig.${field}`,
      message,
    }));
  const issues: TriggerIssue[] = [];
  if (schedule.segmentId && (await db.em.count(Segment, { projectId, id: schedule.segmentId })) === 0)
    issues.push({ field: 'triggerConfig.segmentId', message: 'is no segment of this project' });
  return [...issues, ...(await audienceIssues(db, projectId, schedule.audienceCondition))];
}

function stepIssues(trigger: Parameters<typeof triggerStep>[0]): TriggerIssue[] {
  const { problems } = readStepConfig('TRIGGER', triggerStep(trigger).config);
  return (problems ?? []).map(({ field, message }) => ({ field: `triggerConfig.${field}`, message }));
}

async function audienceIssues(db: Database, projectId: string, condition: unknown): Promise<TriggerIssue[]> {
  if (!condition) return [];
  try {
    await checkedDefinition(db, projectId, condition);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ field: 'triggerConfig.audienceCondition', message: error.message }];
  }
}

/** Returns the command that makes Temporal's schedule of an automation, brings it in line, or removes it. */
export function scheduleCommand(
  automation: Pick<Automation, 'id' | 'projectId' | 'name' | 'enabled' | 'triggerType' | 'triggerConfig'>,
  revision: number,
): Command {
  const id = workflowScheduleId(automation.id);
  const { schedule } = readSchedule(automation.triggerConfig);
  if (!automation.enabled || automation.triggerType !== 'SCHEDULE' || schedule === null)
    return { type: 'unschedule', id, revision };
  return {
    type: 'schedule',
    id,
    launch: {
      workflow: 'enrolScheduled',
      id: workflowId.enrol(automation.id),
      input: { automationId: automation.id },
      searchAttributes: { ProjectId: automation.projectId, AutomationId: automation.id, Kind: 'enrolment' },
      staticSummary: `Lets the audience of automation "${automation.name}" in`,
    },
    calendars: calendarsOf(schedule.schedule),
    timezone: schedule.timezone,
    revision,
  };
}
