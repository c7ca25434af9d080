import { pause } from '../src/lib/time.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import type { Store } from '../src/store/orm.ts';
import type { Child } from './support/child.ts';
import { inDeliveryWorld } from './support/delivery-world.ts';
import { runLoad } from './support/load.ts';
import { cpuOfServers, cpuOfTree, pssMb } from './support/processes.ts';
import type { SinkCount } from './support/sink.ts';

const seconds = Number(process.env.BENCH_SECONDS ?? 10);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const connections = 50;
const longestMs = 5 * 60_000;

interface Run {
  /** Mails a second that were accepted, and that were accepted and delivered, until the last one was. */
  accepted: number;
  delivered: number;
  medianMs: number;
  /** Microseconds of processor time a mail, by process. */
  cpu: Record<string, number>;
  /** Megabytes (PSS) at the end. */
  memory: Record<string, number>;
}

interface Side {
  /** Accepts. */
  api: Child;
  /** Delivers. */
  worker: Child;
  path: string;
}

/** Mails by `/v1/send`, accepted and delivered to a sink, beside a hand-written pair of processes, and where the time goes. */
export function benchSend(): Promise<void> {
  return inDeliveryWorld({ logLevel: 'info' }, async ({ databaseUrl, store, project, sink, start }) => {
    const ours: Side = {
      worker: await start('./campaign-child.ts', ['worker']),
      api: await start('./api-process.ts', []),
      path: '/v1/send',
    };
    const floor: Side = {
      api: await start('./send-floor-process.ts', ['accept', databaseUrl]),
      worker: await start('./send-floor-process.ts', ['deliver', databaseUrl, sink.url]),
      path: '/send',
    };
    const sides = { floor, Fernpost: ours };
    const runs: Record<keyof typeof sides, Run[]> = { floor: [], Fernpost: [] };
    for (const side of [floor, ours]) await measure(side, sink, store, project, 2);
    for (let round = 0; round < rounds; round += 1)
      for (const name of round % 2 === 0 ? (['floor', 'Fernpost'] as const) : (['Fernpost', 'floor'] as const))
        runs[name].push(await measure(sides[name], sink, store, project, seconds));
    print(median(runs.floor), median(runs.Fernpost));
  });
}

/** Runs one side from empty tables; anything but every accepted mail once at the sink is an error. */
async function measure(
  side: Side,
  sink: Child,
  store: Store,
  project: FirstProjectFacts,
  forSeconds: number,
): Promise<Run> {
  await store.db.rows('truncate contacts, events, emails, email_queue, floor_contacts, floor_mail cascade');
  await store.db.rows('checkpoint');
  await sink.ask('reset');
  const before = await cpuBy(side, sink, store);
  const started = performance.now();
  const load = await runLoad({
    url: side.api.url,
    path: side.path,
    authorization: `Bearer ${project.secretKey}`,
    kind: 'send',
    from: project.sender,
    connections,
    seconds: forSeconds,
  });
  if (load.failures > 0) throw new Error(`${load.failures} requests failed`);
  while ((await sink.ask<SinkCount>('count')).messages < load.requests) {
    if (performance.now() - started > longestMs) throw new Error('The mail is not delivered');
    await pause(20);
  }
  const milliseconds = performance.now() - started;
  // The statement that settles the last batch belongs to it.
  await pause(500);
  const { messages } = await sink.ask<SinkCount>('count');
  if (messages !== load.requests) throw new Error(`The sink got ${messages} of ${load.requests} mails`);
  const after = await cpuBy(side, sink, store);
  const cpu = Object.entries(after).map(([name, value]) => [name, (1e6 * (value - (before[name] ?? 0))) / messages]);
  return {
    accepted: load.requestsPerSecond,
    delivered: (1_000 * messages) / milliseconds,
    medianMs: load.medianMs,
    cpu: Object.fromEntries(cpu),
    memory: { API: pssMb(side.api.child.pid ?? 0), worker: pssMb(side.worker.child.pid ?? 0) },
  };
}

async function cpuBy(side: Side, sink: Child, { db }: Store): Promise<Record<string, number>> {
  const of = ({ child }: Child) => cpuOfTree(child.pid ?? 0);
  return { API: of(side.api), worker: of(side.worker), ...(await cpuOfServers(db)), sink: of(sink) };
}

function print(floor: Run, ours: Run): void {
  console.log(`\nSend: ${connections} connections, ${seconds} s a run, ${rounds} rounds, Postgres as shipped`);
  for (const [name, run] of Object.entries({ floor, Fernpost: ours }))
    console.log(
      `  ${name.padEnd(10)} accepted ${run.accepted.toFixed(0)}/s, accepted and delivered ${run.delivered.toFixed(0)}/s, median ${run.medianMs.toFixed(1)} ms`,
    );
  console.log(`  ratio ${(ours.delivered / floor.delivered).toFixed(2)}`);
  console.log('  CPU microseconds a mail        floor   Fernpost');
  const row = (name: string, of: (run: Run) => number) =>
    console.log(`    ${name.padEnd(24)} ${of(floor).toFixed(0).padStart(9)} ${of(ours).toFixed(0).padStart(10)}`);
  for (const name of Object.keys(ours.cpu)) row(name, ({ cpu }) => cpu[name] ?? 0);
  row('all but the sink', ({ cpu }) =>
    Object.entries(cpu).reduce((sum, [name, us]) => sum + (name === 'sink' ? 0 : us), 0),
  );
  for (const name of Object.keys(ours.memory)) row(`MB of the ${name}`, ({ memory }) => memory[name] ?? 0);
}

function median(runs: Run[]): Run {
  const middle = runs.toSorted((one, other) => one.delivered - other.delivered)[Math.floor(runs.length / 2)];
  if (!middle) throw new Error('No run was made');
  return middle;
}

if (import.meta.main) await benchSend();
