import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AccountClient, type Message, ServerClient } from 'postmark';
import { onTestFinished } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../src/server.ts';

const defaults: SandboxOptions = {
  host: '127.0.0.1',
  port: 0,
  dataDir: null,
  webhookUrl: null,
  webhookUser: 'fernpost',
  webhookPassword: 'a secret: with a colon',
  delayMs: 0,
};

/** A sandbox of the test's own on a free port, with the two clients of the official package; closed after the test. */
export async function startSandbox(options: Partial<SandboxOptions> = {}) {
  const errors: unknown[] = [];
  const sandbox: Sandbox = await createSandbox({ ...defaults, onError: (error) => errors.push(error), ...options });
  onTestFinished(() => sandbox.close().catch(() => undefined));
  return { ...sandbox, errors, ...clientsOf(sandbox.url), ...callsTo(sandbox.url) };
}

/** The official clients, pointed at a sandbox as the service points them. */
export function clientsOf(url: string) {
  const options = { requestHost: new URL(url).host, useHttps: false, timeout: 20 };
  return { server: new ServerClient('sandbox', options), account: new AccountClient('sandbox', options) };
}

/** Plain HTTP to a sandbox; bodies are JSON. */
export function callsTo(url: string) {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  };
  return {
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body: unknown, headers?: Record<string, string>) => call('POST', path, body, headers),
    remove: (path: string) => call('DELETE', path),
  };
}

/** A message that passes every check. */
export function message(fields: Partial<Message> = {}): Message {
  return {
    From: '"Acme, Inc." <hello@acme.test>',
    To: 'ada@example.com',
    Subject: 'Welcome aboard',
    HtmlBody: '<p>Hi Ada, <a href="https://acme.test/start?a=1&amp;b=2">start here</a></p>',
    TextBody: 'Hi Ada',
    ...fields,
  };
}

/** One POST that a receiver got. */
export interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
  at: number;
}

/** A server that takes webhooks; `answer` gives the status of the n-th POST, counted from 1. Closed after the test. */
export async function startReceiver(answer: (n: number, body: Record<string, unknown>) => number = () => 200) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = JSON.parse(text) as Record<string, unknown>;
    received.push({ headers: request.headers, text, body, at: Date.now() });
    response.writeHead(answer(received.length, body)).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/webhooks/postmark`, received };
}
