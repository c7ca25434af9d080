import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createSandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { createPostmarkMailer } from '../../src/domains/providers/postmark/postmark.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Pace } from '../../src/mail/engine/run.ts';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import { signalOrStart } from '../../src/store/outbox/calls.ts';
import { signals, workflowId } from '../../temporal/commands.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import type { ChildOptions } from '../support/delivery-child.ts';
import { aContact, aProject, plainly, queueMail, queueMany, type TestProject } from '../support/delivery-fixtures.ts';
import { testTemporal } from '../support/worker.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(() => store.close());
beforeEach(() => store.db.count('delete from provider_holds'));

const pace: Pace = { claims: 4, lingerMs: 0, longestMs: 600_000 };

async function aSandbox() {
  const sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
  });
  onTestFinished(() => sandbox.close());
  const stats = async () => {
    const answer = await fetch(`${sandbox.url}/api/stats?metadata=eid`);
    return (await answer.json()) as {
      stored: number;
      calls: number;
      metadata: { messages: number; distinct: number; repeated: unknown[] };
    };
  };
  const fault = async (body: object) => {
    const answer = await fetch(`${sandbox.url}/api/faults`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
  };
  return { url: sandbox.url, stats, fault };
}

function mailerAt(apiUrl: string) {
  return createPostmarkMailer({
    serverToken: 'sandbox',
    apiUrl,
    streams: { transactional: 'outbound', broadcast: 'broadcast' },
    log: { warn: () => undefined },
    timeouts: { send: 500 },
  });
}

async function deliverAll(project: TestProject, apiUrl: string): Promise<number> {
  const silent = () => undefined;
  const deps = {
    db: store.db,
    mailer: mailerAt(apiUrl),
    compose: plainly,
    log: { info: silent, warn: silent },
    rate: 0,
    lagMs: 700,
  };
  let delivered = 0;
  for (let run = 0; run < 40; run += 1) {
    const stop = new AbortController().signal;
    const report = await deliverPending(
      deps,
      { projectId: project.id, prefix: `${newId()}/1/`, attempt: 1, stop },
      pace,
    );
    delivered += report.delivered;
    if (report.waitMs === null) return delivered;
    await store.db.count(
      'update provider_holds set held_until = clock_timestamp() - make_interval(secs => 1) where held_until is not null',
    );
    await store.db.count(
      'update email_queue set due_at = clock_timestamp() - make_interval(secs => 1) where claim_id is null',
    );
    await sleep(Math.min(report.waitMs, 800));
  }
  throw new Error('the queue does not get empty');
}

const statuses = (project: TestProject) =>
  store.db.rows<{ to_address: string; status: string; message_id: string | null; error: string | null }>(
    'select to_address, status, message_id, mail_reason_text(reason) as error from emails where project_id = $1 order by to_address',
    [project.id],
  );

test('Postmark’s API, real client and all: what is SENT is what the provider holds, under the ids it gave', async () => {
  const sandbox = await aSandbox();
  const project = await aProject(store.db);
  for (const [local, to] of Object.entries({
    ada: 'ada@example.com',
    inactive: 'inactive@example.com',
    invalid: 'invalid@example.com',
  }))
    await queueMail(store.db, project, await aContact(store.db, project.id, to), to, { toName: local });
  await deliverAll(project, sandbox.url);
  const rows = await statuses(project);
  expect(rows.map(({ to_address, status }) => [to_address, status])).toEqual([
    ['ada@example.com', 'SENT'],
    ['inactive@example.com', 'BOUNCED'],
    ['invalid@example.com', 'FAILED'],
  ]);
  expect(rows[2]?.error).toMatch(/^Refused by the provider \(300\): /);
  const { messages } = (await (await fetch(`${sandbox.url}/api/messages`)).json()) as { messages: { id: string }[] };
  expect(messages.map(({ id }) => id)).toEqual([rows[0]?.message_id]);
});

test.each([
  ['answers cut off after the provider took the mail', [{ kind: 'drop-answer', times: 3 }]],
  ['a provider that takes the mail and answers after our patience', [{ kind: 'delay', ms: 900, times: 2 }]],
  ['a provider that neither takes nor answers', [{ kind: 'hang', ms: 900, times: 2 }]],
  [
    '429 with a time to wait, then 503, then 500',
    [429, 503, 500].map((status) => ({ kind: 'status', status, times: 1 })),
  ],
  ['a token that is refused for a while', [{ kind: 'status', status: 401, errorCode: 10, times: 2 }]],
  ['an account that may not send for a while', [{ kind: 'reject', errorCode: 412, times: 2 }]],
  [
    'a search that is down while answers are lost',
    [
      { kind: 'drop-answer', times: 2 },
      { kind: 'status', status: 503, path: '/messages/outbound', times: 3 },
    ],
  ],
])('%s: nothing missing, nothing twice', async (_, faults) => {
  const sandbox = await aSandbox();
  const project = await aProject(store.db);
  await queueMany(store.db, project, 1100);
  for (const fault of faults) await sandbox.fault(fault);
  await deliverAll(project, sandbox.url);
  expect((await sandbox.stats()).metadata).toMatchObject({ messages: 1100, distinct: 1100, repeated: [] });
  expect(new Set((await statuses(project)).map(({ status }) => status))).toEqual(new Set(['SENT']));
  const events = await store.db.row<{ all: number; mails: number }>(
    `select count(*)::int as all, count(distinct email_id)::int as mails from events where project_id = $1`,
    [project.id],
  );
  expect(events).toEqual({ all: 1100, mails: 1100 });
});

test('kill -9 of the worker in the middle: the next one finishes, nothing missing, nothing twice', async () => {
  const sandbox = await aSandbox();
  const project = await aProject(store.db);
  await queueMany(store.db, project, 4000);
  // Answers come late, so that the worker dies with calls that were taken and with claims that were not handed over.
  await sandbox.fault({ kind: 'delay', ms: 5_000, times: 1_000 });
  await using server = await testTemporal();
  const options = {
    databaseUrl: store.url,
    temporalAddress: inject('temporalAddress'),
    queuePrefix: server.queuePrefix,
    sandboxUrl: sandbox.url,
    lagMs: 1000,
  };
  const first = await aChild(options);
  const id = workflowId.delivery(project.id);
  const launch = { workflow: 'emailDelivery', id, input: { projectId: project.id } } as const;
  await signalOrStart(server.temporal, server.queuePrefix, launch, signals.wake);
  while ((await sandbox.stats()).metadata.messages < 1000) await sleep(20);
  first.kill('SIGKILL');
  await once(first, 'exit');
  const open = await store.db.row<{ n: number }>(
    'select count(*)::int as n from email_queue where claim_id is not null',
  );
  expect(open?.n).toBeGreaterThan(0);
  await fetch(`${sandbox.url}/api/faults`, { method: 'DELETE' });

  await aChild(options);
  const result = await server.result<{ delivered: number }>(id);
  expect(result.delivered).toBeGreaterThan(0);
  expect((await sandbox.stats()).metadata).toMatchObject({ messages: 4000, distinct: 4000, repeated: [] });
  const rows = await statuses(project);
  expect(rows.filter(({ status, message_id }) => status !== 'SENT' || message_id === null)).toEqual([]);
  expect(rows).toHaveLength(4000);
  const events = await store.db.row<{ all: number; mails: number }>(
    `select count(*)::int as all, count(distinct email_id)::int as mails from events where project_id = $1`,
    [project.id],
  );
  expect(events).toEqual({ all: 4000, mails: 4000 });
});

async function aChild(options: ChildOptions): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('../support/delivery-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}
