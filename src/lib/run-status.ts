import { statusGroup } from './campaign-status.ts';

/**
 * The statuses of a run, which is one contact's way through an automation, and of its steps. They stand below all subjects because workflows
 * use them, and subjects below automations ask which runs are at work.
 */

/** The contact is in the automation: every other status is final. Partial indexes of `automation_runs` hold these runs only. */
export const activeStatuses = statusGroup('RUNNING', 'WAITING');

/** Every status of a run. */
export const runStatuses = [...activeStatuses.all, 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The run is at the step: every other status is final. */
export const openStepStatuses = statusGroup('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');

/** Every status of a step's execution. */
export const stepRunStatuses = [...openStepStatuses.all, 'COMPLETED', 'SKIPPED', 'FAILED'] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];
