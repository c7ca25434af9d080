import { nameSchemas } from '@fernpost/openapi/names';
import { Instant } from '@fernpost/validation';
import * as v from 'valibot';
import type { Hold } from './breaker.ts';

/** The mail provider accepts no mail at the moment, so that mail waits. */
export const SendingHold = v.object({
  provider: v.pipe(v.string(), v.description('The provider: `postmark`, `ses`, `smtp` or `sandbox`.')),
  reason: v.pipe(v.string(), v.description('What the provider said, or how calling it failed.')),
  since: v.pipe(Instant, v.description('When it stopped accepting mail.')),
  until: v.pipe(Instant, v.description('When it is tried again.')),
});
export type SendingHold = v.InferOutput<typeof SendingHold>;

/** A hold of a provider as responses show it. */
export function holdBody(provider: string, { reason, since, until }: Hold): SendingHold {
  return { provider, reason, since, until };
}

nameSchemas({ SendingHold });
