import * as v from 'valibot';
import { Instant, Uuid } from '../../lib/validation/fields.ts';
import { field, nameSchemas } from '../../lib/validation/names.ts';

/** A plan that waits for a member of the project. */
export const WaitingPlan = v.object({
  id: field('ID of the plan.', Uuid),
  action: field('What is planned, such as `launch_campaign`.', v.string()),
  sentence: field('What would happen, as a sentence. Values from the project’s data are quoted.', v.string()),
  affects: field('Number of contacts it reaches.', v.number()),
  samples: field('Addresses of some of these contacts.', v.array(v.string())),
  key: field('Name of the API key that made the plan; null when the key was deleted.', v.nullable(v.string())),
  expiresAt: field('When the plan expires unless it is approved.', Instant),
  createdAt: field('When the plan was made.', Instant),
});
export type WaitingPlan = v.InferOutput<typeof WaitingPlan>;

nameSchemas({ WaitingPlan });
