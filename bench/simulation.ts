import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parse } from 'valibot';
import { factsOf } from '../src/automations/simulation/facts.ts';
import { SimulateWorkflow } from '../src/automations/simulation/schema.ts';
import { getSimulation, queueSimulation } from '../src/automations/simulation/service.ts';
import { Questions } from '../src/automations/simulation/world.ts';
import { draftGraph } from '../src/automations/versions.ts';
import { readConfig } from '../src/lib/config/config.ts';
import { newId } from '../src/lib/ids.ts';
import { pause } from '../src/lib/time.ts';
import { createFirstProject } from '../src/main/projects/first-project.ts';
import { type Database, sql } from '../src/store/sql.ts';
import { openTemporal } from '../temporal/connection.ts';
import { prepareNamespace } from '../temporal/setup.ts';
import { anAutomation, aTemplate } from '../test/support/automation-fixtures.ts';
import { median, memoryMb, seconds } from './support/automation-bench.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { benchServices, benchStore } from './support/services.ts';

const contacts = Number(process.env.BENCH_CONTACTS ?? 10_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const few = Math.min(1_000, contacts);
const days = 90;
const dayMs = 86_400_000;

/**
 * Simulates a workflow over the events of 90 days by the worker as it is shipped, each contact for 90 days: the time, beside that of a floor which
 * reads what is known of the same contacts and takes nobody anywhere, and the memory of the worker at a tenth of them and at all.
 */
export async function benchSimulation(): Promise<void> {
  await using services = await benchServices({ temporal: true });
  const { databaseUrl, temporalAddress } = services;
  await using temporal = openTemporal({ address: temporalAddress, namespace: 'default', apiKey: null, tls: null });
  await prepareNamespace(temporal);
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: `bench-${newId().slice(-6)}`,
    LOG_LEVEL: 'info',
  };
  const project = await createFirstProject(readConfig(env));
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const { projectId, sender } = project;
  await using store = await benchStore(databaseUrl, 2);
  const { db } = store;
  const automationId = await aJourney(db, { id: projectId, sender });
  await fill(db, projectId);
  const worker = await startWorker(env);
  try {
    console.log(`\nSimulation: ${contacts.toLocaleString('en')} contacts over ${days} days, ${rounds} rounds`);
    const idle = memoryMb(worker);
    // The first loads code and plans.
    await simulate(db, { projectId, automationId }, worker, few);
    const small = await simulate(db, { projectId, automationId }, worker, few);
    const floors: number[] = [];
    const ours: number[] = [];
    const peaks: [number, number] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      floors.push(await reading(db, { projectId, automationId }));
      const run = await simulate(db, { projectId, automationId }, worker, contacts);
      ours.push(run.ms);
      for (const half of [0, 1] as const) peaks[half] = Math.max(peaks[half], run.peaksMb[half]);
      console.log(
        `  floor ${seconds(floors.at(-1) ?? 0)}   simulation ${seconds(run.ms)}   processor time: ${run.cpu}`,
      );
      if (round === rounds - 1) console.log(`  ${run.told}`);
    }
    const [floor, our] = [median(floors), median(ours)];
    console.log(`  ${seconds(our)} (goal 60 s), ratio ${(our / floor).toFixed(1)} to reading alone`);
    console.log(`  memory of the worker: ${idle} MB idle, ${Math.max(...small.peaksMb)} MB at ${few} contacts,`);
    console.log(`    ${peaks[0]} MB in the first half of ${contacts}, ${peaks[1]} MB in the second`);
  } finally {
    worker.kill('SIGKILL');
  }
}

/** An onboarding of twelve steps: mail, two conditions on what was opened and bought, waits, a split, a change, exits and a goal. */
async function aJourney(db: Database, project: { id: string; sender: string }): Promise<string> {
  const template = await aTemplate(db, project, { type: 'MARKETING' });
  const mail = { templateId: template };
  const opened = { field: 'email.opened', operator: 'triggered', of: { templateId: template } };
  const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
  const large = [{ path: 'total', operator: 'greaterThan', value: 50 }];
  const automation = await anAutomation(db, project.id, {
    event: 'signup',
    steps: {
      day: ['DELAY', { amount: 1, unit: 'days' }],
      welcome: ['SEND_EMAIL', mail],
      days: ['DELAY', { amount: 3, unit: 'days' }],
      opened: ['CONDITION', { mode: 'tree', condition: all(opened) }],
      order: ['WAIT_FOR_EVENT', { eventName: 'order', where: large, timeout: 14 * 86_400 }],
      split: [
        'SPLIT',
        {
          branches: [
            { id: 'a', percent: 50 },
            { id: 'b', percent: 50 },
          ],
        },
      ],
      week: ['DELAY', { amount: 7, unit: 'days' }],
      remind: ['SEND_EMAIL', mail],
      active: [
        'CONDITION',
        {
          mode: 'tree',
          condition: all(
            { field: 'data.score', operator: 'greaterThan', value: 50 },
            { field: 'event.visit', operator: 'triggeredWithin', value: 30, unit: 'days' },
          ),
        },
      ],
      mark: ['UPDATE_CONTACT', { updates: { stage: 'active' } }],
      visit: ['WAIT_FOR_EVENT', { eventName: 'visit', timeout: 30 * 86_400 }],
      last: ['SEND_EMAIL', mail],
    },
    ways: [
      ...[
        ['trigger', 'day'],
        ['day', 'welcome'],
        ['welcome', 'days'],
        ['days', 'opened'],
        ['opened.yes', 'order'],
        ['opened.no', 'split'],
      ],
      ...[
        ['split.a', 'remind'],
        ['split.b', 'week'],
        ['week', 'remind'],
        ['order.EVENT', 'mark'],
        ['order.TIMEOUT', 'remind'],
      ],
      ...[
        ['remind', 'active'],
        ['active.yes', 'mark'],
        ['active.no', 'visit'],
        ['visit.EVENT', 'mark'],
        ['visit.TIMEOUT', 'last'],
        ['mark', 'last'],
      ],
    ] as [string, string][],
    exits: [
      { id: 'left', on: { event: 'account.closed' }, reason: 'closed' },
      {
        id: 'rich',
        on: { condition: all({ field: 'data.score', operator: 'greaterThan', value: 98 }) },
        reason: 'rich',
      },
    ],
    // Biome takes an object with `then` for a promise.
    goal: { on: { event: 'order', where: large }, withinDays: 60, ...Object.fromEntries([['then', 'count']]) },
  });
  return automation.id;
}

// Everything is made of the contact's number, so that every run simulates the same.
const at = (daysAgo: string) => `now() - make_interval(secs => 86400 * (${daysAgo})::float8)`;
const hash = (seed: number) => `(hashint8extended(n, ${seed}) & 1023)::int`;
const contactRows = `
  insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
  select uuidv7(), $1, 'walker-' || n || '@example.com', n % 20 > 0, jsonb_build_object('plan', 'pro', 'score', ${hash(1)} % 100, 'n', n),
    ${at('200')}, ${at('10')}
  from generate_series(1, $2::int) n`;
const signups = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select uuidv7(make_interval(secs => extract(epoch from at - now()))), $1, id, 'signup', '{"source": "bench"}', at
  from (select id, ${at(`180 - 89.0 * n / $2::int`)} as at from (select id, (data ->> 'n')::int as n from contacts where project_id = $1) c) s`;
// Ten events of each contact, from the beginning to now.
const visits = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select uuidv7(make_interval(secs => extract(epoch from at - now()))), $1, id,
    case when h % 10 < 3 then 'order' when h % 500 = 7 then 'account.closed' else 'visit' end, jsonb_build_object('total', h % 100), at
  from (select id, hashint8extended(n * 16 + k, 5) & 1023 as h, ${at('180.0 * (hashint8extended(n * 16 + k, 6) & 65535) / 65536')} as at
    from (select id, (data ->> 'n')::int as n from contacts where project_id = $1) c, generate_series(1, 10) k) s`;
const mails = `
  insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, template_id, status, sent_at, opened_at, created_at)
  select uuidv7(make_interval(secs => extract(epoch from at - now()))), $1, id, 'walker@example.com', 'hello@example.com', 'WORKFLOW', 'MARKETING',
    (select id from templates where project_id = $1), 'SENT', at, case when ${hash(7)} % 2 = 0 then at + interval '5 hours' end, at
  from (select id, n, ${at('179 - 89.0 * n / $2::int + k * 5')} as at
    from (select id, (data ->> 'n')::int as n from contacts where project_id = $1) c, generate_series(0, 1) k) s`;
const changes = `
  insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after)
  select id, ${at('180.0 * (hashint8extended(n * 16 + k, 8) & 65535) / 65536')}, $1, '{"type": "api"}',
    jsonb_build_object('score', ${hash(9)} % 100), jsonb_build_object('score', ${hash(1)} % 100), true, true
  from (select id, (data ->> 'n')::int as n from contacts where project_id = $1) c, generate_series(1, 3) k`;

async function fill(db: Database, projectId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows('set local session_replication_role = replica');
    await tx.count(contactRows, [projectId, contacts]);
    for (const statement of [signups, mails]) await tx.count(statement, [projectId, contacts]);
    for (const statement of [visits, changes]) await tx.count(statement, [projectId]);
    await tx.count(sql`update mikro_orm_migrations set executed_at = now() - interval '300 days'`);
    await tx.count(
      sql`update projects set updated_at = now() - interval '300 days', created_at = now() - interval '300 days'`,
    );
  });
  for (const table of ['contacts', 'events', 'emails', 'contact_history']) await db.rows(`vacuum (analyze) ${table}`);
}

const range = () => {
  const until = new Date(Date.now() - days * dayMs);
  return { from: new Date(until.getTime() - days * dayMs).toISOString(), until: until.toISOString() };
};

/** Reads what is known of all contacts as a simulation does, and does nothing with it. */
async function reading(db: Database, place: { projectId: string; automationId: string }): Promise<number> {
  const { from } = range();
  const graph = await draftGraph(db, place.automationId);
  const questions = new Questions();
  await questions.add(db, place.projectId, graph);
  const people = await db.rows<{ id: string }>(
    sql`select id from contacts where project_id = ${place.projectId} order by id`,
  );
  const ids = people.map(({ id }) => id);
  const began = performance.now();
  let events = 0;
  for (let first = 0; first < ids.length; first += 50) {
    const asked = { from, until: new Date().toISOString(), asked: questions.asked };
    for (const facts of await factsOf(db, place, ids.slice(first, first + 50), asked)) events += facts.events.length;
  }
  if (events < contacts) throw new Error('Nothing was read');
  return performance.now() - began;
}

/** Simulates so many contacts by the worker. The time is that from the request to the result. */
async function simulate(
  db: Database,
  { projectId, automationId }: { projectId: string; automationId: string },
  worker: ChildProcess,
  most: number,
): Promise<{ ms: number; peaksMb: [number, number]; cpu: string; told: string }> {
  const asked = parse(SimulateWorkflow, { over: { event: range() }, most, horizon: `${days}d` });
  // Until half of them are done, and from then on.
  const peaksMb: [number, number] = [0, 0];
  const [ofWorker, ofServers] = [cpuOfTree(worker.pid ?? 0), await cpuOfServers(db)];
  const began = performance.now();
  const { body } = await queueSimulation(db.session(), projectId, automationId, asked);
  for (;;) {
    await pause(50);
    const job = await getSimulation(db.session(), projectId, automationId, body.jobId);
    const half = job.progress < 50 ? 0 : 1;
    peaksMb[half] = Math.max(peaksMb[half], memoryMb(worker));
    if (job.state === 'failed') throw new Error(job.failedReason ?? 'The simulation failed');
    if (job.result === null) continue;
    const { contacts: simulated, executions, ends, mails, steps } = job.result;
    if (simulated !== most || executions < most) throw new Error(`${simulated} of ${most} were simulated`);
    const reached = steps.reduce((sum, step) => sum + step.reached, 0);
    const told = `${executions} executions of ${reached} steps with ${mails.count} emails; ${JSON.stringify(ends)}`;
    const ms = performance.now() - began;
    const servers = Object.entries(await cpuOfServers(db)).map(
      ([name, after]) => `${name} ${(after - (ofServers[name] ?? 0)).toFixed(1)} s`,
    );
    const cpu = [`worker ${(cpuOfTree(worker.pid ?? 0) - ofWorker).toFixed(1)} s`, ...servers].join(', ');
    return { ms, peaksMb, cpu, told };
  }
}

async function startWorker(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../src/main/worker.ts', import.meta.url));
  // As `npm run worker` starts it; the parent watchdog ends it when this process is gone, however that came about.
  const args = [
    '--max-semi-space-size=32',
    '--import',
    import.meta.resolve('@fernpost/local-stack/parent-watchdog'),
    program,
  ];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  await new Promise<void>((ready, failed) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('the worker works')) ready();
    });
    child.once('exit', (code) => failed(new Error(`The worker ended with ${code}`)));
  });
  return child;
}

if (import.meta.main) await benchSimulation();
