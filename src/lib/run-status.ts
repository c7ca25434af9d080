import { groupsOf } from './campaign-status.ts';

/**
 * The statuses of a run, which is one contact's way through an automation, and of its steps. They stand below all subjects because workflows
 * use them, and subjects below automations ask which runs are at work.
 */

/** Every status of a run. */
export const runStatuses = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The contact is in the automation: every other status is final. Partial indexes of `automation_runs` hold these runs only. */
export const activeStatuses = groupsOf<RunStatus>()('RUNNING', 'WAITING');

/** Every status of a step's execution. */
export const stepRunStatuses = [
  'PENDING',
  'SCHEDULED',
  'WAITING',
  'RUNNING',
  'COMPLETED',
  'SKIPPED',
  'FAILED',
] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];

/** The run is at the step: every other status is final. */
export const openStepStatuses = groupsOf<StepRunStatus>()('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');
