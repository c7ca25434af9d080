import { Agent, request } from 'undici';
import { pause } from '../src/lib/time.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { type Database, sql } from '../src/store/sql.ts';
import { anAutomation, aTemplate } from '../test/support/automation-fixtures.ts';
import { fillAudience } from './support/audience.ts';
import { median } from './support/automation-bench.ts';
import type { Child } from './support/child.ts';
import { inDeliveryWorld, post } from './support/delivery-world.ts';
import { pssMb, serverProcesses, treeOf } from './support/processes.ts';
import type { SinkCount } from './support/sink.ts';
import { reporter, reporterSettings } from './support/work.ts';

const minutes = Number(process.env.BENCH_MINUTES ?? 10);
const contacts = Number(process.env.BENCH_CONTACTS ?? 20_000);
const sampleEverySeconds = 10;
const longestDrainMs = 300_000;
const pages = [
  '/contacts?limit=50',
  '/activity?limit=50',
  '/activity/stats',
  '/analytics/timeseries',
  '/campaigns',
  '/segments',
];

/** A table with its indexes, in bytes. */
interface TableSize {
  name: string;
  bytes: number;
  indexes: number;
  rows: number;
  dead: number;
}

/** The traffic so far. */
interface Traffic {
  requests: number;
  refused: Map<string, number>;
}

/**
 * Everything at once, for BENCH_MINUTES (10): events and mail, pages of the dashboard, reports, a campaign every two minutes to BENCH_CONTACTS, imports,
 * and an automation with a delay. Tells the memory of every process over time, what every table has grown to, and whether each mail that was accepted left
 * once. Fails when the ledger and the sink disagree.
 */
export function benchMixed(): Promise<void> {
  return inDeliveryWorld({ settings: reporterSettings }, async ({ store: { db }, project, start, sink }) => {
    await fillAudience(db, project.projectId, { contacts, events: contacts * 5 });
    const template = await aTemplate(db, { id: project.projectId, sender: project.sender });
    await anAutomation(db, project.projectId, {
      event: 'opened_app',
      steps: { rest: ['DELAY', { amount: 30, unit: 'seconds' }], mail: ['SEND_EMAIL', { templateId: template }] },
    });
    // A report of a bounce is rare here, but a project that bounces is disabled for its reputation, and then there is nothing to measure.
    const worker = await start('./campaign-child.ts', ['worker']);
    const api = await start('./api-process.ts', []);
    const before = await tableSizes(db);
    const { Postgres, Temporal } = await serverProcesses(db);
    const processes = { API: [api], worker: [worker], Temporal, Postgres: [Postgres] };
    const memory: Record<string, number>[] = [];
    const traffic: Traffic = { requests: 0, refused: new Map() };
    const endsAt = performance.now() + minutes * 60_000;
    const loads = trafficOf({ api, project, traffic, db });
    const running = loads.map(([everyMs, work]) => repeat(everyMs, endsAt, work, traffic));
    for (; performance.now() < endsAt; await pause(sampleEverySeconds * 1_000)) memory.push(memoryOf(processes));
    await Promise.all(running);
    console.log(
      `\nMixed traffic for ${minutes} minutes: ${traffic.requests} requests, ${sum(traffic.refused)} refused`,
    );
    for (const [what, count] of traffic.refused) console.log(`  ${count} × ${what}`);
    await drained(db);
    printMemory(memory);
    printTables(before, await tableSizes(db));
    await balance(db, sink);
  });
}

interface Caller {
  api: Child;
  project: FirstProjectFacts;
  traffic: Traffic;
  db: Database;
}

/** What is asked, and how often in milliseconds. */
function trafficOf({ api, project, traffic, db }: Caller): [number, (round: number) => Promise<void>][] {
  const agent = new Agent({ connections: 50 });
  const ask = async (path: string, key: string, body?: object | string) => {
    const answer = await request(`${api.url}${path}`, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    await answer.body.dump();
    traffic.requests += 1;
    if (answer.statusCode >= 300) note(traffic, `${path} ${answer.statusCode}`);
  };
  const secret = `Bearer ${project.secretKey}`;
  const address = (round: number) => `person.${1 + ((round * 7919) % contacts)}@example.com`;
  return [
    [50, (n) => ask('/v1/track', `Bearer ${project.publicKey}`, eventOf(n, address(n)))],
    [
      100,
      (n) =>
        ask('/v1/send', secret, {
          to: address(n),
          from: project.sender,
          subject: 'Hello {{firstName ?? there}}',
          body: '<p>Hello</p>',
        }),
    ],
    [500, (n) => ask(pages[n % pages.length] ?? '', secret)],
    [1_000, () => reportNewest(db, (body) => ask('/webhooks/postmark', reporter, body))],
    [60_000, (n) => importSome(api, project, n)],
    [120_000, (n) => sendCampaign(api, project, n)],
  ];
}

// One event in twenty enters the automation.
const eventOf = (round: number, email: string) => ({
  email,
  event: round % 20 === 0 ? 'opened_app' : 'page.view',
  data: { score: round % 1_000 },
});

/** Works every so many milliseconds, each time in its own time, until the end, and waits for what is under way. */
async function repeat(
  everyMs: number,
  endsAt: number,
  work: (round: number) => Promise<void>,
  traffic: Traffic,
): Promise<void> {
  const began = performance.now();
  const open = new Set<Promise<void>>();
  for (let round = 0; performance.now() < endsAt; round += 1) {
    const one = work(round).catch((error: Error) => note(traffic, error.message.slice(0, 120)));
    open.add(one);
    void one.finally(() => open.delete(one));
    await pause(Math.max(0, began + (round + 1) * everyMs - performance.now()));
  }
  await Promise.all(open);
}

/** Says of mail of the last seconds that it was delivered and opened. */
async function reportNewest(db: Database, say: (body: string) => Promise<void>): Promise<void> {
  const mails = await db.rows<{ id: string; projectId: string; messageId: string; to: string }>(sql`
    select id, project_id as "projectId", message_id as "messageId", to_address as to from emails
    where message_id is not null and delivered_at is null order by id desc limit 20`);
  const at = new Date().toISOString();
  for (const { id, projectId, messageId, to } of mails)
    for (const RecordType of ['Delivery', 'Open']) {
      const Metadata = { eid: id, pid: projectId };
      const body = { RecordType, MessageID: messageId, Recipient: to, DeliveredAt: at, ReceivedAt: at, Metadata };
      await say(JSON.stringify(body));
    }
}

async function importSome(api: Child, project: FirstProjectFacts, round: number): Promise<void> {
  const rows = Array.from({ length: 2_000 }, (_, n) => `new.${round}.${n}@example.com,${n % 100}`);
  const form = new FormData();
  form.set('file', new Blob([['email,score', ...rows].join('\n')], { type: 'text/csv' }), 'people.csv');
  const answer = await fetch(`${api.url}/contacts/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.secretKey}` },
    body: form,
  });
  if (!answer.ok) throw new Error(`/contacts/import ${answer.status}: ${await answer.text()}`);
}

async function sendCampaign(api: Child, project: FirstProjectFacts, round: number): Promise<void> {
  const { id } = await post({ api, project }, '/campaigns', {
    name: `News ${round}`,
    subject: 'The herons are back',
    body: '<p>Dear {{firstName ?? reader}}, the herons are back.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  await post({ api, project }, `/campaigns/${id}/send`, {});
}

function memoryOf(processes: Record<string, readonly (Child | { pid: number })[]>): Record<string, number> {
  const of = (one: Child | { pid: number }) =>
    treeOf('pid' in one ? one.pid : (one.child.pid ?? 0)).reduce((megabytes, { pid }) => megabytes + pssMb(pid), 0);
  return Object.fromEntries(
    Object.entries(processes).map(([name, ones]) => [name, ones.reduce((megabytes, one) => megabytes + of(one), 0)]),
  );
}

/** Waits until everything that was accepted has an end. */
async function drained(db: Database): Promise<void> {
  for (const began = performance.now(); performance.now() - began < longestDrainMs; await pause(1_000)) {
    const row = await db.row<{ open: number }>(sql`
      select (select count(*) from emails where status = 'PENDING')::int + (select count(*) from campaigns where status = 'SENDING')::int
        + (select count(*) from automation_runs where status in ('RUNNING', 'WAITING'))::int as open`);
    if (row?.open === 0) return;
  }
  throw new Error('Mail, campaigns or runs are still open after five minutes');
}

function tableSizes(db: Database): Promise<TableSize[]> {
  return db.rows(`
    select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes, pg_indexes_size(c.oid)::float8 as indexes,
      s.n_live_tup::float8 as rows, s.n_dead_tup::float8 as dead
    from pg_class c join pg_stat_user_tables s on s.relid = c.oid order by bytes desc`);
}

function printMemory(samples: readonly Record<string, number>[]): void {
  const third = Math.max(1, Math.floor(samples.length / 3));
  console.log(`\n${'MB (PSS)'.padEnd(12)} first third      second       third        most   third beside second`);
  for (const name of Object.keys(samples[0] ?? {})) {
    const values = samples.map((sample) => sample[name] ?? 0);
    const thirds = [values.slice(0, third), values.slice(third, -third), values.slice(-third)].map(median);
    const shown = [...thirds, Math.max(...values)];
    const growth = (thirds[2] ?? 0) / (thirds[1] ?? 1);
    console.log(
      `  ${name.padEnd(10)}${shown.map((value) => value.toFixed(0).padStart(12)).join('')}   × ${growth.toFixed(2)}`,
    );
  }
}

function printTables(before: readonly TableSize[], after: readonly TableSize[]): void {
  const grown = new Map(before.map(({ name, bytes }) => [name, bytes]));
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(9);
  console.log(`\n${'MB'.padEnd(28)}in all  indexes    grown       rows       dead`);
  const [shown, small] = [after.filter(({ bytes }) => bytes >= 100_000), after.filter(({ bytes }) => bytes < 100_000)];
  for (const { name, bytes, indexes, rows, dead } of shown)
    console.log(
      `  ${name.padEnd(24)}${megabytes(bytes)}${megabytes(indexes)}${megabytes(bytes - (grown.get(name) ?? 0))}${String(rows).padStart(11)}${String(dead).padStart(11)}`,
    );
  const rest = small.reduce((total, { bytes }) => total + bytes, 0);
  console.log(`  ${`${small.length} others`.padEnd(24)}${megabytes(rest)}`);
  console.log(`  kB of these: ${small.map(({ name, bytes }) => `${name} ${(bytes / 1e3).toFixed(0)}`).join(', ')}`);
}

/** Compares what the ledger says was handed over with what arrived. */
async function balance(db: Database, sink: Child): Promise<void> {
  const row = await db.row<{ sent: number; other: number }>(sql`
    select count(*) filter (where message_id is not null)::int as sent, count(*) filter (where message_id is null)::int as other from emails`);
  const { messages } = await sink.ask<SinkCount>('count');
  console.log(`\n${row?.sent} mails were handed over, ${row?.other} were not; ${messages} arrived`);
  if (row?.sent !== messages) throw new Error('The ledger and the sink disagree');
}

function note(traffic: Traffic, what: string): void {
  traffic.refused.set(what, (traffic.refused.get(what) ?? 0) + 1);
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, one) => total + one, 0);

if (import.meta.main) await benchMixed();
