import { createSandbox } from '@fernpost/mail-sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { createPostmarkMailer } from '../../src/domains/providers/postmark/postmark.ts';
import { decideRestored, restoreReports } from '../../src/feedback/reports/restored.ts';
import { firstIdAt } from '../../src/lib/ids.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { reconcileNow } from '../../temporal/setup.ts';
import { aProject, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { aContact, queueMail } from '../support/delivery-fixtures.ts';
import { temporalStore } from '../support/temporal-store.ts';
import { workerProcess } from '../support/worker-process.ts';

test('a worker whose database was set back holds mail, though it is killed, and goes on once the provider was asked', async () => {
  const [database, store] = await Promise.all([testDatabase(), temporalStore()]);
  onTestFinished(() => database.close());
  onTestFinished(() => store[Symbol.asyncDispose]());
  const sandbox = await createSandbox({
    ...{
      host: '127.0.0.1',
      port: 0,
      dataDir: null,
      webhookUrl: null,
      webhookUser: '',
      webhookPassword: '',
      delayMs: 0,
    },
  });
  onTestFinished(() => sandbox.close());
  const given = { TEMPORAL_ADDRESS: store.address, TEMPORAL_SETUP: 'true', POSTMARK_API_URL: sandbox.url };
  const api = await testApi(database, given);
  onTestFinished(() => api.close());
  const temporal = openTemporal({ address: store.address, namespace: 'default', apiKey: null, tls: null });
  onTestFinished(() => temporal.close());
  const { db } = database;
  const project = await aProject(database);
  const arrived = async () =>
    (
      (await (await fetch(`${sandbox.url}/api/messages?limit=100`)).json()) as {
        messages: { to: { email: string }[] }[];
      }
    ).messages
      .map(({ to }) => to[0]?.email)
      .toSorted();

  // Two mails of before that instant, one of which was handed over after it.
  const earlier = new Date(Date.now() - 600_000);
  const ids: string[] = [];
  for (const [place, name] of ['sent', 'unknown'].entries()) {
    const contact = await aContact(db, project.id, `${name}@example.com`);
    const id = firstIdAt(new Date(earlier.getTime() + place));
    ids.push(await queueMail(db, project, contact, `${name}@example.com`, { id }));
  }
  await db.count('update email_queue set created_at = $1, due_at = $1', [earlier]);
  const [id = ''] = ids;
  const streams = { transactional: 'outbound', broadcast: 'broadcast' };
  const mailer = createPostmarkMailer({
    ...{ serverToken: 'sandbox', apiUrl: sandbox.url, streams, log: { warn: () => undefined } },
  });
  const message = {
    ...{
      emailId: id,
      projectId: project.id,
      from: { address: project.sender, name: null },
      replyTo: null,
      headers: [],
    },
    ...{ to: { address: 'sent@example.com', name: null }, subject: 'Sent', html: '<p>Sent</p>', text: null },
    ...{ attachments: [], tag: 'TRANSACTIONAL', stream: 'transactional' as const, tracking: false },
  };
  await mailer.send('forgotten', [message]);
  expect(await arrived()).toEqual(['sent@example.com']);

  const settings = {
    ...given,
    DATABASE_URL: database.url,
    TEMPORAL_TASK_QUEUE: api.config.TEMPORAL_TASK_QUEUE,
    RESTORED_TO: new Date(Date.now() - 300_000).toISOString(),
  };
  const killed = await workerProcess(settings);
  const answer = await api.call(project.secretKey, 'POST', '/v1/send', {
    ...{ to: 'new@example.com', from: project.sender, subject: 'New', body: '<p>New</p>' },
  });
  expect(answer.status).toBe(200);
  await killed.kill();
  expect(killed.log).toContain('mail is held until the provider has been asked');
  await using worker = await workerProcess(settings);
  expect(await restoreReports(db)).toMatchObject([{ phase: 'SEARCHING', outcomes: {} }]);
  expect(await arrived()).toEqual(['sent@example.com']);

  // The two minutes for which mail is held.
  await db.count(`update restores set held_at = held_at - interval '2 minutes'`);
  const finished = async () => {
    await reconcileNow(temporal, api.config.TEMPORAL_TASK_QUEUE);
    return restoreReports(db);
  };
  await expect
    .poll(finished, { interval: 1000 })
    .toMatchObject([{ phase: 'FINISHED', outcomes: { SETTLED: 1, UNKNOWN: 1 }, unknown: [{ emailId: ids[1] }] }]);
  await expect.poll(arrived).toEqual(['new@example.com', 'sent@example.com']);
  expect(worker.log).toContain('was compared with the mail provider, and mail goes on');
  expect(await db.row('select status, message_id is not null as known from emails where id = $1', [id])).toEqual({
    status: 'SENT',
    known: true,
  });
  expect(await decideRestored(db, 'send')).toBe(1);
  await expect.poll(arrived).toEqual(['new@example.com', 'sent@example.com', 'unknown@example.com']);
});
