import type { IncomingMessage } from 'node:http';
import { discard } from '../../http/bodies/reader.ts';
import { RouteBody } from '../../http/body.ts';
import type { App, Handled } from '../../http/context.ts';
import { orEnvelope } from '../../http/error-schemas.ts';
import { type Reply, type Route, reply, route } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { createReputationGuard, type ReputationGuard } from '../reputation/service.ts';
import { type NotificationAnswer, type NotificationDeps, webhookReplySchema } from './report.ts';
import { mayNotify, receivePostmark, receiveSns } from './webhooks.ts';

type Call = Handled<unknown, unknown, 'none'>;

async function withText(
  { body, ip }: Call,
  limit: 'postmarkWebhook' | 'snsWebhook',
  take: (text: string) => Promise<NotificationAnswer>,
): Promise<Reply> {
  const reader = new RouteBody();
  try {
    const owner = limit === 'snsWebhook' ? { kind: 'open' as const, id: ip } : { kind: 'keyed' as const, id: limit };
    const answer = await take(await reader.text(body as IncomingMessage, limit, owner));
    return reply(answer.status, answer.body);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return reply(error.status, { success: false, message: error.message }, error.extra.headers ?? {});
  } finally {
    reader.release();
  }
}

/** The token is that of the path, null where the request brings Basic credentials. */
async function postmark(call: Call, token: string | null): Promise<Reply> {
  const { app, body, header } = call;
  if (!mayNotify(app.config, header('authorization'), token)) {
    // Not 403: Postmark would stop repeating it for good, also when it is our setting that is wrong.
    discard(body as IncomingMessage);
    return reply(401, { success: false, message: 'Unauthorized' });
  }
  return withText(call, 'postmarkWebhook', (text) => receivePostmark(depsOf(call), text));
}

function sns(call: Call): Promise<Reply> {
  const { app } = call;
  const deps = { ...depsOf(call), topics: app.config.SNS_TOPIC_ARNS, client: app.sns };
  return withText(call, 'snsWebhook', (text) => receiveSns(deps, text));
}

function depsOf({ app, db, log }: Call): NotificationDeps {
  const { clock, config, erasedAddresses } = app;
  return { db, clock, billing: config, erasedAddresses, log, harmed: guardOf(app) };
}

const guards = new WeakMap<App, ReputationGuard>();

function guardOf(app: App): ReputationGuard {
  const { db, clock, outbox, config, log, directory } = app;
  const guard =
    guards.get(app) ??
    createReputationGuard({ db, clock, outbox, settings: config, log }, (projectId) => directory.forget(projectId));
  guards.set(app, guard);
  return guard;
}

const shared = {
  access: 'none',
  tag: 'webhooks',
  bodyKind: 'stream',
  reply: webhookReplySchema,
  errorReply: orEnvelope(webhookReplySchema),
  exemptFromRateLimit: true,
} as const;
const ofPostmark = {
  ...shared,
  description:
    'Delivery, Bounce, SpamComplaint, Open, Click and SubscriptionChange records and received mail, one in each request. A record counts once however often it is sent. 503 asks Postmark to retry.',
} as const;

/** Where mail providers report what became of mail. */
export const webhookRoutes: readonly Route[] = [
  route.post('/webhooks/postmark', {
    ...ofPostmark,
    refusals: [400, 401, 503],
    summary: 'Receive webhooks of Postmark, with HTTP Basic credentials',
    operationId: 'receivePostmarkWebhook',
    returns:
      'The record is accepted; `message` says what was done with it, and `duplicate` is true if it was accepted before.',
    handle: (call) => postmark(call, null),
  }),
  route.post('/webhooks/postmark/:token', {
    pathTexts: { token: 'Token of the webhook address, as it was set up at Postmark.' },
    ...ofPostmark,
    refusals: [401],
    summary: 'Receive webhooks of Postmark, with a token in the path',
    operationId: 'receivePostmarkWebhookByToken',
    returns: 'The record is accepted, as by `POST /webhooks/postmark`.',
    handle: (call) => postmark(call, call.params.token),
  }),
  route.post('/webhooks/sns', {
    ...shared,
    refusals: [400, 403, 413, 502, 503],
    summary: 'Receive events and mail of Amazon SES through Amazon SNS',
    operationId: 'receiveSnsWebhook',
    description:
      'Messages of the topics in SNS_TOPIC_ARNS, signed by Amazon (signature version 1 or 2). A message counts once, by its ID. Subscriptions are confirmed automatically.',
    returns: 'The notification is accepted; `message` says what was done with it.',
    handle: sns,
  }),
];
