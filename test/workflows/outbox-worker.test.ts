import { randomBytes } from 'node:crypto';
import { freePorts } from '@fernpost/local-stack';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../src/lib/config/config.ts';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { enqueue } from '../../src/store/outbox/queries.ts';
import { testDatabase } from '../support/database.ts';
import { temporalFailures, temporalMetrics } from '../support/deploy.ts';
import { doorTo } from '../support/door.ts';
import { testTemporal } from '../support/worker.ts';

test('a worker starts without Temporal, works once it is there, outlives its absence, and stops cleanly', async () => {
  await using db = await testDatabase();
  await using server = await testTemporal();
  await using door = await doorTo(inject('temporalAddress'));
  const [metricsPort] = await freePorts(1);
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const config = readConfig({
    DATABASE_URL: db.url,
    TEMPORAL_ADDRESS: door.address,
    TEMPORAL_TASK_QUEUE: server.queuePrefix,
    TEMPORAL_SETUP: 'false',
    WORKER_METRICS_PORT: String(metricsPort),
  });
  const worker = await startWorker(config, log);
  const said = (text: string) => lines.filter((line) => line.includes(text)).length;
  try {
    const startSweep = async () => {
      const id = `test/${randomBytes(8).toString('hex')}`;
      await enqueue(db.db, { type: 'start', workflow: 'retention', id, input: null });
      return id;
    };
    const first = await startSweep();
    await expect.poll(() => said('waiting for Temporal')).toBe(1);
    await db.db.rows(
      `insert into outbox (id, dedupe_key, kind, workflow_id, payload, done_at)
       values (gen_random_uuid(), 'old', 'start', 'old', '{}', now() - interval '2 days')`,
    );

    const readiness = async () => (await fetch(`http://127.0.0.1:${metricsPort}/ready`)).status;
    expect(await readiness()).toBe(503);
    await door.open();
    await worker.ready;
    expect(await readiness()).toBe(200);
    await expect.poll(() => server.result(first).catch(() => null)).toMatchObject({ outbox: 1 });
    expect(said('waiting for Temporal')).toBe(1);
    expect(said('"activity":"removeOldRows"')).toBe(1);

    await door.shut();
    await expect.poll(readiness).toBe(503);
    const second = await startSweep();
    await expect.poll(() => said('work is kept')).toBeGreaterThan(0);
    await door.open();
    await expect.poll(() => server.result(second).catch(() => null)).toMatchObject({ outbox: 0 });
    await expect.poll(readiness).toBe(200);

    const base = `http://127.0.0.1:${metricsPort}`;
    expect(await (await fetch(`${base}/health`)).json()).toEqual({ status: 'ok' });
    const figures = await (await fetch(`${base}/metrics`)).text();
    expect(figures).toMatch(/fernpost_activity_attempts_total\{activity="removeOldRows",outcome="done"\} 2/);
    expect(figures).toMatch(/fernpost_outbox_calls_total\{kind="start",outcome="done"\} 2/);
    expect(figures).toMatch(/^fernpost_pool_connections\{state="idle"\} \d/m);
    const asked = Object.keys(temporalMetrics).filter((name) => !temporalFailures.includes(name));
    for (const name of asked) {
      const labels = figures.split('\n').find((line) => line.startsWith(name) && line.includes('{'));
      for (const label of temporalMetrics[name] ?? []) expect(labels, name).toContain(`${label}="`);
    }
  } finally {
    await worker.close();
  }
  await expect(fetch(`http://127.0.0.1:${metricsPort}/health`)).rejects.toThrow();
});
