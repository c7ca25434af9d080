import * as v from 'valibot';
import { EmailField } from '../lib/email-address.ts';
import { JsonObject, textField } from '../lib/validation.ts';

/** `POST /v1/track`. */
export const TrackBody = v.object({
  email: EmailField,
  event: textField('event', 1, 255),
  subscribed: v.optional(v.boolean()),
  data: v.nullish(JsonObject),
});
export type TrackBody = v.InferOutput<typeof TrackBody>;

/** The answer of `POST /v1/track`. */
export const TrackReply = v.object({
  success: v.literal(true),
  data: v.object({ contact: v.string(), event: v.string(), timestamp: v.string() }),
});
