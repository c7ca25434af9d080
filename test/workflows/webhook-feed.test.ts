import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { startReceiver } from '../support/receiver.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const aWorker = () => startWorker(api.config, pino({ level: 'silent' }), { mailer: new FakeMailer({}) });

test('tracked events reach the endpoint while workers come and go and the receiver fails now and then', async () => {
  await using receiver = await startReceiver((_, response, number) => {
    if (number % 7 === 3) response.destroy();
    else response.writeHead(number % 11 === 5 ? 500 : 200).end();
  });
  const project = await aProject(database);
  const url = `http://127.0.0.1:${receiver.port}/`;
  const endpoint = await api.call(project.secretKey, 'POST', '/webhook-endpoints', { url, events: ['order.*'] });
  const id: string = endpoint.body.id;
  let tracked = 0;
  const track = async (count: number) => {
    for (const end = tracked + count; tracked < end; tracked += 1) {
      const body = { email: `p${tracked % 10}@example.org`, event: tracked % 3 === 0 ? 'other' : 'order.paid' };
      expect((await api.call(project.publicKey, 'POST', '/v1/track', body)).status).toBe(200);
    }
  };
  await track(30);
  {
    await using _first = await aWorker();
    await expect.poll(() => receiver.requests.length).toBeGreaterThan(5);
    await track(30);
  }
  await track(30);
  await using _second = await aWorker();
  const statuses = async () => {
    // A failed attempt is not waited for.
    await database.db.rows(
      "update webhook_deliveries set due_at = now() - make_interval(secs => 1) where status = 'PENDING' and attempts > 0",
    );
    const { body } = await api.call(project.secretKey, 'GET', `/webhook-endpoints/${id}/audit`);
    return body;
  };
  const expected = 60;
  await expect
    .poll(statuses, { interval: 500 })
    .toMatchObject({ events: expected, delivered: expected, addsUp: true, firstSequence: 1, lastSequence: expected });
  const sequenceOf = new Map<string, string>();
  for (const { headers } of receiver.requests) {
    const [webhookId, sequence] = [String(headers['webhook-id']), String(headers['webhook-sequence'])];
    expect(sequenceOf.get(webhookId) ?? sequence).toBe(sequence);
    sequenceOf.set(webhookId, sequence);
  }
  expect(sequenceOf.size).toBe(expected);
});
