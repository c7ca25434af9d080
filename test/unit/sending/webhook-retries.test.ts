import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newSecret, payloadOf, signedHeaders } from '../../../src/insight/webhooks/payload.ts';
import { afterCall } from '../../../src/insight/webhooks/retries.ts';

const now = new Date('2026-11-22T12:00:00Z');
const answered = (statusCode: number | null, retryAfter: string | null = null) => ({ statusCode, retryAfter });

describe('what follows from a call', () => {
  test('2xx is taken, 410 disables the endpoint, everything else is tried again', () => {
    expect(afterCall(answered(204), 1, now, 0).status).toBe('DELIVERED');
    expect(afterCall(answered(410), 1, now, 0)).toMatchObject({ status: 'PENDING', isGone: true });
    for (const statusCode of [null, 301, 400, 404, 500])
      expect(afterCall(answered(statusCode), 1, now, 0.5)).toMatchObject({
        status: 'PENDING',
        dueInMs: 5_000,
        restMs: null,
      });
  });

  test('ten attempts take 75 hours, and the tenth is the last', () => {
    const pauses = Array.from({ length: 10 }, (_, n) => afterCall(answered(500), n + 1, now, 0.5));
    expect(pauses.at(-1)?.status).toBe('FAILED');
    const hours = pauses.reduce((sum, { dueInMs }) => sum + dueInMs, 0) / 3_600_000;
    expect(Math.floor(hours)).toBe(75);
  });

  test('an overloaded endpoint rests as long as it asks for, at most an hour', () => {
    expect(afterCall(answered(503), 1, now, 0).restMs).toBe(30_000);
    expect(afterCall(answered(429, '120'), 1, now, 0)).toMatchObject({ restMs: 120_000, dueInMs: 120_000 });
    expect(afterCall(answered(429, 'Sun, 22 Nov 2026 12:01:00 GMT'), 1, now, 0).restMs).toBe(60_000);
    expect(afterCall(answered(500, '999999'), 1, now, 0).restMs).toBe(3_600_000);
    expect(afterCall(answered(500, 'soon'), 1, now, 0).restMs).toBeNull();
  });
});

test('a rotated secret leaves two signatures, and each is one of Standard Webhooks', () => {
  const secrets = [newSecret(), newSecret()];
  const headers = signedHeaders(secrets, { id: 'evt_1', at: now, body: '{"größe":1}' });
  expect(headers['webhook-timestamp']).toBe(String(now.getTime() / 1000));
  expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
  // The example of the specification.
  const example = signedHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
  });
  expect(example['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('a body never exceeds 20 kB for the data of an event, and says what it left out', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(40_000), (text, size) => {
      const event = {
        eventId: '0',
        name: 'plan.changed',
        at: now.toISOString(),
        data: { text, more: 'é'.repeat(size) },
        contact: null,
        emailId: null,
      };
      const body = payloadOf(event, 'full');
      const parsed = JSON.parse(body);
      expect(parsed.truncated === true || Buffer.byteLength(body) <= 20 * 1024).toBe(true);
      if (parsed.truncated === undefined) expect(parsed.data.event.data).toEqual(event.data);
      else expect(parsed.data.event).toEqual({ id: '0', name: 'plan.changed' });
    }),
  );
});
