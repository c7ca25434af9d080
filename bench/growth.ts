import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { pause } from '../src/lib/time.ts';
import { foldMailChanges } from '../src/mail/ledger/mail-count-queries.ts';
import type { Store } from '../src/store/orm.ts';
import type { Database } from '../src/store/sql.ts';
import { median, seconds } from './support/automation-bench.ts';
import type { Child } from './support/child.ts';
import { askApi, type DeliveryWorld, inDeliveryWorld } from './support/delivery-world.ts';
import { drawGrowth } from './support/growth-picture.ts';
import { questions, runAutomations, sendCampaign } from './support/growth-work.ts';
import { fillMail } from './support/mail.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { preparedReports, reporterSettings, sendMail } from './support/work.ts';

const million = 1_000_000;
/** What every other size is compared with. */
const smallest = million;
const sizes = (process.env.BENCH_SIZES ?? '2,4,8')
  .split(',')
  .filter(Boolean)
  .map((one) => Number(one) * million);
const daysOfMillion = 90;
const contacts = Number(process.env.BENCH_CONTACTS ?? 200_000);
const recipients = Number(process.env.BENCH_RECIPIENTS ?? 10_000);
const mails = Number(process.env.BENCH_MAILS ?? 3_000);
const runs = Number(process.env.BENCH_RUNS ?? 500);
const reads = Number(process.env.BENCH_READS ?? 200);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
/** How much more a thing may cost for each doubling of the tables. */
const goal = 1.1;

interface Side extends DeliveryWorld {
  api: Child;
  worker: Child;
}
/** By what is done, for each: microseconds of processor time of the API, the worker and Postgres, and, where it reads, pages of 8 kB. */
type Costs = Record<string, number>;
/** The costs beside the smallest size and beside another, measured in turns. */
type Pair = Record<'small' | 'large', Costs>;
/** The costs by the larger number of mails. */
type Results = Record<string, Pair>;

/**
 * Does the same work beside an ever longer history of mail and events, as many of them a day, to as many contacts: accepts and delivers, sends a
 * campaign, takes reports, runs automations, and reads pages. What is asked about the newest days finds the same rows at each size. Tells the processor time of each, and of what reads how many pages of the tables and indexes; and by how much both grow for each doubling.
 * Each size is measured in turns with the smallest, on servers of their own, because a machine that others share is not as fast in one quarter of an hour as
 * in the next.
 *
 * BENCH_SIZES names the larger sizes, in millions of mails; nothing of one is needed for another. BENCH_RESULTS names a file that keeps what each found,
 * so that several runs can share the work: each adds its own, and tells of all. BENCH_PICTURE names a file for the curves.
 */
export async function benchGrowth(): Promise<void> {
  const file = process.env.BENCH_RESULTS;
  const results: Results = file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const size of sizes) {
    const began = performance.now();
    await withMail(smallest, (small) =>
      withMail(size, async (large) => {
        results[size] = await inTurns(small, large);
      }),
    );
    console.log(`  took ${seconds(performance.now() - began)}`);
    if (file) writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  }
  report(results);
}

/** The curves: the smallest size by the median of all runs, and each other as many times as much as it cost more in its own run. */
function report(results: Results): void {
  const measured = Object.keys(results)
    .map(Number)
    .sort((one, other) => one - other);
  const pairs = measured.map((size) => results[size] as Pair);
  const doublings = Math.log2((measured.at(-1) ?? smallest) / smallest) || 1;
  const curves = new Map(
    Object.keys(pairs[0]?.small ?? {}).map((name) => {
      const base = median(pairs.map(({ small }) => small[name] ?? Number.NaN));
      return [name, [base, ...pairs.map(({ small, large }) => (base * (large[name] ?? 0)) / (small[name] ?? 0))]];
    }),
  );
  console.log(`\n${'for each'.padEnd(38)}${[smallest, ...measured].map(shownSize).join('')}   each doubling`);
  const missed: string[] = [];
  for (const [name, costs] of curves) {
    const factor = ((costs.at(-1) ?? 0) / (costs[0] ?? 1)) ** (1 / doublings);
    console.log(
      `  ${name.padEnd(36)}${costs.map((cost) => cost.toFixed(0).padStart(8)).join('')}   × ${factor.toFixed(2)}`,
    );
    if (factor > goal) missed.push(name);
  }
  console.log(missed.length > 0 ? ` above × ${goal}: ${missed.join(', ')}` : ` nothing above × ${goal}`);
  if (process.env.BENCH_PICTURE) writeFileSync(process.env.BENCH_PICTURE, drawGrowth([smallest, ...measured], curves));
}

const shownSize = (size: number) => `${size / million} M`.padStart(8);

/** Makes a world with so many mails, of as many days as they take. */
async function withMail(size: number, use: (side: DeliveryWorld & { api: Child }) => Promise<void>): Promise<void> {
  // What is older than bodies are kept would be emptied meanwhile.
  const settings = { ...reporterSettings, EMAIL_BODY_RETENTION_DAYS: '36500' };
  // A quarter of the memory, as docs/production.md has it, is for both.
  const sharedMegabytes = Math.floor(totalmem() / 2 ** 20 / 8);
  await inDeliveryWorld({ logLevel: 'info', settings, sharedMegabytes }, async (world) => {
    const { db } = world.store;
    console.log(`\nGrowth: ${size.toLocaleString('en')} mails to ${contacts.toLocaleString('en')} contacts`);
    await filledFast(db, async () => {
      const days = Math.round((daysOfMillion * size) / million);
      await fillMail(db, world.project.projectId, { mails: size, contacts, days });
      await foldMailChanges(db, async () => undefined);
      while ((await countNewEvents(db)) === 0) await pause(500);
      await db.count(
        `insert into contacts (id, project_id, email, subscribed, data)
         select uuidv7(), $1, 'person' || n || '@example.com', true, '{"plan":"pro","city":"Emden"}' from generate_series(0, $2::int - 1) n`,
        [world.project.projectId, recipients],
      );
      await db.rows('vacuum (analyze)');
    });
    await tables(world);
    await use({ ...world, api: await world.start('./api-process.ts', []) });
  });
}

/** Measures everything in both worlds, one after the other in each round. */
async function inTurns(...worlds: (DeliveryWorld & { api: Child })[]): Promise<Pair> {
  const costs = worlds.map((): Costs => ({}));
  await readPages(worlds, costs);
  const sides = await Promise.all(
    worlds.map(
      async (world): Promise<Side> => ({ ...world, worker: await world.start('./campaign-child.ts', ['worker']) }),
    ),
  );
  const works: [string, Work<Side>][] = [
    ['a mail accepted and delivered, µs', async (side) => () => sendMail(side, { mails, recipients })],
    ['a message of a campaign, µs', async (side) => () => sendCampaign(side, recipients)],
    ['a report, µs', (side) => preparedReports(side, mails)],
    ['a run of an automation, µs', async (side) => () => runAutomations(side, runs)],
  ];
  for (const [name, work] of works) await costsOf(name, sides, costs, work);
  const [small = {}, large = {}] = costs;
  return { small, large };
}

/** Prepares something in a world, at whatever cost, and returns what is measured, which answers how many times it was done. */
type Work<World> = (world: World, place: number) => Promise<() => Promise<number>>;

/** Does something in each world by turns, and keeps the medians. The first round loads code and plans. */
async function costsOf<World extends Omit<Side, 'worker'> & Partial<Side>>(
  name: string,
  worlds: readonly World[],
  costs: readonly Costs[],
  work: Work<World>,
): Promise<void> {
  const measured: number[][] = worlds.map(() => []);
  for (let round = -1; round < rounds; round += 1)
    for (const [place, world] of worlds.entries()) {
      const cost = await costOf(world, await work(world, place));
      if (round >= 0) measured[place]?.push(cost);
    }
  for (const [place, all] of measured.entries()) Object.assign(costs[place] ?? {}, { [name]: median(all) });
  console.log(`  ${name.padEnd(36)} ${measured.map((all) => median(all).toFixed(0).padStart(8)).join(' ')}`);
}

/**
 * Fills the tables with a Postgres of the benchmark's own that loses them when the machine does, and waits for no disk. What is measured afterwards
 * is measured with the settings that it is shipped with.
 */
async function filledFast(db: Database, fill: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const settings = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };
  const isOwn = process.env.BENCH_DATABASE_URL === undefined;
  const change = async (statements: string[]) => {
    for (const statement of isOwn ? [...statements, 'select pg_reload_conf()'] : []) await db.rows(statement);
  };
  await change(Object.entries(settings).map(([name, value]) => `alter system set ${name} = ${value}`));
  await fill();
  await change(Object.keys(settings).map((name) => `alter system reset ${name}`));
  await db.rows('checkpoint');
  console.log(`  filled in ${seconds(performance.now() - began)}`);
}

async function tables({ store }: DeliveryWorld): Promise<void> {
  const rows = await store.db.rows<{ name: string; size: string; rows: string }>(
    `select relname as name, pg_size_pretty(pg_total_relation_size(oid)) as size, reltuples::bigint::text as rows
     from pg_class where relname = any ('{emails,events,contacts}') order by relname`,
  );
  for (const { name, size, rows: count } of rows)
    console.log(`  ${name.padEnd(10)} ${count.padStart(10)} rows ${size}`);
}

/** Microseconds of processor time of the API, the worker and Postgres for each unit that `work` answers. */
async function costOf(side: Omit<Side, 'worker'> & Partial<Side>, work: () => Promise<number>): Promise<number> {
  const cpu = async () => {
    const { Postgres = 0 } = await cpuOfServers(side.store.db);
    return [side.api, side.worker].reduce((sum, it) => sum + (it ? cpuOfTree(it.child.pid ?? 0) : 0), Postgres);
  };
  await side.store.db.rows('checkpoint');
  const before = await cpu();
  const units = await work();
  return (1e6 * ((await cpu()) - before)) / units;
}

/**
 * Pages that all statements have asked for so far. A connection tells of its own with the end of a statement, but no more than once a second, so `ask`
 * makes those speak that have something to tell.
 */
async function pagesRead({ db }: Store, ask: () => Promise<unknown>): Promise<number> {
  await pause(1_100);
  await ask();
  const row = await db.row<{ pages: string }>(
    'select (blks_hit + blks_read)::text as pages from pg_stat_database where datname = current_database()',
  );
  return Number(row?.pages);
}

async function readPages(worlds: readonly Omit<Side, 'worker'>[], costs: readonly Costs[]): Promise<void> {
  const asked = await Promise.all(worlds.map(questions));
  const times = async (world: Omit<Side, 'worker'>, place: number, of: number, count: number) => {
    const { paths, body } = asked[place]?.[of] ?? { paths: [] };
    for (let n = 0; n < count; n += 1) await askApi(world, paths[n % paths.length] ?? '', body);
    return count;
  };
  for (const [of, { name }] of (asked[0] ?? []).entries()) {
    await costsOf(`${name}, µs`, worlds, costs, async (world, place) => () => times(world, place, of, reads));
    for (const [place, world] of worlds.entries()) {
      const ask = (count: number) => times(world, place, of, count);
      const before = await pagesRead(world.store, () => ask(1));
      await ask(reads);
      const pages = ((await pagesRead(world.store, () => ask(1))) - before) / (reads + 1);
      Object.assign(costs[place] ?? {}, { [`${name}, pages`]: pages });
    }
  }
}

if (import.meta.main) await benchGrowth();
