import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { Handled } from '../http/context.ts';
import { type Reply, type Route, reply, route } from '../http/route.ts';
import { mayNotify, receivePostmark } from './webhooks.ts';

const mostBytes = 50 * 1024 * 1024;

async function postmark({ app, db, params, body, header, log }: Handled<unknown, unknown, 'none'>): Promise<Reply> {
  const request = body as IncomingMessage;
  if (!mayNotify(app.config, header('authorization'), params.token ?? null)) {
    // Not 403: Postmark would stop repeating it for good, also when it is our setting that is wrong.
    request.resume();
    return reply(401, { success: false, message: 'Unauthorized' });
  }
  let text: string;
  try {
    text = await getRawBody(request, { limit: mostBytes, encoding: 'utf8' });
  } catch (error) {
    const tooLarge = (error as { type?: string }).type === 'entity.too.large';
    const message = tooLarge ? 'The body is larger than 50 MB' : 'The body could not be read';
    return reply(tooLarge ? 413 : 400, { success: false, message }, { Connection: 'close' });
  }
  const answer = await receivePostmark({ db, clock: app.clock, log }, text);
  return reply(answer.status, answer.body);
}

const shared = {
  method: 'POST',
  access: 'none',
  tag: 'webhooks',
  bodyKind: 'stream',
  exemptFromRateLimit: true,
  description:
    'Delivery, Bounce, SpamComplaint, Open, Click and SubscriptionChange records, one in each request. A record counts once however often it is sent. 503 asks Postmark to repeat it.',
  handle: postmark,
} as const;

/** Where mail providers report what became of mail. */
export const webhookRoutes: readonly Route[] = [
  route({ ...shared, path: '/webhooks/postmark', summary: 'Webhooks of Postmark, by HTTP Basic credentials' }),
  route({ ...shared, path: '/webhooks/postmark/:token', summary: 'Webhooks of Postmark, by a token in the path' }),
];
