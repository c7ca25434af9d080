import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A server that takes webhooks, on a free loopback port. */
export interface Receiver extends AsyncDisposable {
  port: number;
  /** Everything that arrived so far, in order. */
  requests: Received[];
}

/** How a receiver answers; the request has been read and kept. */
export type Answering = (
  request: Received,
  response: Parameters<RequestListener>[1],
  number: number,
) => void | Promise<void>;

/** Starts a receiver; with `tls` it has the certificate of `receiverCertificate`. Answers 200 `{"ok":true}` unless told otherwise. */
export async function startReceiver(
  answer: Answering = defaultAnswer,
  options: { tls?: boolean } = {},
): Promise<Receiver> {
  const requests: Received[] = [];
  const listener: RequestListener = async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const request = {
      method: message.method ?? '',
      url: message.url ?? '',
      headers: message.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    await answer(request, response, requests.length);
  };
  const server: Server = options.tls
    ? createTlsServer({ key: receiverKey, cert: receiverCertificate }, listener)
    : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const defaultAnswer: Answering = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
};

/** The certificate of `receiver.test`, signed by nobody but itself; it and its key are for tests alone. */
export const receiverCertificate = `-----BEGIN CERTIFICATE-----
MIIBoDCCAUegAwIBAgIUaX4N7jXOyN41ejxqK2hsczapoqYwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNcmVjZWl2ZXIudGVzdDAgFw0yNjExMjExODM3MjhaGA8yMTI2
MTAyODE4MzcyOFowGDEWMBQGA1UEAwwNcmVjZWl2ZXIudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABDfqMGAq+QQGNXMoNgw3h+RCF3A9om4jkrgsuBJrloGb
sT0M2ZFdyR2X6gAe1de1bqDjD1U5eMA9rZdDfFrzSS6jbTBrMB0GA1UdDgQWBBRx
bdxq9SWNJF+bHfjmog+CZnxQ7TAfBgNVHSMEGDAWgBRxbdxq9SWNJF+bHfjmog+C
ZnxQ7TAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDXJlY2VpdmVyLnRlc3Qw
CgYIKoZIzj0EAwIDRwAwRAIgCFbBsQHNpyFjMF9PnpGgtbkNULAJushHsrRm0d+C
cZUCIFRiLkaAuI/BZrtc6SgvWaVBRV0ppC/rkLR4bj0BcS0i
-----END CERTIFICATE-----
`;

const receiverKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4XNwW4QqGSYXtHkt
ps45TeAEPaXoEfd63pibg1b1ajShRANCAAQ36jBgKvkEBjVzKDYMN4fkQhdwPaJu
I5K4LLgSa5aBm7E9DNmRXckdl+oAHtXXtW6g4w9VOXjAPa2XQ3xa80ku
-----END PRIVATE KEY-----
`;
