import { field, nameSchemas } from '@fernpost/openapi/names';
import { NullableInstant } from '@fernpost/validation';
import * as v from 'valibot';

/** A program that sends by SMTP, and what it did last. */
export const SmtpClientBody = v.object({
  ip: field('IP address it connects from.', v.string()),
  credential: field(
    'What it signs in with. `secret`: the secret key. `key`: a key with scopes. `unknown`: something that is not a key of the project.',
    v.picklist(['secret', 'key', 'unknown']),
  ),
  key: field(
    'Name of the key with scopes; null for other credentials, and when the key was deleted.',
    v.nullable(v.string()),
  ),
  lastAt: field('When it last connected, accurate to half a minute.', v.pipe(v.string(), v.isoTimestamp())),
  acceptedAt: field(
    'When its last message was accepted, accurate to half a minute; null if none was.',
    NullableInstant,
  ),
  refusedAt: field('When it was last refused; null if it was not.', NullableInstant),
  refusal: field(
    'The last refusal, code first, without email addresses; null if there was none.',
    v.nullable(v.string()),
  ),
});
export type SmtpClientBody = v.InferOutput<typeof SmtpClientBody>;

nameSchemas({ SmtpClient: SmtpClientBody });
