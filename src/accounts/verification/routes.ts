import { route } from '../../http/route.ts';
import { verifyAddress } from './addresses/verify.ts';
import { VerifyBody, VerifyReply } from './schema.ts';

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
    reply: VerifyReply,
    handle: async ({ app, body }) => ({ success: true, data: await verifyAddress(body.email, app) }),
  }),
];
