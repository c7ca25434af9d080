import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { signalOrStart } from '../../src/store/outbox/calls.ts';
import { signals, workflowId } from '../../temporal/commands.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import type { ChildOptions } from '../support/delivery-child.ts';
import { aProject, queueMany } from '../support/delivery-fixtures.ts';
import { smtpServer } from '../support/smtp.ts';
import { testTemporal } from '../support/worker.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(() => store.close());

const connections = 8;

test('kill -9 of a worker that sends by SMTP: nothing twice, and in doubt is only what was on the wire', async () => {
  // The answer to each message comes late, so that the worker dies with messages that were taken and not answered.
  const smtp = await smtpServer({
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        smtp.taken.push({ from: '', to, mime: '' });
        setTimeout(done, 20);
      });
    },
  });
  onTestFinished(() => smtp.close());
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 600);
  await using server = await testTemporal();
  const options = {
    databaseUrl: store.url,
    temporalAddress: inject('temporalAddress'),
    queuePrefix: server.queuePrefix,
    smtp: { host: smtp.host, port: smtp.port, connections },
    lagMs: 500,
  };
  const first = await aChild(options);
  const id = workflowId.delivery(project.id);
  const launch = { workflow: 'emailDelivery', id, input: { projectId: project.id } } as const;
  await signalOrStart(server.temporal, server.queuePrefix, launch, signals.wake);
  while (smtp.taken.length < 200) await sleep(10);
  first.kill('SIGKILL');
  await once(first, 'exit');

  await aChild(options);
  await server.result(id);
  const reached = smtp.taken.flatMap(({ to }) => to);
  expect(reached).toHaveLength(new Set(reached).size);
  const rows = await store.db.rows<{ address: string; status: string; error: string | null }>(
    'select to_address as address, status, mail_reason_text(reason) as error from emails where project_id = $1',
    [project.id],
  );
  const sent = rows.filter(({ status }) => status === 'SENT').map(({ address }) => address);
  const doubtful = rows.filter(({ status }) => status !== 'SENT');
  expect(rows).toHaveLength(600);
  expect(doubtful.every(({ status, error }) => status === 'FAILED' && error === 'submission unknown')).toBe(true);
  expect(doubtful.length).toBeLessThanOrEqual(connections);
  expect(sent.filter((address) => !reached.includes(address))).toEqual([]);
  const missing = addresses.filter((address) => !reached.includes(address));
  expect(missing.filter((address) => !doubtful.some((row) => row.address === address))).toEqual([]);
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
