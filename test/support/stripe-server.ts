import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that a test's Stripe was asked for; `form` holds its parameters by the names of the wire. */
interface StripeCall {
  method: string;
  path: string;
  form: Record<string, string>;
}

/** What a route answers: an object with 200, or a Stripe error with its status. */
type StripeAnswer = object | { status: number; error: { type: string; code?: string; message: string } };

/** A server that speaks the calls of Stripe which billing uses. */
export interface StripeServer extends AsyncDisposable {
  url: string;
  calls: StripeCall[];
  /** What `METHOD /v1/…` answers; what is not named here does not exist. */
  answers: Map<string, StripeAnswer>;
  /** Identifiers of meter events that were taken, with their credits. */
  metered: Map<string, { customer: string; value: number }>;
}

/** Starts a Stripe that knows nothing but one secret key. */
export async function startStripeServer(secretKey: string): Promise<StripeServer> {
  const stripe = {
    url: '',
    calls: [] as StripeCall[],
    answers: new Map<string, StripeAnswer>(),
    metered: new Map<string, { customer: string; value: number }>(),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://stripe');
    const sent = chunks.length > 0 ? Buffer.concat(chunks).toString('utf8') : url.search.slice(1);
    const call = {
      method: request.method ?? '',
      path: url.pathname,
      form: Object.fromEntries(new URLSearchParams(sent)),
    };
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const refuse = (status: number, code: string, message: string) =>
      answer(status, { error: { type: 'invalid_request_error', code, message } });
    if (request.headers.authorization !== `Bearer ${secretKey}`) return refuse(401, 'api_key', 'Invalid API Key');
    stripe.calls.push(call);
    const own = stripe.answers.get(`${call.method} ${call.path}`);
    if (own !== undefined)
      return 'status' in own && 'error' in own ? answer(own.status as number, own) : answer(200, own);
    if (call.path === '/v1/billing/meter_events') {
      const { identifier = '' } = call.form;
      if (stripe.metered.has(identifier))
        return refuse(400, 'resource_already_exists', `An event already exists with identifier ${identifier}.`);
      stripe.metered.set(identifier, {
        customer: call.form['payload[stripe_customer_id]'] ?? '',
        value: Number(call.form['payload[value]']),
      });
      return answer(200, { object: 'billing.meter_event', identifier });
    }
    refuse(404, 'resource_missing', `No such object: ${call.path}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stripe.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(stripe, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
