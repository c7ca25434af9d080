import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { messageBytes } from '../behavior/check.ts';
import type { Fault } from '../behavior/faults.ts';
import { submit } from '../behavior/inbound.ts';
import { issueText, MessageSchema, type SubmittedMessage } from '../schema.ts';
import { BodyError, type Parts, readBody } from './requests.ts';

const maxMessages = 500;
const maxCallBytes = 50 * 1024 * 1024;
const maxMessageBytes = 40 * 1024 * 1024;
const heldMs = 90_000;
const testToken = 'POSTMARK_API_TEST';

/**
 * `POST /email` and `POST /email/batch` as Postmark has them: at most 500 messages and 50 MB in a call, 40 MB in a
 * message (docs/contract/platform.md#10-3). A single message that is refused is a 422, in a batch it has its ErrorCode in a 200.
 */
export function sendingRoutes(parts: Parts): Router {
  const router = new Router();
  router.post('/email', (ctx) => send(ctx, parts, false));
  router.post('/email/batch', (ctx) => send(ctx, parts, true));
  return router;
}

/** Answers with Postmark's error body. */
export function postmarkError(ctx: Context, status: number, errorCode: number, message: string): void {
  ctx.status = status;
  ctx.body = { ErrorCode: errorCode, Message: message };
}

/** Answers 401 and returns true when the call carries no server token; any other token is good. */
export function lacksServerToken(ctx: Context): boolean {
  if (ctx.get('X-Postmark-Server-Token').trim() !== '') return false;
  postmarkError(ctx, 401, 10, 'Request does not contain a valid Server token.');
  return true;
}

async function send(ctx: Context, parts: Parts, batch: boolean): Promise<void> {
  parts.calls.count += 1;
  if (lacksServerToken(ctx)) return;
  const release = await parts.budget.take(ctx.request.length ?? maxCallBytes);
  let after: Aftermath;
  try {
    after = await takeCall(ctx, parts, batch);
  } finally {
    release();
  }
  // Waiting happens out here, where the call no longer counts against the budget.
  if (after.waitMs > 0) await waitFor(ctx, parts, after.waitMs);
  if (after.cut) cut(ctx);
}

interface Aftermath {
  waitMs: number;
  cut: boolean;
}

const atOnce: Aftermath = { waitMs: 0, cut: false };

async function takeCall(ctx: Context, parts: Parts, batch: boolean): Promise<Aftermath> {
  const body = await bodyOf(ctx);
  if (!body) return atOnce;
  const fault = parts.faults.take(ctx.path);
  if (fault?.kind === 'status') {
    if (fault.retryAfter !== undefined) ctx.set('Retry-After', String(fault.retryAfter));
    postmarkError(ctx, fault.status, fault.errorCode ?? codeOf(fault.status), fault.message ?? 'Injected fault.');
    return atOnce;
  }
  if (fault?.kind === 'hang') return { waitMs: fault.ms, cut: true };

  const messages = messagesOf(ctx, body, batch);
  if (!messages) return atOnce;
  if (fault?.kind === 'reject') {
    const refusal = { ErrorCode: fault.errorCode, Message: fault.message ?? 'Injected fault.' };
    return answer(
      ctx,
      batch,
      messages.map(() => refusal),
    );
  }
  const test = ctx.get('X-Postmark-Server-Token').trim() === testToken;
  const submission = submit(parts, messages, test);
  if (submission.outage) {
    postmarkError(ctx, submission.outage, codeOf(submission.outage), 'Magic recipient: this call fails twice.');
    return atOnce;
  }
  answer(ctx, batch, submission.results);
  return { waitMs: waitOf(fault) + (submission.held ? heldMs : 0), cut: fault?.kind === 'drop-answer' };
}

function answer(ctx: Context, batch: boolean, results: readonly { ErrorCode: number }[]): Aftermath {
  ctx.status = !batch && results[0]?.ErrorCode !== 0 ? 422 : 200;
  ctx.body = batch ? results : results[0];
  return atOnce;
}

async function bodyOf(ctx: Context): Promise<Buffer | null> {
  try {
    return await readBody(ctx, maxCallBytes);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    postmarkError(ctx, error.status, error.status === 413 ? 413 : 402, error.message);
    return null;
  }
}

function messagesOf(ctx: Context, body: Buffer, batch: boolean): SubmittedMessage[] | null {
  const refuse = (status: number, errorCode: number, message: string) => {
    postmarkError(ctx, status, errorCode, message);
    return null;
  };
  if (!ctx.is('json')) return refuse(422, 409, 'The Content-Type must be application/json.');
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    return refuse(422, 402, 'The body is not valid JSON.');
  }
  if (batch && Array.isArray(json) && json.length > maxMessages) {
    return refuse(422, 410, `A batch may have ${maxMessages} messages at most.`);
  }
  if (!batch && Array.isArray(json)) return refuse(422, 403, 'The JSON does not fit: one message is expected.');
  const parsed = v.safeParse(batch ? v.array(MessageSchema) : v.pipe(MessageSchema, v.transform(asArray)), json);
  if (!parsed.success) return refuse(422, 403, `The JSON does not fit: ${issueText(parsed.issues)}`);
  if (parsed.output.some((message) => messageBytes(message) > maxMessageBytes)) {
    return refuse(413, 413, 'A message may have 40 MB at most.');
  }
  return parsed.output;
}

function asArray(message: SubmittedMessage): SubmittedMessage[] {
  return [message];
}

function codeOf(status: number): number {
  if (status === 429) return 429;
  return status === 503 ? 100 : 0;
}

function waitOf(fault: Fault | null): number {
  return fault?.kind === 'delay' ? fault.ms : 0;
}

/** Waits until the time is over, the caller has gone, or the sandbox closes. */
async function waitFor(ctx: Context, parts: Parts, ms: number): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  ctx.res.once('close', leave);
  await sleep(ms, undefined, { signal: AbortSignal.any([parts.closing, gone.signal]) }).catch(() => undefined);
  ctx.res.off('close', leave);
}

function cut(ctx: Context): void {
  ctx.respond = false;
  ctx.req.socket.destroy();
}
