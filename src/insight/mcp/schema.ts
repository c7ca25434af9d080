import * as v from 'valibot';
import { nameSchemas } from '../../core/lib/named-schemas.ts';

/** A plan that waits for a member of the project. */
export const WaitingPlan = v.object({
  id: v.pipe(v.string(), v.uuid()),
  action: v.string(),
  /** What would happen; values of others stand in it quoted. */
  sentence: v.string(),
  affects: v.pipe(v.number(), v.description('How many contacts it reaches.')),
  samples: v.array(v.string()),
  key: v.pipe(v.nullable(v.string()), v.description('Name of the key that made it; null when it was deleted.')),
  expiresAt: v.pipe(v.string(), v.isoTimestamp()),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type WaitingPlan = v.InferOutput<typeof WaitingPlan>;

nameSchemas({ WaitingPlan });
