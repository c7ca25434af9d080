import { nameSchemas } from '@fernpost/openapi/names';
import { coded, isEmail } from '@fernpost/validation';
import * as v from 'valibot';

/** The body of `POST /v1/verify`. The address is kept as sent, because the answer repeats it. */
export const VerifyBody = v.object({
  email: v.pipe(v.string(), coded('invalid_string', isEmail, 'must be an email address')),
});

/** What is known about an address (contract page 1, 2.10). */
const AddressVerification = v.object({
  email: v.string(),
  valid: v.boolean(),
  isDisposable: v.boolean(),
  isAlias: v.boolean(),
  isTypo: v.boolean(),
  isPlusAddressed: v.boolean(),
  isPersonalEmail: v.boolean(),
  domainExists: v.boolean(),
  hasWebsite: v.boolean(),
  hasMxRecords: v.boolean(),
  /** Only when `isTypo`. */
  suggestedEmail: v.optional(v.string()),
  reasons: v.array(v.string()),
});

/** The answer of `POST /v1/verify`. */
export const VerifyReply = v.object({ success: v.literal(true), data: AddressVerification });

nameSchemas({ AddressVerification });
