import { field, nameSchemas } from '@fernpost/openapi/names';
import { Instant } from '@fernpost/validation';
import * as v from 'valibot';
import type { Hold } from './breaker.ts';

/** The mail provider accepts no mail at the moment, so that mail waits. */
export const SendingHold = v.object({
  provider: field('Mail provider: `postmark`, `ses`, `smtp` or `sandbox`.', v.string()),
  reason: field('Response of the mail provider, or how the connection failed.', v.string()),
  since: field('When the provider stopped accepting mail.', Instant),
  until: field('When the next attempt is made.', Instant),
});
export type SendingHold = v.InferOutput<typeof SendingHold>;

/** A hold of a provider as responses show it. */
export function holdBody(provider: string, { reason, since, until }: Hold): SendingHold {
  return { provider, reason, since, until };
}

nameSchemas({ SendingHold });
