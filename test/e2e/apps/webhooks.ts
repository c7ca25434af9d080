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
  await fernpost.send({ ...mail, to: `hardbounce+${Date.now()}@example.com` });
  await until(
    async () => calls.map(({ type }) => type).sort(),
    (types) => types.includes('email.bounce') && types.includes('email.delivery'),
  );
  const delivery = calls.find(({ type }) => type === 'email.delivery');
  assert.deepEqual(delivery?.data.email, { id: sent.email });

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
