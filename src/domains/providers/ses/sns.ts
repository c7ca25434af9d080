import { verify, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { request } from 'undici';
import * as v from 'valibot';

/** Calls Amazon's own hosts. Both methods take a URL that passed `amazonUrl`, and reject when Amazon does not answer. */
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

const text = v.fallback(v.optional(v.string()), undefined);

const Envelope = v.object({
  Type: text,
  MessageId: text,
  TopicArn: text,
  Subject: text,
  Message: text,
  Timestamp: text,
  Token: text,
  SubscribeURL: text,
  SignatureVersion: text,
  Signature: text,
  SigningCertURL: text,
});

/** A post of Amazon SNS. A field that is absent or no text is undefined. */
export type SnsEnvelope = v.InferOutput<typeof Envelope>;

/**
 * Reads the body of a post of SNS, whatever content type it came with.
 * @throws SyntaxError when it is no JSON object
 */
export function readSnsEnvelope(body: string): SnsEnvelope {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new SyntaxError('Not a JSON object');
  return v.parse(Envelope, parsed);
}

// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const algorithms: Record<string, string> = { 1: 'RSA-SHA1', 2: 'RSA-SHA256' };

/** The text that SNS signs: name and value of each field that is there, a line each. */
function signedText(envelope: SnsEnvelope): string {
  // An unknown type is signed like a notification: the type is judged only once the post is known to be Amazon's.
  const { Type = '' } = envelope;
  const names = signedFields[Object.hasOwn(signedFields, Type) ? (Type as keyof typeof signedFields) : 'Notification'];
  return names
    .map((name) => [name, envelope[name]] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('');
}

/**
 * Why a message cannot be trusted to be Amazon's, or null when it can (docs/contract/platform.md#8-2): signature version 1 or 2
 * by a certificate from Amazon's own hosts that is valid now. Never rejects.
 */
export async function distrustSns(envelope: SnsEnvelope, client: SnsClient, now: Date): Promise<string | null> {
  const { Signature, SignatureVersion = '', SigningCertURL = '' } = envelope;
  const algorithm = Object.hasOwn(algorithms, SignatureVersion) ? algorithms[SignatureVersion] : undefined;
  if (algorithm === undefined || Signature === undefined) return 'no signature of version 1 or 2';
  const url = amazonUrl(SigningCertURL);
  if (url === null || !url.pathname.endsWith('.pem')) return 'the certificate is not on a host of Amazon SNS';
  let certificate: X509Certificate;
  try {
    certificate = await client.certificate(url);
  } catch (error) {
    return `the certificate cannot be had: ${(error as Error).message}`;
  }
  if (now < new Date(certificate.validFrom) || now > new Date(certificate.validTo))
    return 'the certificate is not valid now';
  const signed = Buffer.from(signedText(envelope), 'utf8');
  const { publicKey } = certificate;
  if (publicKey.asymmetricKeyType !== 'rsa') return 'the certificate has no RSA key';
  return verify(algorithm, signed, publicKey, Buffer.from(Signature, 'base64')) ? null : 'the signature is wrong';
}
