import { nameSchemas } from '@fernpost/openapi/names';
import { NullableInstant } from '@fernpost/validation';
import * as v from 'valibot';

/** A program that sends by SMTP, and what it did last. */
export const SmtpClientBody = v.object({
  ip: v.pipe(v.string(), v.description('Where it connects from.')),
  credential: v.pipe(
    v.picklist(['secret', 'key', 'unknown']),
    v.description(
      '`secret`: the secret key. `key`: a key with scopes. `unknown`: it signs in with something that is not a key of the project.',
    ),
  ),
  key: v.pipe(v.nullable(v.string()), v.description('Name of the key with scopes; null when it was deleted.')),
  lastAt: v.pipe(v.string(), v.isoTimestamp(), v.description('When it was last seen, to half a minute.')),
  acceptedAt: v.pipe(NullableInstant, v.description('When its last message was accepted, to half a minute.')),
  refusedAt: v.pipe(NullableInstant, v.description('When it was last refused.')),
  refusal: v.pipe(v.nullable(v.string()), v.description('The last refusal, code first, without addresses.')),
});
export type SmtpClientBody = v.InferOutput<typeof SmtpClientBody>;

nameSchemas({ SmtpClient: SmtpClientBody });
