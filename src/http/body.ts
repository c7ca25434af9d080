import type { IncomingMessage } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import type { Context, Middleware } from 'koa';
import { HttpMethodEnum, type KoaBodyMiddlewareOptions, koaBody } from 'koa-body';
import { AppError, invalidField } from '../lib/errors.ts';
import { BodyBudget, type BudgetSize } from './bodies/budget.ts';
import { BodyError } from './bodies/json.ts';
import { type BodyLimit, type BodyMemory, BodyReader, type JsonBody } from './bodies/reader.ts';

const megabyte = 1024 * 1024;
const waitMs = 10_000;
// The largest body is one of 60 MB.
const smallestShare = 64 * megabyte;

/** The budget of bodies that anybody may send. */
const openBudgetSize: BudgetSize = { total: 16 * megabyte, share: 8 * megabyte, waitMs };

/** The budget of bodies that come with a key, a session or a webhook's credentials, for a heap of this size. */
export function keyedBudgetSize(heapBytes = getHeapStatistics().heap_size_limit): BudgetSize {
  // A body of n bytes takes up to 5n while it is parsed.
  const total = Math.max(smallestShare, Math.min(256 * megabyte, Math.floor(heapBytes / 16)));
  return { total, share: Math.max(smallestShare, total / 2), waitMs };
}

const kilobyte = 1024;

/** The limits of bodies, by what a route takes. A route that names none takes a `form`. */
export const bodyLimits = {
  /** A few short fields: whatever needs no key, and accounts, projects, members, domains, settings. */
  form: { bytes: 16 * kilobyte, values: 1_000 },
  /** An event with its data. */
  event: { bytes: 256 * kilobyte, values: 100_000 },
  /** A contact with its data, a condition, a step, up to some thousand ids: data of 256 kB with every character escaped. */
  data: { bytes: 2 * megabyte, values: 200_000 },
  /** Templates, campaigns, graphs and lists of members (docs/contract/core.md#1-10). */
  document: { bytes: 50 * megabyte, values: 500_000 },
  /** A message with its attachments (docs/contract/platform.md#1-1). */
  message: { bytes: 60 * megabyte, values: 500_000 },
  /** The form on the pages of recipients. */
  recipientForm: { bytes: 4 * kilobyte, values: 1_000 },
  /** An event of Stripe. */
  paymentWebhook: { bytes: megabyte, values: 100_000 },
  /** Anybody may post here: the largest message of Amazon SNS (256 kB) with every character of it escaped. */
  snsWebhook: { bytes: 2 * megabyte, values: 1_000 },
  /** A webhook of Postmark, which has shown its credentials (docs/contract/platform.md#8-1). */
  postmarkWebhook: { bytes: 50 * megabyte, values: 500_000 },
} as const satisfies Record<string, Omit<BodyLimit, 'levels'>>;
export type BodyLimitName = keyof typeof bodyLimits;

const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';

const budgets = { open: new BodyBudget(openBudgetSize), keyed: new BodyBudget(keyedBudgetSize()) };

/** Whose memory a body takes: that of a network address, or of a project, a session or a provider who showed who they are. */
export interface BodyOwner {
  kind: keyof typeof budgets;
  id: string;
}

/**
 * Reads one request's body within the limits of its route, and keeps account of its memory until `release`. Each reading is refused by
 * 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY, 422 for U+0000 in a string, or 503 while there is no memory for it.
 */
export class RouteBody {
  readonly #reader = new BodyReader();

  /**
   * A JSON body (docs/contract/core.md#1-10): an empty one is `{}`; one of another content type is not read and counts as `{}`.
   */
  json(ctx: Context, name: BodyLimitName, owner: BodyOwner): Promise<JsonBody> {
    const read = readJson.get(name);
    const text = read && (async () => ((await readAs(jsonType, read, ctx)) ?? '') as string);
    return refusing(this.#reader.json(ctx.req, limitOf(name), memoryOf(owner), text));
  }

  /** The fields of a form, whatever its content type; of a repeated one the first. */
  form(ctx: Context, name: BodyLimitName, owner: BodyOwner): Promise<Record<string, unknown>> {
    const read = readForm.get(name);
    if (read === undefined) throw new Error(`A form is larger than koa-body may read: ${name}`);
    const fields = async () => ((await readAs(formType, read, ctx)) ?? {}) as Record<string, unknown>;
    return refusing(this.#reader.readBy(fields, ctx.req, limitOf(name).bytes, memoryOf(owner)));
  }

  /** The text of a JSON body that is parsed elsewhere. */
  text(request: IncomingMessage, name: BodyLimitName, owner: BodyOwner): Promise<string> {
    return refusing(this.#reader.text(request, limitOf(name), memoryOf(owner)));
  }

  /** The bytes of a body. */
  bytes(request: IncomingMessage, name: BodyLimitName, owner: BodyOwner): Promise<Buffer> {
    return refusing(this.#reader.bytes(request, limitOf(name).bytes, memoryOf(owner)));
  }

  /** Gives the memory of the body back; call it when nothing refers to the body any more. */
  release(): void {
    this.#reader.release();
  }
}

// Larger bodies ask for memory while they come, and are checked as bytes before they take twice as much as a text.
const mostByKoaBody = 2 * megabyte;
const unlessAsked = { json: false, urlencoded: false, text: false, parsedMethods: Object.values(HttpMethodEnum) };
// As text: its parser refuses `__proto__`, which we drop, and runs before levels and values are counted.
const readJson = koaBodies((bytes) => ({ text: true, textTypes: [jsonType], textLimit: bytes }));
const readForm = koaBodies((bytes) => ({
  urlencoded: true,
  formLimit: bytes,
  queryString: { allowDots: false, duplicates: 'first' },
}));

function koaBodies(
  options: (bytes: number) => Partial<KoaBodyMiddlewareOptions>,
): ReadonlyMap<BodyLimitName, Middleware> {
  const small = Object.entries(bodyLimits).filter(([, { bytes }]) => bytes <= mostByKoaBody);
  return new Map(
    small.map(([name, { bytes }]) => [name as BodyLimitName, koaBody({ ...unlessAsked, ...options(bytes) })]),
  );
}

// koa-body goes by the exact media type. What counts as JSON or as a form has been decided before.
async function readAs(type: string, read: Middleware, ctx: Context): Promise<unknown> {
  ctx.req.headers['content-type'] = type;
  await read(ctx, async () => undefined);
  return (ctx.request as { body?: unknown }).body;
}

function limitOf(name: BodyLimitName): BodyLimit {
  return { ...bodyLimits[name], levels: 64 };
}

function memoryOf({ kind, id }: BodyOwner): BodyMemory {
  return { budget: budgets[kind], owner: id };
}

async function refusing<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof BodyError ? refusalOf(error) : error;
  }
}

function refusalOf({ fault, message }: BodyError): AppError {
  switch (fault.kind) {
    case 'tooLarge':
      return new AppError(413, 'PAYLOAD_TOO_LARGE', message, { details: { limitBytes: fault.limitBytes } });
    case 'malformed':
      return new AppError(400, 'INVALID_REQUEST_BODY', message, {
        suggestion: 'Send one JSON object, encoded as UTF-8, with "Content-Type: application/json".',
      });
    case 'nul':
      return invalidField(fault.path, 'must not contain the character U+0000', 'invalid_string');
    case 'busy':
      return new AppError(503, 'SERVICE_UNAVAILABLE', message, {
        suggestion: 'Try again in a few seconds, with fewer large requests at the same time.',
        headers: { 'Retry-After': '5' },
      });
  }
}
