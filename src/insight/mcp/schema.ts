import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, Uuid } from '@fernpost/validation';
import * as v from 'valibot';

/** A plan that waits for a member of the project. */
export const WaitingPlan = v.object({
  id: Uuid,
  action: v.string(),
  /** What would happen; values of others stand in it quoted. */
  sentence: v.string(),
  affects: v.pipe(v.number(), v.description('How many contacts it reaches.')),
  samples: v.array(v.string()),
  key: v.pipe(v.nullable(v.string()), v.description('Name of the key that made it; null when it was deleted.')),
  expiresAt: Instant,
  createdAt: Instant,
});
export type WaitingPlan = v.InferOutput<typeof WaitingPlan>;

nameSchemas({ WaitingPlan });
