import { route } from '../../core/http/route.ts';
import { shippedLists } from './lists.ts';
import { VerifyBody, VerifyReply } from './schema.ts';
import { verifyAddress } from './service.ts';

/** Checks of addresses before they are written to. */
export const verificationRoutes = [
  route({
    method: 'POST',
    path: '/v1/verify',
    access: 'secret',
    summary: 'Verify an email address',
    description:
      'Checks in the DNS whether the domain accepts mail, and classifies the address. Nothing is sent to it.',
    tag: 'public API',
    body: VerifyBody,
    reply: VerifyReply,
    async handle({ app, body }) {
      const data = await verifyAddress(body.email, { resolver: app.resolver, lists: shippedLists() });
      return { success: true, data };
    },
  }),
];
