import { Agent, request } from 'undici';
import type { SubmittedMessage } from '../schema.ts';
import { findLinks } from './inbound.ts';

/** The service whose links may be followed. */
export interface Service {
  /** Where its links in emails lead, such as `http://localhost:3000`. */
  publicUrls: readonly string[];
  /** Where the sandbox reaches it; null when that is where the links lead. */
  reachedAt: string | null;
}

/** What the service answered. */
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
