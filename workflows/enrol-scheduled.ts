import * as wf from '@temporalio/workflow';
import type { EnrolmentActivities } from '../activities/enrolment.ts';
import type { Enrolment } from '../src/automations/index.ts';
import { scheduledStartTime } from '../temporal/commands.ts';

const { enrolScheduledAudience } = wf.proxyActivities<EnrolmentActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Lets the audience of an automation in, at one time of its schedule. Started by Temporal; the time is the one that was
 * scheduled, so that a start which is late, or made up for, is still the start of that time.
 */
export async function enrolScheduled({ automationId }: { automationId: string }): Promise<Enrolment> {
  const { typedSearchAttributes, startTime } = wf.workflowInfo();
  const fireTime = (typedSearchAttributes.get(scheduledStartTime) ?? startTime).toISOString();
  const enrolment = await enrolScheduledAudience(automationId, fireTime);
  wf.setCurrentDetails(`${enrolment.enrolled} contacts arrive for ${fireTime}`);
  return enrolment;
}
