// What other parts of the service may use of automations; everything else in this folder is its own.
export {
  type Enrolment,
  type EnrolmentDeps,
  type EnrolmentPlace,
  enrolAudience,
  restoreSchedules,
} from './enrollment/audience.ts';
export { type MigrationDeps, type MigrationShare, moveContacts } from './migrating/job.ts';
export { cancelMigrationRow } from './migrating/queries.ts';
export { recoverableMigrations } from './migrating/service.ts';
export { upcomingMails } from './runs/upcoming.ts';
export { type AdvanceDeps, advance } from './runtime/advance.ts';
export type { Directive, StepAt } from './runtime/directive.ts';
export { cancelByOperator } from './runtime/operator.ts';
export { createOrphanCheck, recoverableRuns, recoverableWaits } from './runtime/recovery.ts';
export { callWebhook, type WebhookStepDeps } from './runtime/webhook-step.ts';
export { removeUnusedVersions } from './versions/versions.ts';
