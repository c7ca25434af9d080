import { newId } from '../src/lib/ids.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import type { Store } from '../src/store/orm.ts';
import type { Usage } from './support/campaign-child.ts';
import { campaignHtml, campaignSubject } from './support/campaign-content.ts';
import type { FloorResult } from './support/campaign-floor.ts';
import type { Child } from './support/child.ts';
import { inDeliveryWorld, post } from './support/delivery-world.ts';
import { cpuOfServers } from './support/processes.ts';
import type { SinkCount } from './support/sink.ts';

const recipients = Number(process.env.BENCH_RECIPIENTS ?? 100_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const delayMs = Number(process.env.BENCH_SINK_DELAY_MS ?? 0);
const workers = Number(process.env.BENCH_WORKERS ?? 1);
const longestRunMs = 20 * 60_000;

interface Run {
  messages: number;
  perSecond: number;
  /** CPU seconds by process. */
  cpu: Record<string, number>;
  peakRssMb: number;
}

interface Bench {
  store: Store;
  project: FirstProjectFacts;
  sink: Child;
  workers: Child[];
  floor: Child;
  api: Child;
}

/** Campaign messages a second, as a ratio to a hand-written loop in the same run, and where the rest goes. */
export function benchCampaign(): Promise<void> {
  return inDeliveryWorld({ sinkDelayMs: delayMs }, async ({ databaseUrl, store, project, sink, start }) => {
    const running: Child[] = [];
    for (let n = 0; n < workers; n += 1) running.push(await start('./campaign-child.ts', ['worker']));
    const api = await start('./api-process.ts', []);
    const floorSettings = JSON.stringify({ databaseUrl, sinkUrl: sink.url, projectId: project.projectId });
    const floor = await start('./campaign-child.ts', ['floor', floorSettings]);
    await measure({ store, project, sink, workers: running, floor, api });
  });
}

async function measure(bench: Bench): Promise<void> {
  const small = Math.min(10_000, recipients);
  console.log(
    `\nCampaign: ${recipients.toLocaleString('en')} recipients, ${campaignHtml.length} bytes of HTML, ${rounds} rounds, ${workers} worker processes, answers after ${delayMs} ms`,
  );
  await fill(bench, small);
  // The first runs of both load code, plans and pools.
  await runLoop(bench);
  await runCampaign(bench);
  const smaller = await runCampaign(bench);
  await fill(bench, recipients);
  const floors: Run[] = [];
  const ours: Run[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0;
    if (first) floors.push(await runLoop(bench));
    ours.push(await runCampaign(bench));
    if (!first) floors.push(await runLoop(bench));
  }
  const floor = median(floors);
  const our = median(ours);
  line('floor, hand-written', floor);
  line('Fernpost', our);
  console.log(`  ratio ${(our.perSecond / floor.perSecond).toFixed(2)} (goal 0.6)`);
  console.log(
    `  worker memory: ${smaller.peakRssMb.toFixed(0)} MB at ${small}, ${our.peakRssMb.toFixed(0)} MB at ${recipients} recipients`,
  );
  console.log('  CPU microseconds for each message        floor   Fernpost');
  for (const name of Object.keys(our.cpu))
    console.log(`    ${name.padEnd(34)} ${share(floor, name)} ${share(our, name)}`);
}

function line(name: string, run: Run): void {
  console.log(`  ${name.padEnd(22)} ${run.perSecond.toFixed(0).padStart(7)} messages/s`);
}

function share(run: Run, name: string): string {
  const seconds = run.cpu[name];
  return (seconds === undefined ? '-' : ((1e6 * seconds) / run.messages).toFixed(1)).padStart(9);
}

async function fill({ store, project }: Bench, count: number): Promise<void> {
  await empty(store);
  await store.db.rows('truncate contacts cascade');
  await store.db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'watcher.' || n || '@example.com', true, jsonb_build_object(
       'firstName', 'Watcher ' || n, 'city', 'Harbour ' || n % 1000, 'plan', (array['free', 'pro', 'team'])[1 + n % 3])
     from generate_series(1, $2::int) n`,
    [project.projectId, count],
  );
  await store.db.rows('vacuum (analyze) contacts');
  // The catalogue of fields takes note of them, which is no part of a campaign and would run beside whichever side is first.
  const started = performance.now();
  while ((await store.db.row('select from contact_changes limit 1')) !== null) {
    if (performance.now() - started > longestRunMs) throw new Error('The catalogue of fields does not get done');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

// Each run starts from empty ledgers, for whoever comes second would otherwise have the larger indexes.
async function empty(store: Store): Promise<void> {
  await store.db.rows('truncate emails, email_queue, events, campaigns, campaign_sends, campaign_claims cascade');
  await store.db.rows('drop table if exists floor_ledger');
  await store.db.rows('checkpoint');
}

async function runLoop(bench: Bench): Promise<Run> {
  if (process.env.BENCH_LOG) console.log(new Date().toISOString(), 'loop');
  return watched(bench, [bench.floor], async () => {
    const result = await bench.floor.ask<FloorResult>({ floor: { campaignId: newId(), inFlight: 4 } });
    return result.milliseconds;
  });
}

async function runCampaign(bench: Bench): Promise<Run> {
  const { project, store } = bench;
  const content = { subject: campaignSubject, body: campaignHtml, from: project.sender, audienceType: 'ALL' };
  if (process.env.BENCH_LOG) console.log(new Date().toISOString(), 'campaign');
  return watched(bench, bench.workers, async () => {
    const { id } = await post(bench, '/campaigns', { name: 'Autumn migration', ...content });
    const started = performance.now();
    await post(bench, `/campaigns/${id}/send`, {});
    for (;;) {
      const row = await store.db.row<{ status: string }>('select status from campaigns where id = $1', [id]);
      if (row?.status === 'SENT') return performance.now() - started;
      if (performance.now() - started > longestRunMs) throw new Error('The campaign does not end');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}

/** Runs one side from empty ledgers and counts at the sink what arrived; anything but everyone once is an error. */
async function watched(bench: Bench, senders: Child[], work: () => Promise<number>): Promise<Run> {
  const { sink, store } = bench;
  await empty(store);
  await sink.ask('reset');
  const before = await usages(bench, senders);
  const milliseconds = await work();
  const after = await usages(bench, senders);
  const { messages, recipients: different } = await sink.ask<SinkCount>('count');
  const audience = await store.db.row<{ count: number }>('select count(*)::int as count from contacts');
  if (messages !== audience?.count || different !== messages)
    throw new Error(`The sink got ${messages} messages for ${different} of ${audience?.count} recipients`);
  const cpu = Object.fromEntries(
    Object.entries(after.cpu).map(([name, seconds]) => [name, Math.max(0, seconds - (before.cpu[name] ?? 0))]),
  );
  return { messages, perSecond: (1000 * messages) / milliseconds, cpu, peakRssMb: after.peakRssMb };
}

/** CPU by now, and the most memory that one of the senders held. */
async function usages(
  { sink, store }: Bench,
  senders: Child[],
): Promise<{ cpu: Record<string, number>; peakRssMb: number }> {
  const [sinks, ...own] = await Promise.all([sink, ...senders].map((child) => child.ask<Usage>('usage')));
  const servers = await cpuOfServers(store.db);
  const cpuSeconds = own.reduce((sum, usage) => sum + usage.cpuSeconds, 0);
  return {
    cpu: { 'worker or loop': cpuSeconds, sink: sinks?.cpuSeconds ?? 0, ...servers },
    peakRssMb: Math.max(...own.map((usage) => usage.peakRssMb)),
  };
}

function median(runs: Run[]): Run {
  const sorted = [...runs].sort((one, other) => one.perSecond - other.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error('No run was made');
  return middle;
}

if (import.meta.main) await benchCampaign();
