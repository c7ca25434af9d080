import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { App, Handled } from '../http/context.ts';
import { type Reply, type Route, reply, route } from '../http/route.ts';
import { createReputationGuard, type ReputationGuard } from '../security/guard-service.ts';
import type { WebhookAnswer } from './report.ts';
import { receiveSns } from './sns-webhook.ts';
import { mayNotify, receivePostmark } from './webhooks.ts';

const megabyte = 1024 * 1024;
const mostOfPostmark = 50;
// Anybody may post here, and it takes the body to tell Amazon from others: as much as the largest message of SNS can be, with
// every character of it escaped.
const mostOfSns = 8;

type Call = Handled<unknown, unknown, 'none'>;

async function withText(
  body: unknown,
  mostMegabytes: number,
  take: (text: string) => Promise<WebhookAnswer>,
): Promise<Reply> {
  let text: string;
  try {
    text = await getRawBody(body as IncomingMessage, { limit: mostMegabytes * megabyte, encoding: 'utf8' });
  } catch (error) {
    const tooLarge = (error as { type?: string }).type === 'entity.too.large';
    const message = tooLarge ? `The body is larger than ${mostMegabytes} MB` : 'The body could not be read';
    return reply(tooLarge ? 413 : 400, { success: false, message }, { Connection: 'close' });
  }
  const answer = await take(text);
  return reply(answer.status, answer.body);
}

async function postmark({ app, db, params, body, header, log }: Call): Promise<Reply> {
  if (!mayNotify(app.config, header('authorization'), params.token ?? null)) {
    // Not 403: Postmark would stop repeating it for good, also when it is our setting that is wrong.
    (body as IncomingMessage).resume();
    return reply(401, { success: false, message: 'Unauthorized' });
  }
  return withText(body, mostOfPostmark, (text) =>
    receivePostmark({ db, clock: app.clock, billing: app.config, log, harmed: guardOf(app) }, text),
  );
}

function sns({ app, db, body, log }: Call): Promise<Reply> {
  const deps = {
    db,
    clock: app.clock,
    billing: app.config,
    log,
    harmed: guardOf(app),
    topics: app.config.SNS_TOPIC_ARNS,
    door: app.amazon,
  };
  return withText(body, mostOfSns, (text) => receiveSns(deps, text));
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
  method: 'POST',
  access: 'none',
  tag: 'webhooks',
  bodyKind: 'stream',
  exemptFromRateLimit: true,
} as const;
const ofPostmark = {
  ...shared,
  description:
    'Delivery, Bounce, SpamComplaint, Open, Click and SubscriptionChange records and received mail, one in each request. A record counts once however often it is sent. 503 asks Postmark to repeat it.',
  handle: postmark,
} as const;

/** Where mail providers report what became of mail. */
export const webhookRoutes: readonly Route[] = [
  route({ ...ofPostmark, path: '/webhooks/postmark', summary: 'Webhooks of Postmark, by HTTP Basic credentials' }),
  route({ ...ofPostmark, path: '/webhooks/postmark/:token', summary: 'Webhooks of Postmark, by a token in the path' }),
  route({
    ...shared,
    path: '/webhooks/sns',
    summary: 'Events and received mail of Amazon SES, by Amazon SNS',
    description:
      'Messages of the topics in SNS_TOPIC_ARNS, signed by Amazon (signature version 1 or 2). A message counts once by its id. Subscriptions are confirmed by themselves.',
    handle: sns,
  }),
];
