import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook, type WebhookCall } from '@fernpost/sdk';
import { address, fernpost, from, only, until } from './app.ts';

// Receive signed calls for what happens to mail, and verify them.
let secret = '';
const calls: WebhookCall[] = [];
const server = createServer(async (request, response) => {
  const body = await text(request);
  try {
    calls.push(verifyWebhook(body, request.headers as Record<string, string>, secret));
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(process.env.WEBHOOK_PORT ?? 4000), '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const endpoint = await fernpost.webhookEndpoints.create({
  url: `http://localhost:${port}/hooks`,
  events: ['email.delivery', 'email.bounce'],
});
secret = endpoint.secret;
try {
  const mail = { from, subject: 'Hello', body: '<p>Hello</p>' };
  const sent = only(await fernpost.send({ ...mail, to: address('ada') }));
  const bounced = only(await fernpost.send({ ...mail, to: address('hardbounce+') }));
  // The endpoint hears of the mail of other scripts too.
  const callAbout = (type: string, id: string) =>
    calls.find((call) => call.type === type && (call.data.email as { id: string }).id === id);
  const [delivery, bounce] = await until(
    async () => [callAbout('email.delivery', sent.email), callAbout('email.bounce', bounced.email)],
    (both) => both.every((call) => call !== undefined),
  );
  assert.deepEqual(delivery?.data.email, { id: sent.email });
  assert.deepEqual(bounce?.data.email, { id: bounced.email });

  // Whoever does not know the secret is refused.
  const forged = await fetch(`http://localhost:${port}/hooks`, {
    method: 'POST',
    headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    body: '{}',
  });
  assert.equal(forged.status, 400);
} finally {
  await fernpost.webhookEndpoints.delete(endpoint.id);
  server.close();
}
