import Router, { type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { Fault, Faults } from '../behavior/faults.ts';
import { messageEvent } from '../behavior/payloads.ts';
import { messageSource } from '../message/source.ts';
import type { SubmittedMessage } from '../schema.ts';
import type { Entry } from '../store/entry.ts';
import { type Filter, page, search } from '../store/search.ts';
import type { Parts } from './requests.ts';
import { lacksServerToken, postmarkError } from './sending-routes.ts';

const maxCount = 500;
// Postmark: count and offset together cannot go further than this.
const maxReach = 10_000;

/**
 * Postmark's message search: `GET /messages/outbound`, with `/{id}/details` and `/{id}/dump` (postmarkapp.com/developer/
 * api/messages-api). Parameter names are taken in any letter case; dates without a zone are UTC.
 */
export function lookupRoutes(parts: Parts): Router {
  const router = new Router({ prefix: '/messages/outbound' });
  router.get('/', (ctx) => {
    if (lacksServerToken(ctx) || disturbed(ctx, parts.faults)) return;
    const found = list(new URLSearchParams(ctx.querystring), parts);
    if (typeof found === 'string') return postmarkError(ctx, 422, 700, found);
    ctx.body = found;
  });
  router.get('/:id/details', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (!found) return;
    const { entry, message } = found;
    ctx.body = {
      TextBody: message.TextBody ?? '',
      HtmlBody: message.HtmlBody ?? '',
      Body: messageSource(entry, message),
      ...summary(entry),
      MessageEvents: entry.events.map(messageEvent),
    };
  });
  router.get('/:id/dump', async (ctx) => {
    const found = await messageOf(ctx, parts);
    if (found) ctx.body = { Body: messageSource(found.entry, found.message) };
  });
  return router;
}

/** Applies a fault to a call that sends nothing; only `status` and cutting the connection make sense there. */
function disturbed(ctx: Context, faults: Faults): boolean {
  const fault: Fault | null = faults.take(ctx.path);
  if (!fault) return false;
  if (fault.kind === 'status') {
    if (fault.retryAfter !== undefined) ctx.set('Retry-After', String(fault.retryAfter));
    postmarkError(ctx, fault.status, fault.errorCode ?? 0, fault.message ?? 'Injected fault.');
  } else {
    ctx.respond = false;
    ctx.req.socket.destroy();
  }
  return true;
}

/** One page of the search, or what is wrong with its parameters. */
function list(parameters: URLSearchParams, { store, searchable }: Parts): Record<string, unknown> | string {
  const query = new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]));
  const count = Number(query.get('count') ?? Number.NaN);
  const offset = Number(query.get('offset') ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1 || count > maxCount) {
    return `'count' is required and must be between 1 and ${maxCount}.`;
  }
  if (!Number.isInteger(offset) || offset < 0 || count + offset > maxReach) {
    return `'offset' is required; with 'count' it must not exceed ${maxReach}.`;
  }
  const filter = filterOf(query);
  if (typeof filter === 'string') return filter;
  // Everything here is sent at once, so that no message is queued or still being processed.
  const none = query.has('status') && query.get('status')?.toLowerCase() !== 'sent';
  const found = none ? [] : [...search(store, filter)].filter(({ id, at }) => searchable(id, at));
  const { total, entries } = page(found, offset, count);
  return { TotalCount: total, Messages: entries.map(summary) };
}

function filterOf(query: ReadonlyMap<string, string>): Filter | string {
  const filter: Filter = { metadata: [...query].filter(([name]) => name.startsWith('metadata_')).map(metadataPair) };
  for (const [parameter, field] of textFields) {
    const value = query.get(parameter);
    if (value) filter[field] = value;
  }
  for (const [parameter, field, end] of dateFields) {
    const text = query.get(parameter);
    if (!text) continue;
    const at = timeOf(text, end);
    if (Number.isNaN(at)) return `'${parameter}' is not a date.`;
    filter[field] = at;
  }
  return filter;
}

const textFields = [
  ['recipient', 'recipient'],
  ['fromemail', 'fromEmail'],
  ['subject', 'subject'],
  ['tag', 'tag'],
  ['messagestream', 'stream'],
] as const;
const dateFields = [
  ['fromdate', 'fromDate', false],
  ['todate', 'toDate', true],
] as const;

function metadataPair([name, value]: [string, string]): [string, string] {
  return [name.slice('metadata_'.length), value];
}

function timeOf(text: string, endOfDay: boolean): number {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return Date.parse(`${text}T${endOfDay ? '23:59:59.999' : '00:00:00.000'}Z`);
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}

async function messageOf(
  ctx: RouterContext,
  { store }: Parts,
): Promise<{ entry: Entry; message: SubmittedMessage } | null> {
  if (lacksServerToken(ctx)) return null;
  const entry = store.get(ctx.params.id ?? '');
  const message = entry && (await store.read(entry));
  if (entry && message) return { entry, message };
  postmarkError(ctx, 422, 701, 'This message does not exist.');
  return null;
}

function summary(entry: Entry): Record<string, unknown> {
  const boxes = (mailboxes: Entry['to']) => mailboxes.map(({ email, name }) => ({ Email: email, Name: name || null }));
  return {
    Tag: entry.tag,
    MessageID: entry.id,
    MessageStream: entry.stream,
    To: boxes(entry.to),
    Cc: boxes(entry.cc),
    Bcc: boxes(entry.bcc),
    Recipients: entry.recipients,
    ReceivedAt: new Date(entry.at).toISOString(),
    From: entry.from,
    Subject: entry.subject,
    Attachments: entry.attachments,
    Status: 'Sent',
    TrackOpens: entry.trackOpens,
    TrackLinks: entry.trackLinks,
    Metadata: entry.metadata,
    Sandboxed: true,
  };
}
