import { Fernpost, FernpostError, verifyWebhook, type WebhookCall } from '@fernpost/sdk';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const fernpost = new Fernpost({
  baseUrl: process.env.FERNPOST_URL ?? 'http://localhost:3000',
  key: process.env.FERNPOST_KEY ?? '',
});
/** Addresses that mail does not reach, as a shop would keep them in its database. */
const unreachable = new Set<string>();
const app = new Hono();

// The id of the order names the request: a customer who presses twice gets one receipt.
app.post('/orders', async (request) => {
  const { id, email, total } = await request.req.json<{ id: string; email: string; total: string }>();
  const [receipt] = await fernpost.send(
    {
      to: email,
      from: process.env.SENDER ?? 'hello@fernpost.test',
      subject: 'Your order {{order}}',
      body: '<p>Thank you. We charged {{total}}.</p>',
      data: { order: { value: id, persistent: false }, total: { value: total, persistent: false } },
      tags: { order: id },
    },
    { idempotencyKey: `receipt-${id}` },
  );
  return request.json({ receipt: receipt?.email }, 201);
});

app.get('/orders/:id/receipt', async (request) => {
  for await (const email of fernpost.emails.list({ tag: `order:${request.req.param('id')}` }))
    return request.json({ status: email.status, deliveredAt: email.deliveredAt });
  return request.json({ error: 'no receipt' }, 404);
});

// Verify the text as it came: a parsed and written body has another signature.
app.post('/webhooks/fernpost', async (request) => {
  let call: WebhookCall;
  try {
    call = verifyWebhook(await request.req.text(), request.req.raw.headers, process.env.WEBHOOK_SECRET ?? '');
  } catch {
    return request.text('The signature is not valid.', 400);
  }
  const { contact } = call.data as { contact?: { email: string } };
  if (call.type === 'email.bounce' && contact) unreachable.add(contact.email);
  return request.body(null, 204);
});

app.get('/unreachable', (request) => request.json([...unreachable]));

app.onError((error, request) => {
  // What the service refuses is the caller's to correct, and it says what.
  if (error instanceof FernpostError && error.status < 500) return request.json({ error: error.message }, 422);
  console.error(error);
  return request.json({ error: 'try again' }, 500);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4000) }, ({ port }) => console.log(`listening on ${port}`));
