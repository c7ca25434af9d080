import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { median } from './support/automation-bench.ts';
import type { Child } from './support/child.ts';
import { type DeliveryWorld, inDeliveryWorld } from './support/delivery-world.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { benchServices } from './support/services.ts';
import { preparedReports, reporterSettings, sendMail } from './support/work.ts';

const mails = Number(process.env.BENCH_MAILS ?? 1_500);
const starts = Number(process.env.BENCH_STARTS ?? 3);
const rounds = Number(process.env.BENCH_ROUNDS ?? 6);
const share = process.env.BENCH_SAMPLING ?? '0.01';
const recipients = 1_000;
const goal = 1.02;

interface Side extends DeliveryWorld {
  api: Child;
  worker: Child;
}
/** Microseconds of processor time of a mail, by process. */
type Cost = Record<string, number>;

/**
 * What tracing costs: the same mails accepted, delivered and reported about by an API and a worker that trace BENCH_SAMPLING of them (0.01), and by
 * a pair without tracing, in turns over the same servers. Two processes with the same code differ by a few percent for as long as they
 * live, so both pairs are started anew BENCH_STARTS times. Tells the ratio of each pair of rounds, of which the median is to stay below 1.02.
 */
export async function benchTracing(): Promise<void> {
  await using services = await benchServices({ temporal: true });
  process.env.BENCH_DATABASE_URL = services.databaseUrl;
  process.env.BENCH_TEMPORAL_ADDRESS = services.temporalAddress;
  const collector = await startCollector();
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
  };
  const pairs: { without: Cost; traced: Cost }[] = [];
  for (let start = 0; start < starts; start += 1)
    await withSide({}, (without) => withSide(traced, async (own) => void pairs.push(...(await compare(without, own)))));
  collector.close();
  if (collector.calls() === 0) throw new Error('No trace has arrived');
  print(pairs, collector.calls());
}

function withSide(settings: NodeJS.ProcessEnv, work: (side: Side) => Promise<void>): Promise<void> {
  return inDeliveryWorld({ logLevel: 'info', settings: { ...reporterSettings, ...settings } }, async (world) => {
    const worker = await world.start('./campaign-child.ts', ['worker']);
    const api = await world.start('./api-process.ts', []);
    await work({ ...world, api, worker });
  });
}

async function compare(without: Side, traced: Side): Promise<{ without: Cost; traced: Cost }[]> {
  // The first rounds load and compile code.
  for (const side of [without, traced, traced, without]) await costOf(side);
  const pairs: { without: Cost; traced: Cost }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const costs = { without: {}, traced: {} };
    for (const name of round % 2 === 0 ? (['without', 'traced'] as const) : (['traced', 'without'] as const))
      costs[name] = await costOf(name === 'traced' ? traced : without);
    pairs.push(costs);
  }
  return pairs;
}

async function costOf(side: Side): Promise<Cost> {
  const cpu = async (): Promise<Cost> => ({
    API: cpuOfTree(side.api.child.pid ?? 0),
    worker: cpuOfTree(side.worker.child.pid ?? 0),
    ...(await cpuOfServers(side.store.db)),
  });
  await side.store.db.rows('checkpoint');
  const before = await cpu();
  await sendMail(side, { mails, recipients });
  await (await preparedReports(side, mails))();
  const spent = Object.entries(await cpu()).map(([name, seconds]) => [
    name,
    (1e6 * (seconds - (before[name] ?? 0))) / mails,
  ]);
  return Object.fromEntries(spent);
}

function print(pairs: readonly { without: Cost; traced: Cost }[], calls: number): void {
  console.log(
    `\nTracing of ${share} of all requests: ${pairs.length} pairs of rounds after ${starts} starts, ${mails} mails a round with one and a half reports each, ${calls} calls to the collector`,
  );
  console.log('  CPU microseconds a mail     without     traced   ratio, quartiles');
  const row = (name: string, of: (cost: Cost) => number) => {
    const ratios = pairs.map(({ without, traced }) => of(traced) / of(without)).sort((one, other) => one - other);
    const [low = 0, high = 0] = [ratios[Math.floor(ratios.length / 4)], ratios[Math.floor((3 * ratios.length) / 4)]];
    const [without, traced] = [pairs.map((pair) => of(pair.without)), pairs.map((pair) => of(pair.traced))].map(median);
    console.log(
      `    ${name.padEnd(20)} ${without?.toFixed(0).padStart(10)} ${traced?.toFixed(0).padStart(10)}   ${median(ratios).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    );
    return median(ratios);
  };
  const names = Object.keys(pairs[0]?.without ?? {});
  for (const name of names) row(name, (cost) => cost[name] ?? 0);
  const ratio = row('all', (cost) => names.reduce((sum, name) => sum + (cost[name] ?? 0), 0));
  console.log(`  ${ratio <= goal ? 'within' : 'above'} ${goal}`);
}

/** Stands for a collector of OpenTelemetry: takes everything, and counts the calls. */
async function startCollector() {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    request.resume().on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close: () => void server.close(),
  };
}

if (import.meta.main) await benchTracing();
