import { once } from 'node:events';
import Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { FaultSchema, type Followed, follow, isOwn, linkOf, oneClickOf } from '../behavior/faults.ts';
import { inboundPayload } from '../behavior/inbound.ts';
import type { Happened } from '../behavior/outcomes.ts';
import type { Attempt } from '../behavior/webhooks.ts';
import { ClickSchema, EventSchema, InboundSchema, issueText, type SubmittedMessage } from '../schema.ts';
import { type Entry, type MailEvent, statusOf } from '../store/entry.ts';
import { type Filter, page, search } from '../store/search.ts';
import { type Parts, readJson } from './requests.ts';

const bodyLimit = 1 << 20;
const inboundLimit = 10 << 20;
const maxLimit = 1_000;
const longestWaitSeconds = 60;

/**
 * The sandbox's own JSON API, for tests and scripts; it needs no token.
 *
 * - `GET /api/messages?to=&subject=&since=&limit=&before=&bodies=&wait=`: newest first; `to` and `subject` match parts,
 *   `since` is an instant, `limit` is at most 1,000 (default 50), `before` is the id of the last message of the page before,
 *   `bodies=1` adds HTML and text, `wait=5s` answers as soon as a message matches, or with none after that time.
 * - `GET /api/messages/{id}`: everything about one message, with bodies and attachments.
 * - `DELETE /api/messages?recipient=`: deletes the messages to exactly this address, from the log too, and says how many.
 * - `DELETE /api/messages`: forgets all messages, planned events, and how often `ratelimit@…` and the like have failed.
 * - `POST /api/messages/{id}/events`: lets something happen (`EventSchema`) and waits for the webhook's first attempt.
 * - `POST /api/messages/{id}/click`: reports a click (`ClickSchema`), and opens the link if it leads to the service.
 * - `POST /api/messages/{id}/unsubscribe`: posts to the message's one-click address (RFC 8058) at the service.
 * - `POST /api/inbound`: posts a received mail (`InboundSchema`) to the webhook.
 * - `GET /api/stats?metadata=<key>`: counts; with a key also how many values it has and which ones occur repeatedly.
 * - `/api/faults`: see `FaultSchema`.
 */
export function apiRoutes(parts: Parts): Router {
  const router = new Router({ prefix: '/api' });
  addMessages(router, parts);
  addDeeds(router, parts);
  addTraffic(router, parts);
  addFaults(router, parts);
  return router;
}

function addMessages(router: Router, parts: Parts): void {
  const { store } = parts;
  router.get('/messages', async (ctx) => {
    const query = new URLSearchParams(ctx.querystring);
    const found = await awaitMessages(query, parts, ctx);
    if (typeof found === 'string') return badInput(ctx, found);
    const messages: Record<string, unknown>[] = [];
    for (const entry of found.entries) {
      const message = query.has('bodies') ? await store.read(entry) : null;
      messages.push({ ...messageJson(entry), ...(message ? bodiesJson(message) : {}) });
    }
    ctx.body = { total: found.total, messages };
  });
  router.delete('/messages', (ctx) => {
    const { recipient } = ctx.query;
    if (typeof recipient === 'string') {
      ctx.body = { success: true, deleted: store.deleteTo(recipient.toLowerCase()) };
      return;
    }
    forgetEverything(parts);
    ctx.body = { success: true };
  });
  router.get('/messages/:id', async (ctx) => {
    const entry = store.get(ctx.params.id ?? '');
    const message = entry && (await store.read(entry));
    if (!entry || !message) return notFound(ctx);
    ctx.body = {
      ...messageJson(entry),
      replyTo: message.ReplyTo ?? '',
      ...bodiesJson(message),
      headers: (message.Headers ?? []).map(({ Name, Value }) => ({ name: Name, value: Value })),
      attachments: (message.Attachments ?? []).map(({ Name, ContentType, ContentID, Content }) => ({
        name: Name,
        contentType: ContentType,
        contentId: ContentID ?? '',
        content: Content,
      })),
    };
  });
}

/** Adds the routes that do what recipients do with a message. */
function addDeeds(router: Router, parts: Parts): void {
  const { store } = parts;
  router.post('/messages/:id/events', async (ctx) => {
    const entry = store.get(ctx.params.id ?? '');
    if (!entry) return notFound(ctx);
    const input = await inputOf(ctx, EventSchema, bodyLimit);
    if (!input) return;
    const { type, ...details } = input;
    const happened = await parts.outcomes.happen(entry, type, details);
    if (!happened) return badInput(ctx, 'type: the message has no link to click');
    ctx.body = happenedJson(happened);
  });
  router.post('/messages/:id/click', async (ctx) => {
    const entry = store.get(ctx.params.id ?? '');
    const message = entry && (await store.read(entry));
    if (!entry || !message) return notFound(ctx);
    const input = await inputOf(ctx, ClickSchema, bodyLimit);
    if (!input) return;
    const link = linkOf(message, input.link);
    if (!link) return badInput(ctx, 'link: the message has no such link');
    const details = { link, ...(input.recipient === undefined ? {} : { recipient: input.recipient }) };
    const happened = await parts.outcomes.happen(entry, 'click', details);
    const answer = isOwn(parts.service, link) ? await followed(ctx, parts, link, 'GET') : null;
    if (answer !== undefined) ctx.body = { link, webhook: attemptJson(happened?.attempt ?? null), answer };
  });
  router.post('/messages/:id/unsubscribe', async (ctx) => {
    const entry = store.get(ctx.params.id ?? '');
    const message = entry && (await store.read(entry));
    if (!message) return notFound(ctx);
    const link = oneClickOf(message);
    if (!link) return badInput(ctx, 'The message offers no one-click unsubscribe.');
    if (!isOwn(parts.service, link))
      return badInput(ctx, `${new URL(link).origin} is not the service of this sandbox.`);
    const answer = await followed(ctx, parts, link, 'POST');
    if (answer) ctx.body = { link, answer };
  });
}

function addTraffic(router: Router, parts: Parts): void {
  const { store } = parts;
  router.post('/inbound', async (ctx) => {
    const input = await inputOf(ctx, InboundSchema, inboundLimit);
    if (!input) return;
    const result = await injectInbound(parts, input);
    if (!result.ok) return badInput(ctx, result.problem);
    ctx.body = { messageId: result.id, webhook: attemptJson(result.attempt) };
  });
  router.get('/stats', (ctx) => {
    const key = ctx.query.metadata;
    ctx.body = {
      ...store.totals(),
      calls: parts.calls.count,
      webhooks: parts.webhooks?.totals() ?? null,
      ...(typeof key === 'string' && key !== '' ? { metadata: countMetadata(parts, key) } : {}),
    };
  });
}

function addFaults(router: Router, { faults }: Parts): void {
  router.get('/faults', (ctx) => {
    ctx.body = { faults: faults.list() };
  });
  router.post('/faults', async (ctx) => {
    const fault = await inputOf(ctx, FaultSchema, bodyLimit);
    if (!fault) return;
    faults.add(fault);
    ctx.status = 201;
    ctx.body = { faults: faults.list() };
  });
  router.delete('/faults', (ctx) => {
    faults.clear();
    ctx.body = { success: true };
  });
}

/** Deletes all messages and what was planned for them. */
export function forgetEverything({ store, outcomes, outages }: Parts): void {
  outcomes.clear();
  outages.reset();
  store.clear();
}

/** Posts a received mail to the webhook and waits for the first attempt; null without a webhook. */
export async function injectInbound(
  { webhooks }: Parts,
  mail: v.InferOutput<typeof InboundSchema>,
): Promise<{ ok: true; id: string; attempt: Attempt | null } | { ok: false; problem: string }> {
  const inbound = inboundPayload(mail);
  if (!inbound.ok) return inbound;
  if (!webhooks) return { ok: true, id: inbound.id, attempt: null };
  const attempt = await new Promise<Attempt>((attempted) => {
    webhooks.post({ key: 0, body: () => inbound.payload, attempted });
  });
  return { ok: true, id: inbound.id, attempt };
}

/** The link's answer; undefined after a 502, when the service did not answer. */
async function followed(
  ctx: Context,
  parts: Parts,
  link: string,
  method: 'GET' | 'POST',
): Promise<Followed | undefined> {
  try {
    return await follow(parts.service, link, method);
  } catch (error) {
    ctx.status = 502;
    ctx.body = { error: `The service did not answer: ${error instanceof Error ? error.message : 'failed'}` };
    return undefined;
  }
}

/** The messages that match, at the latest when `wait` is over; stops when the caller leaves or the sandbox closes. */
async function awaitMessages(
  query: URLSearchParams,
  parts: Parts,
  ctx: Context,
): Promise<ReturnType<typeof listMessages>> {
  const wait = query.get('wait');
  if (wait === null) return listMessages(query, parts);
  const seconds = Number(/^(\d{1,3})s?$/.exec(wait)?.[1]);
  if (!(seconds <= longestWaitSeconds)) return `wait: must be between 0s and ${longestWaitSeconds}s`;
  const left = new AbortController();
  ctx.res.once('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, parts.closing, AbortSignal.timeout(seconds * 1_000)]);
  for (;;) {
    const found = listMessages(query, parts);
    if (typeof found === 'string' || found.total > 0 || signal.aborted) return found;
    await once(parts.store.additions, 'added', { signal }).catch(() => undefined);
  }
}

/** One page of messages, or what is wrong with its parameters. */
function listMessages(query: URLSearchParams, { store }: Parts): { total: number; entries: Entry[] } | string {
  const limit = Number(query.get('limit') || 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) return `limit: must be between 1 and ${maxLimit}`;
  const last = query.get('before');
  const before = last ? store.get(last) : undefined;
  if (last && !before) return 'before: no such message';
  const since = query.get('since');
  const fromDate = since ? Date.parse(since) : undefined;
  if (Number.isNaN(fromDate)) return 'since: must be an instant, such as 2026-03-01T12:00:00Z';
  const filter: Filter = {
    to: query.get('to') ?? '',
    subject: query.get('subject') ?? '',
    ...(fromDate === undefined ? {} : { fromDate }),
  };
  return page(search(store, filter, before), 0, limit);
}

function bodiesJson(message: SubmittedMessage): Record<string, unknown> {
  return { html: message.HtmlBody ?? '', text: message.TextBody ?? '' };
}

function messageJson(entry: Entry): Record<string, unknown> {
  return {
    id: entry.id,
    at: new Date(entry.at).toISOString(),
    status: statusOf(entry),
    from: entry.from,
    to: entry.to,
    cc: entry.cc,
    bcc: entry.bcc,
    subject: entry.subject,
    tag: entry.tag,
    stream: entry.stream,
    metadata: entry.metadata,
    events: entry.events.map(eventJson),
  };
}

function eventJson({ type, recipient, at, id, link, webhook }: MailEvent): Record<string, unknown> {
  return { type, recipient, at: new Date(at).toISOString(), bounceId: id, link, webhook };
}

function happenedJson({ event, attempt }: Happened): Record<string, unknown> {
  return { event: eventJson(event), webhook: attemptJson(attempt) };
}

function attemptJson(attempt: Attempt | null): Record<string, unknown> | null {
  return attempt && { delivered: attempt.ok, answer: attempt.answer };
}

function countMetadata({ store }: Parts, key: string): Record<string, unknown> {
  let messages = 0;
  let distinct = 0;
  const repeated: { value: string; count: number }[] = [];
  for (const [value, count] of store.metadataCounts(key.toLowerCase())) {
    messages += count;
    distinct += 1;
    if (count > 1 && repeated.length < 100) repeated.push({ value, count });
  }
  return { key, messages, distinct, repeated };
}

async function inputOf<Schema extends v.GenericSchema>(
  ctx: Context,
  schema: Schema,
  limit: number,
): Promise<v.InferOutput<Schema> | null> {
  const parsed = v.safeParse(schema, await readJson(ctx, limit));
  if (parsed.success) return parsed.output;
  badInput(ctx, issueText(parsed.issues));
  return null;
}

function badInput(ctx: Context, error: string): void {
  ctx.status = 422;
  ctx.body = { error };
}

function notFound(ctx: Context): void {
  ctx.status = 404;
  ctx.body = { error: 'No such message.' };
}
