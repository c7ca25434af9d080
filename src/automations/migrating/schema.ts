import { nameSchemas } from '@fernpost/openapi/names';
import { choice, GivenUuid, Instant, textField } from '@fernpost/validation';
import * as v from 'valibot';
import { stepTypes } from '../graph/step-configs.ts';
import { migrationStates } from './queries.ts';
import { moveActions } from './rules.ts';

const Action = choice(moveActions);
/** A rule for each step of the old versions, and one for all others; `toStepId` says how a step of the new one is named. */
function rulesTo(toStepId: v.GenericSchema<string>) {
  const rule = { action: Action, toStepId: v.nullish(toStepId), reason: v.nullish(textField('reason', 1, 200)) };
  return {
    plan: v.optional(
      v.pipe(
        v.array(v.object({ stepId: GivenUuid, ...rule }), 'must be a list of rules'),
        v.maxLength(1000, 'must have at most 1000 rules'),
      ),
      [],
    ),
    otherwise: v.optional(v.object(rule), { action: 'finish' }),
  };
}

/** The plan of a move to a graph that comes with the same request, whose new steps have no ids yet. */
export const MoveWithGraph = v.object(rulesTo(v.pipe(textField('toStepId', 1, 100), v.toLowerCase())));

/** `POST /workflows/{id}/migrate`. */
export const MigratePlan = v.object({ dryRun: v.optional(v.boolean(), false), ...rulesTo(GivenUuid) });
export type MigratePlan = v.InferOutput<typeof MigratePlan>;

/** What a plan would do. */
export const MigrationPreview = v.object({
  dryRun: v.literal(true),
  /** Number of the version that contacts would be migrated to. */
  toVersion: v.number(),
  /** Contacts that are inside and pinned to other versions. */
  people: v.number(),
  rules: v.array(
    v.object({
      stepId: v.nullable(v.string()),
      stepName: v.nullable(v.string()),
      stepType: v.nullable(v.picklist(stepTypes)),
      action: Action,
      toStepId: v.nullable(v.string()),
      people: v.number(),
    }),
  ),
});
export type MigrationPreview = v.InferOutput<typeof MigrationPreview>;

/** A migration in an answer. */
export const MigrationBody = v.object({
  id: v.string(),
  workflowId: v.string(),
  state: v.picklist(migrationStates),
  toVersion: v.number(),
  /** Percentage of the contacts that were expected when it began; 100 when it is completed. */
  progress: v.number(),
  expected: v.number(),
  finished: v.number(),
  movedAtNextStep: v.number(),
  movedNow: v.number(),
  exited: v.number(),
  /** Contacts that their rule could not reach; they stay with their version. */
  passedOver: v.number(),
  failedReason: v.nullable(v.string()),
  createdAt: Instant,
  updatedAt: Instant,
  completedAt: v.nullable(Instant),
});
export type MigrationBody = v.InferOutput<typeof MigrationBody>;

nameSchemas({ WorkflowMigration: MigrationBody, WorkflowMigrationPreview: MigrationPreview });
