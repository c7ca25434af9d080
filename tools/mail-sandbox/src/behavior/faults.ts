import { Agent, request } from 'undici';
import * as v from 'valibot';
import type { SubmittedMessage } from '../schema.ts';
import { findLinks } from './inbound.ts';

const count = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));
const common = {
  /** How many calls are hit before the fault is used up. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000)), 1),
  /** The exact path hit, for example `/email/batch`; by default both sending paths are. */
  path: v.optional(v.pipe(v.string(), v.startsWith('/'))),
};

/**
 * A disturbance of Postmark's API, for failure drills. `POST /api/faults` adds one, `GET /api/faults` lists those that
 * are not used up, `DELETE /api/faults` removes all. A call is hit by the oldest fault that matches its path, and each
 * hit uses up one of its `times` (default 1).
 *
 * - `{ "kind": "status", "status": 503 }` answers with this status and stores nothing. Optional: `errorCode` and
 *   `message` for the body, `retryAfter` in seconds for the header.
 * - `{ "kind": "drop-answer" }` stores the messages, then cuts the connection without an answer: accepted, but the
 *   caller cannot know.
 * - `{ "kind": "hang" }` stores nothing and stays silent for `ms` (default 90,000), then cuts the connection.
 * - `{ "kind": "delay", "ms": 150 }` stores the messages and answers normally, but only after `ms`.
 * - `{ "kind": "reject", "errorCode": 412 }` answers normally with this ErrorCode for each message and stores nothing.
 *   Optional: `message`.
 */
export const FaultSchema = v.variant('kind', [
  v.object({
    kind: v.literal('status'),
    status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
    errorCode: v.optional(count(100_000)),
    message: v.optional(v.string()),
    retryAfter: v.optional(count(86_400)),
    ...common,
  }),
  v.object({ kind: v.literal('drop-answer'), ...common }),
  v.object({ kind: v.literal('hang'), ms: v.optional(count(3_600_000), 90_000), ...common }),
  v.object({ kind: v.literal('delay'), ms: count(3_600_000), ...common }),
  v.object({
    kind: v.literal('reject'),
    errorCode: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)),
    message: v.optional(v.string()),
    ...common,
  }),
]);

export type Fault = v.InferOutput<typeof FaultSchema>;

const sendingPaths = ['/email', '/email/batch'];

/** The faults that still wait for a call, in memory only. */
export class Faults {
  private faults: Fault[] = [];

  add(fault: Fault): void {
    this.faults.push({ ...fault });
  }

  list(): readonly Fault[] {
    return this.faults;
  }

  clear(): void {
    this.faults = [];
  }

  /** Uses up one hit of the first fault that matches the path, or answers null. */
  take(path: string): Fault | null {
    const fault = this.faults.find((one) => (one.path === undefined ? sendingPaths.includes(path) : one.path === path));
    if (!fault) return null;
    fault.times -= 1;
    if (fault.times === 0) this.faults = this.faults.filter((one) => one !== fault);
    return fault;
  }
}

/** The service whose links may be followed. */
export interface Service {
  /** Where its links in emails lead, such as `http://localhost:3000`. */
  publicUrls: readonly string[];
  /** Where the sandbox reaches it; null when that is where the links lead. */
  reachedAt: string | null;
}

/** The response of the service. */
export interface Followed {
  status: number;
  /** Where a redirect leads; it is not followed. */
  location: string | null;
  /** At most 64 KB of it. */
  body: string;
}

const timeoutMs = 10_000;
const longestBody = 64 * 1024;

/** The link of a message that contains `part`, or its first one; undefined without such a link. */
export function linkOf(message: SubmittedMessage, part: string): string | undefined {
  return findLinks(message.HtmlBody ?? '', message.TextBody ?? '').find((link) => link.includes(part));
}

/** The address for one-click unsubscribes (RFC 8058); undefined when the message does not offer it. */
export function oneClickOf(message: SubmittedMessage): string | undefined {
  const header = (name: string) => message.Headers?.find((one) => one.Name.toLowerCase() === name)?.Value ?? '';
  if (!/^List-Unsubscribe=One-Click$/i.test(header('list-unsubscribe-post').trim())) return undefined;
  return /<(https?:\/\/[^>]+)>/i.exec(header('list-unsubscribe'))?.[1];
}

/** Whether a link leads to the service. Everything else is never requested: a message may name any address. */
export function isOwn({ publicUrls }: Service, link: string): boolean {
  return URL.canParse(link) && publicUrls.some((base) => new URL(base).origin === new URL(link).origin);
}

/**
 * Requests a link of the service, as a mail program does: GET for a click, POST for a one-click unsubscribe.
 * @throws what `undici` throws when the service does not answer
 */
export async function follow(service: Service, link: string, method: 'GET' | 'POST'): Promise<Followed> {
  const target = new URL(link);
  const url = new URL(target.pathname + target.search, service.reachedAt ?? target.origin);
  const dispatcher = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const reply = await request(url, {
      method,
      dispatcher,
      headers: {
        host: target.host,
        'user-agent': 'Fernpost-Sandbox',
        ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      body: method === 'POST' ? 'List-Unsubscribe=One-Click' : null,
    });
    const location = reply.headers.location;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of reply.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= longestBody) break;
    }
    const body = Buffer.concat(chunks).subarray(0, longestBody).toString('utf8');
    return { status: reply.statusCode, location: typeof location === 'string' ? location : null, body };
  } finally {
    await dispatcher.destroy();
  }
}
