import { writeFileSync } from 'node:fs';
import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { newId } from '../src/lib/ids.ts';
import { pause } from '../src/lib/time.ts';
import { foldMailChanges } from '../src/mail/ledger/mail-count-queries.ts';
import type { Store } from '../src/store/orm.ts';
import { anAutomation } from '../test/support/automation-fixtures.ts';
import { people, tell, until } from './support/automation-bench.ts';
import { campaignHtml, campaignSubject } from './support/campaign-content.ts';
import type { Child } from './support/child.ts';
import { askApi, type DeliveryWorld, inDeliveryWorld, post } from './support/delivery-world.ts';
import { drawGrowth } from './support/growth-picture.ts';
import { runLoad } from './support/load.ts';
import { fillMail } from './support/mail.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import type { SinkCount } from './support/sink.ts';

const sizes = (process.env.BENCH_SIZES ?? '1,2,4,8').split(',').map((millions) => Number(millions) * 1_000_000);
const contacts = Number(process.env.BENCH_CONTACTS ?? 200_000);
const recipients = Number(process.env.BENCH_RECIPIENTS ?? 10_000);
const mails = Number(process.env.BENCH_MAILS ?? 3_000);
const runs = Number(process.env.BENCH_RUNS ?? 1_000);
const reads = Number(process.env.BENCH_READS ?? 200);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
/** How much more a thing may cost for each doubling of the tables. */
const goal = 1.1;
const longestMs = 20 * 60_000;
const credentials = { user: 'bench', password: 'bench-password-of-growth' };

interface Side extends DeliveryWorld {
  api: Child;
  worker: Child;
}
/** By what is done, for each: microseconds of processor time of the API, the worker and Postgres, and, where it reads, pages of 8 kB. */
type Costs = Map<string, number>;

/**
 * Does the same work beside an ever longer history of mail and events, as many of them a day, to as many contacts: accepts and delivers, sends a
 * campaign, takes reports, runs automations, and reads pages. What is asked about the newest days finds the same rows at each size. Tells the processor time of each, and of what reads how many pages of the tables and indexes, which no other work on the
 * machine changes; and by how much both grow for each doubling. BENCH_PICTURE names a file for the curves.
 */
export async function benchGrowth(): Promise<void> {
  const curves = new Map<string, number[]>();
  for (const size of sizes) {
    console.log(`\nGrowth: ${size.toLocaleString('en')} mails to ${contacts.toLocaleString('en')} contacts`);
    for (const [name, cost] of await at(size)) {
      curves.set(name, [...(curves.get(name) ?? []), cost]);
      console.log(`  ${name.padEnd(36)} ${cost.toFixed(0).padStart(8)}`);
    }
  }
  const doublings = Math.log2((sizes.at(-1) ?? 1) / (sizes[0] ?? 1));
  console.log(`\n${'for each'.padEnd(38)}${sizes.map(shownSize).join('')}   each doubling`);
  const missed: string[] = [];
  for (const [name, costs] of curves) {
    const factor = ((costs.at(-1) ?? 0) / (costs[0] ?? 1)) ** (1 / doublings);
    console.log(
      `  ${name.padEnd(36)}${costs.map((cost) => cost.toFixed(0).padStart(8)).join('')}   × ${factor.toFixed(2)}`,
    );
    if (factor > goal) missed.push(name);
  }
  console.log(missed.length > 0 ? ` above × ${goal}: ${missed.join(', ')}` : ` nothing above × ${goal}`);
  if (process.env.BENCH_PICTURE) writeFileSync(process.env.BENCH_PICTURE, drawGrowth(sizes, curves));
}

const shownSize = (size: number) => `${size / 1_000_000} M`.padStart(8);

async function at(size: number): Promise<Costs> {
  const costs: Costs = new Map();
  const settings = { POSTMARK_WEBHOOK_USER: credentials.user, POSTMARK_WEBHOOK_PASSWORD: credentials.password };
  await inDeliveryWorld({ logLevel: 'info', settings }, async (world) => {
    const { db } = world.store;
    await fillMail(db, world.project.projectId, {
      mails: size,
      contacts,
      days: Math.round((90 * size) / (sizes[0] ?? size)),
    });
    await foldMailChanges(db, async () => undefined);
    while ((await countNewEvents(db)) === 0) await pause(500);
    await db.count(
      `insert into contacts (id, project_id, email, subscribed, data)
       select uuidv7(), $1, 'person' || n || '@example.com', true, '{"plan":"pro","city":"Emden"}' from generate_series(0, $2::int - 1) n`,
      [world.project.projectId, recipients],
    );
    await db.rows('vacuum (analyze)');
    await tables(world);
    const api = await world.start('./api-process.ts', []);
    await readPages({ ...world, api }, costs);
    const worker = await world.start('./campaign-child.ts', ['worker']);
    const side: Side = { ...world, api, worker };
    const works: [string, (side: Side) => Promise<number>][] = [
      ['a mail accepted and delivered, µs', sendMail],
      ['a message of a campaign, µs', sendCampaign],
      ['a report, µs', takeReports],
      ['a run of an automation, µs', runAutomations],
    ];
    // The first round loads code and plans.
    for (const [name, work] of works) {
      await work(side);
      const measured: number[] = [];
      for (let round = 0; round < rounds; round += 1) measured.push(await costOf(side, () => work(side)));
      costs.set(name, measured.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? Number.NaN);
    }
  });
  return costs;
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

/** Pages that all statements have asked for so far. A connection tells of its own after it was idle for ten seconds. */
async function pagesRead({ db }: Store): Promise<number> {
  await pause(11_000);
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
    const before = await pagesRead(store);
    costs.set(`${name}, µs`, await costOf(side, () => ask(reads)));
    costs.set(`${name}, pages`, ((await pagesRead(store)) - before) / reads);
  }
}

async function sendMail({ api, sink, project }: Side): Promise<number> {
  await sink.ask('reset');
  const load = await runLoad({
    url: api.url,
    path: '/v1/send',
    authorization: `Bearer ${project.secretKey}`,
    kind: 'reports',
    from: '',
    bodies: Array.from({ length: mails }, (_, n) =>
      JSON.stringify({
        to: `person${n % recipients}@example.com`,
        from: project.sender,
        subject: 'Your receipt',
        body: '<p>Thank you for being with us.</p>',
      }),
    ),
    connections: 20,
    seconds: 0,
  });
  if (load.failures > 0) throw new Error(`${load.failures} requests failed`);
  await arrived(sink, mails);
  return mails;
}

/** Waits until the sink has them, and half a second more for the statement that settles the last batch. */
async function arrived(sink: Child, count: number): Promise<void> {
  const started = performance.now();
  while ((await sink.ask<SinkCount>('count')).messages < count) {
    if (performance.now() - started > longestMs) throw new Error('The mail is not delivered');
    await pause(20);
  }
  await pause(500);
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

/** Reports about the newest mail: each is delivered, every second one opened; the opens come first. */
async function takeReports({ api, project, store }: Side): Promise<number> {
  const sent = await store.db.rows<{ id: string; message: string; to: string }>(
    `select id, message_id as message, to_address as to from emails
     where project_id = $1 and status = 'SENT' order by created_at desc limit $2`,
    [project.projectId, mails],
  );
  if (sent.length < mails) throw new Error(`Only ${sent.length} mails wait for a report`);
  const body = (mail: (typeof sent)[number], kind: object) =>
    JSON.stringify({
      ...kind,
      MessageID: mail.message,
      Recipient: mail.to,
      Metadata: { eid: mail.id, pid: project.projectId },
    });
  const now = new Date().toISOString();
  const bodies = [
    ...sent
      .filter((_, n) => n % 2 === 0)
      .map((mail) => body(mail, { RecordType: 'Open', ReceivedAt: now, FirstOpen: true })),
    ...sent.map((mail) => body(mail, { RecordType: 'Delivery', DeliveredAt: now })),
  ];
  const load = await runLoad({
    url: api.url,
    path: '/webhooks/postmark',
    authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
    kind: 'reports',
    from: '',
    connections: 20,
    seconds: 0,
    bodies,
  });
  if (load.failures > 0) throw new Error(`${load.failures} reports were not taken`);
  return bodies.length;
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
