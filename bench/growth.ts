import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { newId } from '../src/lib/ids.ts';
import { pause } from '../src/lib/time.ts';
import { foldMailChanges } from '../src/mail/ledger/mail-count-queries.ts';
import type { Store } from '../src/store/orm.ts';
import type { Database } from '../src/store/sql.ts';
import { anAutomation } from '../test/support/automation-fixtures.ts';
import { median, people, seconds, tell, until } from './support/automation-bench.ts';
import { campaignHtml, campaignSubject } from './support/campaign-content.ts';
import type { Child } from './support/child.ts';
import { askApi, type DeliveryWorld, inDeliveryWorld, post } from './support/delivery-world.ts';
import { drawGrowth } from './support/growth-picture.ts';
import { fillMail } from './support/mail.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { arrived, reporterSettings, sendMail, takeReports } from './support/work.ts';

const million = 1_000_000;
const sizes = (process.env.BENCH_SIZES ?? '1,2,4,8')
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
/** The costs by how many mails there were. */
type Results = Record<string, Costs>;

/**
 * Does the same work beside an ever longer history of mail and events, as many of them a day, to as many contacts: accepts and delivers, sends a
 * campaign, takes reports, runs automations, and reads pages. What is asked about the newest days finds the same rows at each size. Tells the processor time of each, and of what reads how many pages of the tables and indexes, which no other work on the
 * machine changes; and by how much both grow for each doubling.
 *
 * BENCH_SIZES names the sizes, in millions of mails; nothing of one is needed for another. BENCH_RESULTS names a file that keeps what each found,
 * so that several runs can share the work: each adds its own, and tells of all. BENCH_PICTURE names a file for the curves.
 */
export async function benchGrowth(): Promise<void> {
  const file = process.env.BENCH_RESULTS;
  const results: Results = file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const size of sizes) {
    console.log(`\nGrowth: ${size.toLocaleString('en')} mails to ${contacts.toLocaleString('en')} contacts`);
    const began = performance.now();
    const costs = await at(size);
    for (const [name, cost] of Object.entries(costs))
      console.log(`  ${name.padEnd(36)} ${cost.toFixed(0).padStart(8)}`);
    console.log(`  took ${seconds(performance.now() - began)}`);
    results[size] = costs;
    if (file) writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  }
  report(results);
}

function report(results: Results): void {
  const measured = Object.keys(results)
    .map(Number)
    .sort((one, other) => one - other);
  const doublings = Math.log2((measured.at(-1) ?? 1) / (measured[0] ?? 1));
  const curves = new Map(
    Object.keys(results[measured[0] ?? 0] ?? {}).map((name) => [
      name,
      measured.map((size) => results[size]?.[name] ?? Number.NaN),
    ]),
  );
  console.log(`\n${'for each'.padEnd(38)}${measured.map(shownSize).join('')}   each doubling`);
  const missed: string[] = [];
  for (const [name, costs] of curves) {
    const factor = ((costs.at(-1) ?? 0) / (costs[0] ?? 1)) ** (1 / doublings);
    console.log(
      `  ${name.padEnd(36)}${costs.map((cost) => cost.toFixed(0).padStart(8)).join('')}   × ${factor.toFixed(2)}`,
    );
    if (factor > goal) missed.push(name);
  }
  console.log(missed.length > 0 ? ` above × ${goal}: ${missed.join(', ')}` : ` nothing above × ${goal}`);
  if (process.env.BENCH_PICTURE) writeFileSync(process.env.BENCH_PICTURE, drawGrowth(measured, curves));
}

const shownSize = (size: number) => `${size / million} M`.padStart(8);

async function at(size: number): Promise<Costs> {
  const costs: Costs = {};
  await inDeliveryWorld({ logLevel: 'info', settings: reporterSettings }, async (world) => {
    const { db } = world.store;
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
    const api = await world.start('./api-process.ts', []);
    await readPages({ ...world, api }, costs);
    const worker = await world.start('./campaign-child.ts', ['worker']);
    const side: Side = { ...world, api, worker };
    const works: [string, (side: Side) => Promise<number>][] = [
      ['a mail accepted and delivered, µs', () => sendMail(side, { mails, recipients })],
      ['a message of a campaign, µs', sendCampaign],
      ['a report, µs', () => takeReports(side, mails)],
      ['a run of an automation, µs', runAutomations],
    ];
    // The first round loads code and plans.
    for (const [name, work] of works) {
      await work(side);
      const measured: number[] = [];
      for (let round = 0; round < rounds; round += 1) measured.push(await costOf(side, () => work(side)));
      costs[name] = median(measured);
    }
  });
  return costs;
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

async function readPages(side: Omit<Side, 'worker'>, costs: Costs): Promise<void> {
  const { project, store } = side;
  const deep = new Date(Date.now() - 60 * 86_400_000).toISOString();
  const contact = await store.db.row<{ id: string }>(
    'select id from contacts where project_id = $1 offset 100 limit 1',
    [project.projectId],
  );
  const newest = await store.db.row<{ id: string }>(
    'select id from emails where project_id = $1 order by created_at desc offset 500 limit 1',
    [project.projectId],
  );
  const opened = { field: 'email.opened', operator: 'triggeredWithin', value: 1, unit: 'days' };
  const condition = { logic: 'AND', groups: [{ filters: [opened, { field: 'data.plan', operator: 'notExists' }] }] };
  const pages: [string, string, object?][] = [
    ['first page of the feed', '/activity?limit=100'],
    ['feed, 60 days back', `/activity?limit=100&startDate=2001-01-01&endDate=${deep}`],
    ['feed of one contact', `/activity?contactId=${contact?.id}`],
    ['a page of contacts', '/contacts?limit=100'],
    ['one contact', `/contacts/${contact?.id}`],
    ['one mail', `/emails/${newest?.id}`],
    ['count of a segment', '/segments/preview', { condition }],
    ['analytics, 30 days', '/analytics/timeseries'],
    ['totals, 30 days', '/activity/stats'],
    ['top events', '/analytics/top-events'],
  ];
  for (const [name, path, body] of pages) {
    const ask = async (times: number) => {
      for (let n = 0; n < times; n += 1) await askApi(side, path, body);
      return times;
    };
    await ask(20);
    const before = await pagesRead(store, () => ask(1));
    costs[`${name}, µs`] = await costOf(side, () => ask(reads));
    costs[`${name}, pages`] = ((await pagesRead(store, () => ask(1))) - before) / (reads + 1);
  }
}

async function sendCampaign(side: Side): Promise<number> {
  const { project, sink } = side;
  await sink.ask('reset');
  const filters = [{ field: 'data.city', operator: 'equals', value: 'Emden' }];
  const { id } = await post(side, '/campaigns', {
    name: `Growth ${newId()}`,
    subject: campaignSubject,
    body: campaignHtml,
    from: project.sender,
    audienceType: 'FILTERED',
    audienceCondition: { logic: 'AND', groups: [{ filters }] },
  });
  await post(side, `/campaigns/${id}/send`, {});
  await arrived(sink, recipients);
  return recipients;
}

async function runAutomations({ store, project: { projectId } }: Side): Promise<number> {
  const event = `growth.${newId()}`;
  const automation = await anAutomation(store.db, projectId, {
    event,
    steps: {
      check: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
      set: ['UPDATE_CONTACT', { updates: { stage: 'activated' } }],
      out: ['EXIT'],
    },
    ways: [
      ['trigger', 'check'],
      ['check.yes', 'set'],
      ['set', 'out'],
    ],
  });
  const inside = await people({ store, projectId }, runs);
  await tell({ store, projectId }, inside, event);
  await until(
    store,
    `select count(*)::int as count from automation_runs where automation_id = $1 and status = 'EXITED'`,
    [automation.id],
    runs,
    200,
  );
  return runs;
}

if (import.meta.main) await benchGrowth();
