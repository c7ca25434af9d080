import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../src/lib/config/config.ts';
import { newId } from '../src/lib/ids.ts';
import { pause } from '../src/lib/time.ts';
import { createFirstProject } from '../src/main/projects/first-project.ts';
import { openTemporal } from '../temporal/connection.ts';
import { prepareNamespace } from '../temporal/setup.ts';
import { anAutomation, anEvent, type TestAutomation } from '../test/support/automation-fixtures.ts';
import { type Bench, countOf, median, people, seconds, tell, until } from './support/automation-bench.ts';
import { crowd } from './support/automation-crowd.ts';
import { benchServices, benchStore } from './support/services.ts';

const runs = Number(process.env.BENCH_RUNS ?? 1_000);
const burst = Number(process.env.BENCH_BURST ?? 100_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
// One part alone, for machines on which all of them take too long: throughput, latency, crowd or burst.
const part = process.env.BENCH_PART ?? '';
const delayMs = 200;

/** Runs of an automation a second beside a bare workflow, event to next step, and what many waiting runs cost. */
export async function benchAutomation(): Promise<void> {
  await using services = await benchServices({ temporal: true });
  const { databaseUrl, temporalAddress } = services;
  await using temporal = openTemporal({ address: temporalAddress, namespace: 'default', apiKey: null, tls: null });
  await prepareNamespace(temporal);
  const queuePrefix = `bench-${newId().slice(-6)}`;
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: queuePrefix,
    LOG_LEVEL: 'info',
  };
  const project = await createFirstProject(readConfig(env));
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const store = await benchStore(databaseUrl, 4);
  await store.db.rows('create table bare_runs (id uuid primary key, step integer not null default 0)');
  const floor = await processOf('./support/automation-bare-process.ts', env);
  const worker = await processOf('../src/main/worker.ts', env);
  try {
    const bench = { store, temporal, queuePrefix, worker, floor, projectId: project.projectId };
    const parts = { throughput, latency, crowd, burst: arrivals };
    for (const [name, measure] of Object.entries(parts)) if (part === '' || part === name) await measure(bench);
  } finally {
    for (const child of [floor, worker]) child.kill('SIGKILL');
    await store.close();
  }
}

async function throughput(bench: Bench): Promise<void> {
  const automation = await anAutomation(bench.store.db, bench.projectId, {
    event: 'bench.began',
    steps: {
      delay: ['DELAY', { amount: delayMs / 60_000, unit: 'minutes' }],
      check: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
      set: ['UPDATE_CONTACT', { updates: { stage: 'activated' } }],
      out: ['EXIT'],
    },
    ways: [
      ['trigger', 'delay'],
      ['delay', 'check'],
      ['check.yes', 'set'],
      ['set', 'out'],
    ],
  });
  await bareRuns(bench, 100);
  await ourRuns(bench, automation, 100);
  const floors: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await bareRuns(bench, runs));
    ours.push(await ourRuns(bench, automation, runs));
  }
  const [floor, our] = [median(floors), median(ours)];
  console.log(`\nAutomations: ${runs} runs of trigger, delay, condition, update, exit, ${rounds} rounds`);
  console.log(`  floor, a bare workflow with two local activities and a timer  ${floor.toFixed(1)} runs/s`);
  console.log(`  Fernpost, from the stored event to the end of the run         ${our.toFixed(1)} runs/s`);
  console.log(`  ratio ${(our / floor).toFixed(2)} (goal 0.7)`);
}

async function bareRuns({ store, temporal, queuePrefix }: Bench, count: number): Promise<number> {
  const ids = Array.from({ length: count }, () => newId());
  await store.db.count('insert into bare_runs (id) select * from unnest($1::uuid[])', [ids]);
  const left = [...ids];
  const started = performance.now();
  // As many calls under way as the outbox has.
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        await temporal.client.workflow.start('bare', {
          workflowId: `bare/${id}`,
          taskQueue: `${queuePrefix}-bare`,
          args: [{ id, delayMs }],
        });
    }),
  );
  await until(store, 'select count(*)::int as count from bare_runs where step = 2 and id = any ($1)', [ids], count);
  return (1000 * count) / (performance.now() - started);
}

async function ourRuns(bench: Bench, automation: TestAutomation, count: number): Promise<number> {
  const contacts = await people(bench, count);
  const started = performance.now();
  await tell(bench, contacts, 'bench.began');
  await until(
    bench.store,
    `select count(*)::int as count from automation_runs where automation_id = $1 and status = 'EXITED' and contact_id = any ($2)`,
    [automation.id, contacts],
    count,
  );
  return (1000 * count) / (performance.now() - started);
}

async function latency(bench: Bench): Promise<void> {
  const { db } = bench.store;
  const automation = await anAutomation(db, bench.projectId, {
    event: 'latency.began',
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'latency.event' }], out: ['EXIT'] },
  });
  const contacts = await people(bench, 60);
  await tell(bench, contacts, 'latency.began');
  await until(bench.store, countOf, [automation.id, 'WAITING'], contacts.length);
  await pause(1_000);
  const times: number[] = [];
  for (const [n, contact] of contacts.entries()) {
    const started = performance.now();
    await anEvent(db, bench.projectId, contact, 'latency.event');
    await until(bench.store, countOf, [automation.id, 'EXITED'], n + 1, 2);
    times.push(performance.now() - started);
    await pause(100);
  }
  times.sort((one, other) => one - other);
  console.log(`\nEvent to next step under low load, ${times.length} times`);
  console.log(
    `  median ${median(times).toFixed(0)} ms (goal 100), 95th of 100 ${times[Math.floor(times.length * 0.95)]?.toFixed(0)} ms`,
  );
}

async function arrivals(bench: Bench): Promise<void> {
  await anAutomation(bench.store.db, bench.projectId, { event: 'burst.began', steps: { out: ['EXIT'] } });
  const contacts = await people(bench, burst);
  const started = performance.now();
  await tell(bench, contacts, 'burst.began');
  const { db } = bench.store;
  const stored = performance.now() - started;
  const row = await db.row<{ count: number }>(
    `select (select count(*) from automation_arrivals) + (select count(*) from automation_runs r join automations a on a.id = r.automation_id
       where a.event_name = 'burst.began') as count`,
  );
  console.log(`\nA burst of ${burst.toLocaleString('en')} starts`);
  console.log(
    `  stored in ${seconds(stored)} by statements of 1,000, ${Number(row?.count).toLocaleString('en')} wait or are inside`,
  );
}

async function processOf(file: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  // The parent watchdog ends it when this process is gone, however that came about.
  const parentWatchdog = import.meta.resolve('@fernpost/local-stack/parent-watchdog');
  const child = spawn(process.execPath, ['--import', parentWatchdog, fileURLToPath(new URL(file, import.meta.url))], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await new Promise<void>((ready, failed) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('the worker works')) ready();
    });
    child.once('exit', (code) => failed(new Error(`${file} ended with ${code}`)));
  });
  return child;
}

if (import.meta.main) await benchAutomation();
