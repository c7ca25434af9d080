import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { AppError, invalidField } from '../lib/errors.ts';
import { exceededLimit } from '../lib/json-shape.ts';
import { findNul, wellFormed } from '../lib/json-text.ts';
import { BodyBudget, type BodyHold, keyedBudgetSize, openBudgetSize, tooBusy } from './body-budget.ts';

const kilobyte = 1024;
const megabyte = 1024 * 1024;

/** How large a body may be. */
export interface BodyLimit {
  bytes: number;
  /** Most values in its JSON. */
  values: number;
}

/** The limits of bodies, by what a route takes. A route that names none takes a `form`. */
export const bodyLimits = {
  /** A few short fields: whatever needs no key, and accounts, projects, members, domains, settings. */
  form: { bytes: 16 * kilobyte, values: 1_000 },
  /** An event with its data. */
  event: { bytes: 256 * kilobyte, values: 100_000 },
  /** A contact with its data, a condition, a step, up to some thousand ids: data of 256 kB with every character escaped. */
  data: { bytes: 2 * megabyte, values: 200_000 },
  /** Templates, campaigns, graphs and lists of members (contract page 1, 1.10). */
  document: { bytes: 50 * megabyte, values: 500_000 },
  /** A message with its attachments (contract page 3, 1.1). */
  message: { bytes: 60 * megabyte, values: 500_000 },
  /** The form on the pages of recipients. */
  recipientForm: { bytes: 4 * kilobyte, values: 1_000 },
  /** An event of Stripe. */
  paymentWebhook: { bytes: megabyte, values: 100_000 },
  /** Anybody may post here: the largest message of Amazon SNS (256 kB) with every character of it escaped. */
  snsWebhook: { bytes: 2 * megabyte, values: 1_000 },
  /** A webhook of Postmark, which has shown its credentials (contract page 3, 8.1). */
  postmarkWebhook: { bytes: 50 * megabyte, values: 500_000 },
} as const satisfies Record<string, BodyLimit>;
export type BodyLimitName = keyof typeof bodyLimits;

/** A limit in words: `16 kB`, `50 MB`. */
export function sizeText(bytes: number): string {
  return bytes < megabyte ? `${bytes / kilobyte} kB` : `${bytes / megabyte} MB`;
}

/** Most objects and arrays within one another in a body. */
const mostLevels = 64;

const budgets = { open: new BodyBudget(openBudgetSize), keyed: new BodyBudget(keyedBudgetSize()) };

/** Whose memory a body takes: that of a network address, or of a project, a session or a provider who showed who they are. */
export interface BodyOwner {
  kind: keyof typeof budgets;
  id: string;
}

/** A parsed body, and what to suggest when it turns out not to fit. */
export interface ReadBody {
  value: unknown;
  /** Set when the body was not read because of its Content-Type. */
  suggestion?: string;
}

/** Reads one request's body and keeps account of its memory until `release`. */
export class BodyReader {
  #hold: BodyHold | null = null;

  /**
   * Reads a JSON body (contract page 1, 1.10): an empty one is `{}`; one of another content type is not read and
   * counts as `{}`.
   * @throws 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY, 422 for U+0000 in a string, 503 while there is no memory for it
   */
  async json(ctx: Context, name: BodyLimitName, owner: BodyOwner): Promise<ReadBody> {
    const type = (ctx.get('content-type').split(';')[0] ?? '').trim().toLowerCase();
    if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
      discard(ctx.req);
      return {
        value: {},
        suggestion: `The body was not read: send it with "Content-Type: application/json", not "${type}".`,
      };
    }
    const encoding = ctx.get('content-encoding').trim().toLowerCase();
    if (encoding !== '' && encoding !== 'identity') {
      discard(ctx.req);
      throw notJson(`A body with "Content-Encoding: ${encoding}" is not read: send it as it is`);
    }
    const text = textOfJson(await this.bytes(ctx.req, name, owner), bodyLimits[name]);
    return { value: parseObject(text) };
  }

  /**
   * Reads the text of a JSON body that is parsed elsewhere, after the same checks.
   * @throws 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY, 503 while there is no memory for it
   */
  async text(request: IncomingMessage, name: BodyLimitName, owner: BodyOwner): Promise<string> {
    return textOfJson(await this.bytes(request, name, owner), bodyLimits[name]);
  }

  /**
   * Reads the bytes of a body.
   * @throws 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY when it ends early, 503 while there is no memory for it
   */
  async bytes(request: IncomingMessage, name: BodyLimitName, owner: BodyOwner): Promise<Buffer> {
    const limit = bodyLimits[name].bytes;
    const declared = request.headers['content-length'];
    const expected = declared === undefined ? firstGuess : Number(declared);
    try {
      if (expected > limit && declared !== undefined) throw tooLarge(limit);
      this.#hold = await budgets[owner.kind].take(owner.id, Math.min(expected, limit));
      return await collect(request, limit, this.#hold);
    } catch (error) {
      discard(request);
      throw error;
    }
  }

  /** Gives the memory of the body back; call it when nothing refers to the body any more. */
  release(): void {
    this.#hold?.release();
    this.#hold = null;
  }
}

// What is set aside for a body of unannounced length until more of it has come.
const firstGuess = 64 * kilobyte;

function collect(request: IncomingMessage, limit: number, hold: BodyHold): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const finish = (settle: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    };
    const onData = (piece: Buffer) => {
      length += piece.length;
      if (length > limit) finish(() => reject(tooLarge(limit)));
      else if (length > hold.bytes && !hold.growTo(Math.min(limit, 2 * length))) finish(() => reject(tooBusy()));
      else pieces.push(piece);
    };
    const onEnd = () => finish(() => resolve(Buffer.concat(pieces, length)));
    const onBroken = () => finish(() => reject(notJson(brokenOff)));
    // It may have broken off while it waited for memory.
    if (request.destroyed && !request.readableEnded) return reject(notJson(brokenOff));
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const brokenOff = 'The body could not be read: the connection ended before its announced length';
const mostDiscarded = 64 * megabyte;

/**
 * Reads the rest of a body and keeps nothing of it, because many clients look for an answer only when they have sent all
 * of a request. The connection is cut when a body goes on for longer than any that is accepted.
 */
export function discard(request: IncomingMessage): void {
  let length = 0;
  request.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > mostDiscarded) request.destroy();
  });
  request.on('error', () => {});
  request.resume();
}

function textOfJson(bytes: Buffer, { values }: BodyLimit): string {
  const exceeded = exceededLimit(bytes, { levels: mostLevels, values });
  if (exceeded === 'levels') throw notJson(`The body is nested deeper than ${mostLevels} levels`);
  if (exceeded === 'values') throw notJson(`The body has more than ${values} values`);
  const text = bytes.toString('utf8');
  // Some editors and shells put a byte order mark first, which a reader of JSON may ignore (RFC 8259, 8.1).
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parseObject(text: string): unknown {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(`The body is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null) throw notJson('The body must be a JSON object');
  // The escape can only stand in the text when a string holds the character, so the walk is rarely needed.
  if (text.includes('\\u0000')) {
    const place = findNul(value);
    if (place !== null) throw invalidField(place, 'must not contain the character U+0000', 'invalid_string');
  }
  // Half a surrogate pair is no character: jsonb refuses it, and a mail cannot carry it.
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}

function tooLarge(limit: number): AppError {
  return new AppError(413, 'PAYLOAD_TOO_LARGE', `The body is larger than ${sizeText(limit)}`, {
    details: { limitBytes: limit },
  });
}

function notJson(message: string): AppError {
  return new AppError(400, 'INVALID_REQUEST_BODY', message, {
    suggestion: 'Send one JSON object, encoded as UTF-8, with "Content-Type: application/json".',
  });
}
