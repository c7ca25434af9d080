import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { request } from 'undici';

/** What is asked of Amazon's own hosts. Both methods take a URL that passed `amazonUrl`, and reject when Amazon does not answer. */
export interface SnsClient {
  /** The certificate behind a `SigningCertURL`; kept for a day. */
  certificate(url: URL): Promise<X509Certificate>;
  /** Confirms a subscription by its `SubscribeURL`. */
  confirm(url: URL): Promise<void>;
}

/** Fetches the text behind a URL; rejects for anything but a 200. */
export type GetText = (url: URL) => Promise<string>;

// docs/contract/platform.md#8-2. A match excludes a port, credentials, and other domains.
const host = /^sns\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|amazonaws\.eu)$/;

/** The URL in a text when it is one of Amazon SNS by https on the default port, or null. */
export function amazonUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '')
    return null;
  return host.test(url.hostname) ? url : null;
}

const timeoutMs = 5000;
const mostBytes = 64 * 1024;

/** Fetches over the network: no redirects, five seconds, 64 KB. */
const getFromAmazon: GetText = async (url) => {
  const answer = await request(url, { method: 'GET', signal: AbortSignal.timeout(timeoutMs) });
  if (answer.statusCode !== 200) {
    answer.body.destroy();
    throw new Error(`${url.hostname} answers ${answer.statusCode}`);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) throw new Error(`${url.hostname} answers more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
};

const keptMs = 24 * 60 * 60 * 1000;
// Amazon has a few in use at a time.
const mostKept = 100;

/** The client that fetches by `get`. Certificates are fetched once for each URL, also when many ask at the same moment. */
export function createSnsClient(get: GetText = getFromAmazon): SnsClient {
  const kept = new LRUCache<string, X509Certificate>({
    max: mostKept,
    ttl: keptMs,
    fetchMethod: async (href) => {
      const url = new URL(href);
      return new X509Certificate(await get(url).catch(() => get(url)));
    },
  });
  return {
    certificate: (url) => kept.forceFetch(url.href),
    async confirm(url) {
      await get(url);
    },
  };
}
