import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { createTransport } from 'nodemailer';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emailActivities } from '../../activities/mail.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { traced } from '../../src/lib/telemetry.ts';
import { startTracing } from '../../src/main/setup/tracing.ts';
import { startSmtp } from '../../src/main/smtp/smtp-runtime.ts';
import { Outbox } from '../../src/store/outbox/dispatcher.ts';
import { enqueue } from '../../src/store/outbox/queries.ts';
import { workflowId } from '../../temporal/commands.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { deliveryDeps } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { drawTrace, waterfall } from '../support/trace-picture.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

const picture = join(import.meta.dirname, '../../docs/operations/trace.svg');
const pace = { claims: 4, lingerMs: 50, longestMs: 5000 };
const systemMails: string[] = [];
let store: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;
const mailer = new FakeMailer({ name: 'postmark' });

beforeAll(async () => {
  store = await testDatabase();
  api = await testApi(store, { POSTMARK_WEBHOOK_TOKEN: 'battery-staple' }, { mailer });
  project = await aProject(store);
  const stopping = new AbortController().signal;
  const activities = {
    ...emailActivities({ ...deliveryDeps(store.db, mailer), stopping, pace }),
    sendSystemMail: async (id: string) => {
      systemMails.push(id);
      return { state: 'sent' };
    },
  };
  worker = await testWorker({ activities, queues: ['mail'], queuePrefix: api.config.TEMPORAL_TASK_QUEUE });
});
afterAll(async () => {
  await worker?.stop();
  await api?.close();
  await store?.close();
});

/** Runs work with tracing on, and returns the spans that it left. */
async function spansOf(settings: Record<string, string>, work: () => Promise<void>): Promise<ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const spans: ReadableSpan[] = [];
  const keep = exporter.export.bind(exporter);
  exporter.export = (batch, done) => {
    spans.push(...batch);
    keep(batch, done);
  };
  const tracing = startTracing(readConfig(settings), exporter);
  try {
    await work();
  } finally {
    await tracing.close();
  }
  return spans;
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const unsampledTraceId = '0af7651916cd43dd8448eb211c80319c';
const traceOf = (id: string) => store.db.row('select traceparent from emails where id = $1', [id]);

async function send(to: string, headers: Record<string, string>): Promise<string> {
  const body = { from: project.sender, to, subject: 'A secret subject', body: '<p>A secret body</p>' };
  const answer = await api.call(project.secretKey, 'POST', '/v1/send', body, headers);
  expect(answer.status).toBe(200);
  const id = answer.body.data.emails[0].email as string;
  await expect.poll(() => mailer.sent.some(({ emailId }) => emailId === id)).toBe(true);
  return id;
}

async function report(emailId: string, RecordType: string): Promise<void> {
  const MessageID = mailer.taken.find(({ message }) => message.emailId === emailId)?.messageId;
  const at = new Date().toISOString();
  const Metadata = { eid: emailId, pid: project.id };
  const body = { RecordType, MessageID, Recipient: 'traced@example.com', DeliveredAt: at, ReceivedAt: at, Metadata };
  const answer = await api.call(null, 'POST', '/webhooks/postmark/battery-staple', body);
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
}

const namesOf = (spans: readonly ReadableSpan[]) =>
  waterfall(spans).map(({ span, depth }) => `${'  '.repeat(depth)}${span.name}`);

const inTrace = (spans: readonly ReadableSpan[], id: string | undefined) =>
  spans.filter((span) => span.spanContext().traceId === id);

/** Leaves out rounds of the delivery that found nothing, of which a slow machine has more. */
function withoutVainRounds(spans: readonly ReadableSpan[]): ReadableSpan[] {
  const parents = new Set(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId));
  return spans.filter((span) => span.name !== 'activity deliverPending' || parents.has(span.spanContext().spanId));
}

test('one trace follows a mail from the request to the report of an open, and holds no address and no text', async () => {
  let id = '';
  // A picture of a first call would show how connections are made.
  if (process.env.DRAW_TRACE) {
    await send('warm@example.com', {});
    await worker.result(workflowId.delivery(project.id));
  }
  const spans = await spansOf({}, async () => {
    id = await send('traced@example.com', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    // The span of the activity ends with it.
    await worker.result(workflowId.delivery(project.id));
    await report(id, 'Delivery');
    await report(id, 'Open');
  });
  expect(await traceOf(id)).toEqual({ traceparent: expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`) });
  const own = withoutVainRounds(inTrace(spans, traceId));
  expect(namesOf(own)).toEqual([
    'POST /v1/send',
    '  accept mail',
    '    deliver mail',
    '    report delivery',
    '    report open',
    '  wake delivery',
    '    activity deliverPending',
    '      send postmark',
  ]);
  const byName = new Map(own.map((span) => [span.name, span]));
  expect(byName.get('POST /v1/send')?.attributes).toMatchObject({
    'http.route': '/v1/send',
    'http.response.status_code': 200,
    'fernpost.project.id': project.id,
  });
  expect(byName.get('deliver mail')?.attributes).toMatchObject({
    'fernpost.email.id': id,
    'fernpost.outcome': 'accepted',
  });
  expect(byName.get('activity deliverPending')?.attributes).toMatchObject({
    'temporal.workflow.id': workflowId.delivery(project.id),
    'temporal.workflow.type': 'emailDelivery',
  });
  // The request that brought the report is a trace of its own, to which that of the mail is linked.
  const brought = spans.filter(({ name }) => name === 'POST /webhooks/postmark/:token');
  expect(brought).toHaveLength(2);
  expect(byName.get('report open')?.links.map(({ context }) => context.traceId)).toEqual([
    brought.at(-1)?.spanContext().traceId,
  ]);
  const told = JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]));
  for (const secret of ['traced@example.com', 'secret', project.sender, project.secretKey, 'battery-staple'])
    expect(told).not.toContain(secret);
  if (process.env.DRAW_TRACE) writeFileSync(picture, drawTrace(own));
});

test('the picture in the docs has the spans of such a trace', () => {
  const shown = [...readFileSync(picture, 'utf8').matchAll(/<text x="\d+" y="\d+">([^<]+)<\/text>/g)].map(
    ([, text]) => text,
  );
  expect(shown.slice(3)).toEqual([
    'POST /v1/send',
    'accept mail',
    'deliver mail',
    'report delivery',
    'report open',
    'wake delivery',
    'activity deliverPending',
    'send postmark',
  ]);
});

test('what is not sampled leaves no span and no trace on its mail, and goes out as ever', async () => {
  let [ignored, unsampled] = ['', ''];
  const spans = await spansOf({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, async () => {
    ignored = await send('unsampled@example.com', {});
  });
  const others = await spansOf({}, async () => {
    unsampled = await send('unsampled@example.com', { traceparent: `00-${unsampledTraceId}-00f067aa0ba902b7-00` });
  });
  // A round of the delivery that the first test woke may end only now.
  expect([...spans, ...others].filter((span) => span.spanContext().traceId !== traceId)).toEqual([]);
  for (const id of [ignored, unsampled]) expect(await traceOf(id)).toEqual({ traceparent: null });
  const untraced = await send('untraced@example.com', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  expect(await traceOf(untraced)).toEqual({ traceparent: null });
});

test('a message by SMTP submission begins a trace, which its mail keeps', async () => {
  const woken: string[] = [];
  const settings = {
    DATABASE_URL: store.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: 'traces',
  };
  await using smtp = await startSmtp({ ...readConfig(settings), SMTP_IN_PORT: 0 }, pino({ level: 'silent' }), {
    wake: (id) => void woken.push(id),
  });
  const auth = { user: 'fernpost', pass: project.secretKey };
  const client = createTransport({ host: '127.0.0.1', port: smtp.ports.plain ?? 0, ignoreTLS: true, auth });
  let id = '';
  const spans = await spansOf({}, async () => {
    const letter = {
      from: project.sender,
      to: 'traced@example.com',
      subject: 'A secret subject',
      text: 'A secret body',
    };
    const { response } = await client.sendMail(letter);
    id = response.replace(/^.*Queued /s, '');
  });
  expect(namesOf(spans).slice(0, 2)).toEqual(['SMTP message', '  accept mail']);
  const [root] = spans.filter(({ name }) => name === 'SMTP message');
  expect(root?.attributes).toEqual({ 'fernpost.project.id': project.id, 'fernpost.recipients': 1 });
  expect(await traceOf(id)).toEqual({ traceparent: expect.stringContaining(root?.spanContext().traceId ?? 'none') });
  expect(JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]))).not.toMatch(/secret|example/);
  expect(woken).toEqual([project.id]);
});

test('the outbox carries the trace of a transaction to its execution, and rows without one go on', async () => {
  const { queuePrefix, temporal } = worker;
  const log = { info() {}, warn() {} } as unknown as ConstructorParameters<typeof Outbox>[0]['log'];
  const outbox = new Outbox({ db: store.db, temporal, queuePrefix, log, revivers: {} });
  const [tracedId, earlier] = [newId(), newId()];
  const command = (id: string) =>
    ({ type: 'start', workflow: 'systemMail', id: workflowId.systemMail(id), input: { mailId: id } }) as const;
  const spans = await spansOf({}, async () => {
    const before = await enqueue(store.db, command(earlier));
    const ticket = await traced('request', { isRoot: true }, () =>
      store.db.transaction((tx) => enqueue(tx, command(tracedId))),
    );
    outbox.dispatchSoon(before, ticket);
    for (const id of [earlier, tracedId]) {
      await expect.poll(() => systemMails).toContain(id);
      await worker.result(workflowId.systemMail(id));
    }
    await outbox.close();
  });
  // What an earlier test began may end only now.
  const [request] = spans.filter(({ name }) => name === 'request');
  expect(namesOf(inTrace(spans, request?.spanContext().traceId))).toEqual([
    'request',
    '  transaction',
    '    outbox start',
    '      activity sendSystemMail',
  ]);
});

test('spans leave by OTLP in protobuf, for the path and with the headers of the standard', async () => {
  const received: { url: string | undefined; type: string | undefined; body: string }[] = [];
  const collector = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      received.push({ url: request.url, type: request.headers['content-type'], body });
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const tracing = startTracing(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'herons' }));
  await traced('a request', { isRoot: true }, async () => undefined);
  await tracing.close();
  collector.close();
  expect(received).toEqual([
    { url: '/v1/traces', type: 'application/x-protobuf', body: expect.stringMatching(/herons[\s\S]*a request/) },
  ]);
});
