import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { pino } from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/lib/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { runTemporalWorkers } from '../../src/main/worker/temporal-workers.ts';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { loadPrivateModules } from '../../src/main/worker/workflow-thread.ts';
import { enqueue } from '../../src/store/outbox/queries.ts';
import { taskQueue } from '../../temporal/commands.ts';
import { testDatabase } from '../support/database.ts';
import { testTemporal } from '../support/worker.ts';

test('this version of the SDK has the private modules that a shared thread takes', async () => {
  const { program } = await loadPrivateModules();
  expect(program).toContain('workflow-worker-thread.js');
});

test.each(['true', 'false'])('workflows run with TEMPORAL_SHARED_WORKFLOW_THREAD=%s', async (shared) => {
  await using db = await testDatabase();
  await using server = await testTemporal();
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const config = readConfig({
    DATABASE_URL: db.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: server.queuePrefix,
    TEMPORAL_SETUP: 'false',
    TEMPORAL_SHARED_WORKFLOW_THREAD: shared,
  });
  await using worker = await startWorker(config, log);
  await worker.ready;
  const id = `test/${randomBytes(8).toString('hex')}`;
  await enqueue(db.db, { type: 'start', workflow: 'retention', id, input: null });
  await expect.poll(() => server.result(id).catch(() => null)).toMatchObject({ outbox: 0 });
  const stack = server.client.workflow.getHandle(id).query<string>('__stack_trace');
  if (shared === 'true') await expect(stack).rejects.toThrow('stack traces are not enabled');
  else expect(await stack).toBeTypeOf('string');
  expect(lines.filter((line) => line.includes('cannot share a thread'))).toEqual([]);
});

test('a workflow that never returns ends its thread, and other executions go on', async () => {
  await using server = await testTemporal();
  const lines: string[] = [];
  const workers = runTemporalWorkers({
    temporal: server.temporal,
    log: pino({}, { write: (line: string) => lines.push(line) }),
    sharesThread: true,
    interceptors: [],
    bundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../support/hanging-workflows.ts', import.meta.url)),
    }),
    queues: [
      {
        taskQueue: taskQueue(server.queuePrefix, 'http'),
        activities: {},
        maxCachedWorkflows: 10,
        maxActivities: 2,
      },
    ],
  });
  onTestFinished(() => workers.stop());
  await workers.ready;
  const run = { taskQueue: taskQueue(server.queuePrefix, 'http'), args: [] };
  const hung = await server.client.workflow.start('hangs', { ...run, workflowId: `test/${newId()}` });
  await expect.poll(() => lines.filter((line) => line.includes('"serving ')).length).toBe(2);
  expect(lines.join()).toContain('a workflow did not return for ten seconds');
  expect(await server.client.workflow.execute('returns', { ...run, workflowId: `test/${newId()}` })).toBe('done');
  // Calls of the new thread are limited, so that it goes on by itself.
  await expect.poll(async () => (await hung.describe()).raw.pendingWorkflowTask?.attempt ?? 0).toBeGreaterThan(2);
  expect(lines.filter((line) => line.includes('"serving ')).length).toBe(2);
  await hung.terminate();
});

test('workers are made anew where the credentials of the connection were renewed', async () => {
  await using server = await testTemporal();
  const { temporal, queuePrefix } = server;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const queue = { taskQueue: taskQueue(queuePrefix, 'http'), activities: { hello: async () => 'hello' } };
  const workers = runTemporalWorkers({
    ...{ temporal, log, sharesThread: false, interceptors: [], bundle: { code: '' } },
    queues: [{ ...queue, maxCachedWorkflows: 0, maxActivities: 2 }],
  });
  onTestFinished(() => workers.stop());
  await workers.ready;
  temporal.renew({ ...temporal.settings });
  await expect.poll(() => lines.filter((line) => line.includes('"serving ')).length).toBe(2);
});
