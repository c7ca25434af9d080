import Router, { type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { firstSnippet, framedHtml, framePolicy } from '../message/addresses.ts';
import { messageSource } from '../message/source.ts';
import { errorPage, listAddress, messageAddress, type Place } from '../pages/layout.ts';
import { inboundPage, inboxPage, type ListView } from '../pages/list.ts';
import { messagePage, type Scheme, type View } from '../pages/message-page.ts';
import { EventSchema, eventTypes, InboundSchema, issueText, type SubmittedMessage } from '../schema.ts';
import { type Entry, eventName } from '../store/entry.ts';
import { page, search } from '../store/search.ts';
import { forgetEverything, injectInbound } from './api-routes.ts';
import { type Parts, readForm } from './requests.ts';

const pageSize = 50;
const formLimit = 10 << 20;
const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";
// The script is our own files and nothing else, and no text can become markup or script, whatever the script does with it.
const mailPolicy = `${pagePolicy}; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;

/** The web inbox: pages that work without their script as well. */
export function inboxRoutes(parts: Parts): Router {
  const { store } = parts;
  const router = new Router();

  router.get('/', (ctx) => {
    show(
      ctx,
      inboxPage(listOf(ctx, parts), firstSnippet(parts.service.publicUrls, `${ctx.protocol}://${ctx.host}`)),
      mailPolicy,
    );
  });
  router.post('/inbox/read-all', (ctx) => {
    store.markRead(store.newest());
    seeOther(ctx, listAddress(placeOf(ctx, parts)));
  });
  router.post('/inbox/delete-all', (ctx) => {
    forgetEverything(parts);
    seeOther(ctx, '/?deleted=1');
  });
  messageRoutes(router, parts);
  inboundRoutes(router, parts);
  return router;
}

function messageRoutes(router: Router, parts: Parts): void {
  router.get('/inbox/:id', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    const view = viewOf(parameter(ctx, 'view'), found.message);
    const images = parameter(ctx, 'images') !== '';
    const scheme = schemeOf(parameter(ctx, 'scheme'));
    const notice = noticeOf(parameter(ctx, 'done'));
    if (ctx.method === 'GET') parts.store.markRead([found.entry]);
    const webhooks = parts.webhooks !== null;
    show(ctx, messagePage(listOf(ctx, parts), { ...found, view, images, scheme, notice, webhooks }), mailPolicy);
  });
  router.get('/inbox/:id/html', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    show(ctx, framedHtml(found.message), framePolicy(parameter(ctx, 'images') !== ''));
    ctx.set('X-Frame-Options', 'SAMEORIGIN');
    ctx.set('Referrer-Policy', 'no-referrer');
  });
  router.get('/inbox/:id/source.eml', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    ctx.attachment(`${found.entry.id}.eml`);
    ctx.type = 'message/rfc822';
    ctx.body = messageSource(found.entry, found.message);
  });
  router.get('/inbox/:id/attachments/:index', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    const attachment = found.message.Attachments?.[Number(ctx.params.index)];
    if (!attachment) return notFound(ctx);
    ctx.attachment(attachment.Name);
    ctx.set('Content-Type', servedType(attachment.ContentType));
    ctx.set('Content-Security-Policy', "sandbox; default-src 'none'");
    ctx.body = Buffer.from(attachment.Content, 'base64');
  });
  router.post('/inbox/:id/events', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    const input = v.safeParse(EventSchema, { type: (await readForm(ctx, formLimit)).get('type') });
    if (!input.success) return problem(ctx, 422, issueText(input.issues));
    const happened = await parts.outcomes.happen(found.entry, input.output.type);
    const done = happened ? `${input.output.type}${happened.attempt?.ok === false ? '-failed' : ''}` : 'no-link';
    seeOther(ctx, messageAddress(found.entry.id, placeOf(ctx, parts), { done }));
  });
}

function inboundRoutes(router: Router, parts: Parts): void {
  router.get('/inbound', (ctx) => {
    const values = { from: '', to: '', subject: '', text: '', html: '', spam: false };
    show(ctx, inboundPage({ values, notice: null }));
  });
  router.post('/inbound', async (ctx) => {
    const form = await readForm(ctx, formLimit);
    const text = (name: string) => form.get(name) ?? '';
    const values = {
      from: text('from'),
      to: text('to'),
      subject: text('subject'),
      text: text('text'),
      html: text('html'),
      spam: form.has('spam'),
    };
    const input = v.safeParse(InboundSchema, values);
    const result = input.success
      ? await injectInbound(parts, input.output)
      : { ok: false as const, problem: issueText(input.issues) };
    if (!result.ok) {
      ctx.status = 422;
      return show(ctx, inboundPage({ values, notice: { text: result.problem, bad: true } }), pagePolicy, 422);
    }
    const answer = result.attempt?.answer ?? 'No webhook address is set, so nothing was posted.';
    const notice = { text: `Received. Webhook: ${answer}`, bad: result.attempt?.ok !== true };
    show(ctx, inboundPage({ values, notice }));
  });
}

/** Answers with a page that says what went wrong. */
export function problem(ctx: Context, status: number, text: string): void {
  show(ctx, errorPage(status === 404 ? 'Not found' : 'That did not work', text), pagePolicy, status);
}

function show(ctx: Context, markup: string, policy = pagePolicy, status = 200): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', policy);
  ctx.body = markup;
}

function seeOther(ctx: Context, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = null;
  ctx.status = 303;
}

function notFound(ctx: Context): void {
  problem(ctx, 404, 'There is no such message, or it was deleted.');
}

async function messageOf(
  ctx: RouterContext,
  { store }: Parts,
): Promise<{ entry: Entry; message: SubmittedMessage } | null> {
  const entry = store.get(ctx.params.id ?? '');
  const message = entry && (await store.read(entry));
  if (entry && message) return { entry, message };
  notFound(ctx);
  return null;
}

function parameter(ctx: Context, name: string): string {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : '';
}

function placeOf(ctx: Context, { store }: Parts): Place {
  return { query: parameter(ctx, 'q').slice(0, 200), before: store.get(parameter(ctx, 'before'))?.id ?? '' };
}

function listOf(ctx: Context, parts: Parts): ListView {
  const { store } = parts;
  const place = placeOf(ctx, parts);
  return {
    ...page(search(store, { text: place.query }, store.get(place.before)), 0, pageSize),
    place,
    refresh: parameter(ctx, 'refresh') !== '',
    totals: store.totals(),
    unread: store.unread(),
    version: store.changes.version,
    deleted: parameter(ctx, 'deleted') !== '',
  };
}

// A script or style sheet that arrived in a mail would otherwise be one of our own origin.
function servedType(type: string): string {
  const isKnown = /^[\w.+-]+\/[\w.+-]+$/.test(type);
  return isKnown && !/script|css|json|wasm/i.test(type) ? type : 'application/octet-stream';
}

function viewOf(wanted: string, message: SubmittedMessage): View {
  if (wanted === 'source' || wanted === 'headers') return wanted;
  if (wanted === 'text' && message.TextBody) return 'text';
  return message.HtmlBody ? 'html' : 'text';
}

function schemeOf(wanted: string): Scheme {
  return wanted === 'light' || wanted === 'dark' ? wanted : 'system';
}

function noticeOf(done: string): { text: string; bad: boolean } | null {
  if (done === 'no-link') return { text: 'This message has no link to click.', bad: true };
  const failed = done.endsWith('-failed');
  const type = eventTypes.find((one) => one === (failed ? done.slice(0, -'-failed'.length) : done));
  if (!type) return null;
  const text = `${eventName(type)}: recorded${failed ? ', but the webhook failed so far.' : '.'}`;
  return { text, bad: failed };
}
