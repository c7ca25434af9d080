import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { isEmail } from '../../lib/validation/email-address.ts';
import { coded, field, nameSchemas } from '../../lib/validation/fields.ts';
import { verifyAddress } from './addresses/verify.ts';

/** The body of `POST /v1/verify`. The address is kept as sent, because the answer repeats it. */
const VerifyBody = v.object({
  email: field(
    'Email address to verify.',
    v.pipe(v.string(), coded('invalid_string', isEmail, 'must be an email address')),
  ),
});

/** The facts about an address (docs/contract/core.md#2-10). */
const AddressVerification = v.object({
  email: field('The address as it was sent.', v.string()),
  valid: field('Whether the address can receive mail, as far as can be known.', v.boolean()),
  isDisposable: field('Whether the address is from a provider of disposable addresses.', v.boolean()),
  isAlias: field('Whether the domain is an alias of a known mail provider.', v.boolean()),
  isTypo: field('Whether the domain looks like a misspelled mail provider.', v.boolean()),
  isPlusAddressed: field('Whether the part before the `@` contains a `+` tag.', v.boolean()),
  isPersonalEmail: field('Whether the address is from a provider for private mailboxes.', v.boolean()),
  domainExists: field('Whether the domain exists.', v.boolean()),
  hasWebsite: field('Whether the domain has a website.', v.boolean()),
  hasMxRecords: field('Whether the domain accepts mail.', v.boolean()),
  suggestedEmail: field('The address that was probably meant; only when `isTypo` is true.', v.optional(v.string())),
  reasons: field('Reasons for the result, as sentences for people.', v.array(v.string())),
});

/** The answer of `POST /v1/verify`. */
const VerifyReply = v.object({
  success: field('Always true.', v.literal(true)),
  data: field('The result of the verification.', AddressVerification),
});

nameSchemas({ AddressVerification });

/** Checks of addresses before they are written to. */
export const verificationRoutes = [
  route.post('/v1/verify', {
    scope: 'emails:send',
    access: 'secret',
    summary: 'Verify an email address',
    operationId: 'verifyAddress',
    description:
      'Checks in the DNS whether the domain accepts mail, and classifies the address. Nothing is sent to it.',
    tag: 'verification',
    body: VerifyBody,
    example: { email: 'ada@gmial.com' },
    returns: 'The facts about the address: `valid` is the result, and `reasons` explain it.',
    reply: VerifyReply,
    handle: async ({ app, body }) => ({ success: true, data: await verifyAddress(body.email, app) }),
  }),
];
