import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { AppError, invalidField } from '../lib/errors.ts';
import { findNul } from '../lib/validation.ts';

const megabyte = 1024 * 1024;

/** The largest body where a route says nothing else. */
export const defaultBodyLimit = 50 * megabyte;

/** A parsed body, and what to suggest when it turns out not to fit. */
export interface ReadBody {
  value: unknown;
  /** Set when the body was not read because of its Content-Type. */
  suggestion?: string;
}

/**
 * Reads a JSON body (contract page 1, 1.10): an empty one is `{}`; one of another content type is not read and
 * counts as `{}`.
 * @throws 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY, 422 for U+0000 in a string
 */
export async function readJson(ctx: Context, limit: number): Promise<ReadBody> {
  const type = (ctx.get('content-type').split(';')[0] ?? '').trim().toLowerCase();
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    ctx.req.resume();
    return {
      value: {},
      suggestion: `The body was not read: send it with "Content-Type: application/json", not "${type}".`,
    };
  }
  const text = (await readBytes(ctx, limit)).toString('utf8');
  if (text.trim() === '') return { value: {} };
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
  return { value: /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value };
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]));
}

/** Reads the bytes of a body. @throws 413 PAYLOAD_TOO_LARGE, 400 INVALID_REQUEST_BODY when it ends early */
export async function readBytes(ctx: Context, limit: number): Promise<Buffer> {
  const declared = Number(ctx.get('content-length') || 0);
  if (declared > limit) throw tooLarge(limit);
  try {
    return await getRawBody(ctx.req, { limit, length: ctx.get('content-length') || null });
  } catch (error) {
    if ((error as { type?: string }).type === 'entity.too.large') throw tooLarge(limit);
    throw notJson('The body could not be read: the connection ended before its announced length');
  }
}

function tooLarge(limit: number): AppError {
  return new AppError(413, 'PAYLOAD_TOO_LARGE', `The body is larger than ${Math.round(limit / megabyte)} MB`, {
    details: { limitBytes: limit },
    // The rest of the body is not read, so the connection cannot serve another request.
    headers: { Connection: 'close' },
  });
}

function notJson(message: string): AppError {
  return new AppError(400, 'INVALID_REQUEST_BODY', message, {
    suggestion: 'Send one JSON object, encoded as UTF-8, with "Content-Type: application/json".',
  });
}
