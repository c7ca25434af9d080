import { loadavg } from 'node:os';
import { Agent, request } from 'undici';
import { pause } from '../src/lib/time.ts';
import { createOperatorProject, type FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { type Database, sql } from '../src/store/sql.ts';
import { fillAudience } from './support/audience.ts';
import { inDeliveryWorld } from './support/delivery-world.ts';
import { type HostileOrder, type HostileResult, hostileLoads, startHostile } from './support/hostile.ts';
import { fillMail } from './support/mail.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import type { Turns } from './support/turns.ts';

const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rounds = Number(process.env.BENCH_ROUNDS ?? 2);
const contacts = Number(process.env.BENCH_CONTACTS ?? 200_000);
const loads = process.env.BENCH_LOADS?.split(',') ?? [...Object.keys(hostileLoads), 'smtp'];
// A load that begins before this ends within four minutes.
const mostSeconds = Number(process.env.BENCH_MOST_SECONDS ?? 210);
// Fourteen a second, within the limit of requests that every project has.
const everyMs = 70;
const longestMs = 60_000;
const goal = 2;
// Where the medians without a load differ by more than this, the machine is busy with something else.
const steady = 1.5;

/** Milliseconds of each mail, until the request was answered and until the provider had it. */
interface Times {
  answered: number[];
  delivered: number[];
}

/** The measurements of one load. `used`: cores, by process; `turns`: of event loops beside the load, by process, the worst of all rounds. */
interface Result extends HostileResult {
  alone: Times[];
  beside: Times[];
  used: Record<string, number>;
  turns: Record<string, Turns>;
}

/** How long a project's mail takes beside a project that loads the same installation, as a ratio to how long it takes without that load. */
export function benchNeighbours(): Promise<void> {
  const settings = {
    RATE_LIMIT_PER_MINUTE: process.env.RATE_LIMIT_PER_MINUTE ?? '1000',
    SMTP_IN_CONNECTIONS_PER_NETWORK: '20',
  };
  return inDeliveryWorld({ settings }, async ({ config, store: { db }, project, start }) => {
    const hostile = await createOperatorProject(config, {
      owner: 'owner@hostile.test',
      sender: 'hello@hostile.test',
      name: 'Hostile',
    });
    await fillAudience(db, hostile.projectId, { contacts, events: contacts });
    await fillMail(db, hostile.projectId, { mails: contacts / 4, contacts: contacts / 40, days: 90 });
    // A project with so many bounces is soon disabled for its reputation, and then it can load nothing.
    await db.count('update mail_count_changes set rated = 0, rated_bounced = 0, rated_complained = 0');
    const worker = await start('./campaign-child.ts', ['worker']);
    const api = await start('./api-process.ts', []);
    const smtp = await start('./api-process.ts', ['smtp']);
    const cpu = async () => ({
      API: cpuOfTree(api.child.pid ?? 0),
      worker: cpuOfTree(worker.child.pid ?? 0),
      ...(await cpuOfServers(db)),
    });
    const processes = { API: api, worker };
    const order = await orderOf(db, hostile);
    console.log(
      `\nNeighbours: a mail each ${everyMs} ms for ${seconds} s, in ${rounds} rounds without and with each load; ${settings.RATE_LIMIT_PER_MINUTE} requests a minute`,
    );
    const measure = () => mailFor(seconds, api.url, db, project);
    await measure();
    // Both halves of a round are measured with it.
    await Promise.all([api.ask<Turns>('turns'), worker.ask<Turns>('turns')]);
    for (const load of loads) {
      if (performance.now() > mostSeconds * 1_000) {
        console.log(`  ${load.padEnd(10)} not measured: BENCH_MOST_SECONDS (${mostSeconds}) are over`);
        continue;
      }
      const result: Result = { alone: [], beside: [], statuses: {}, used: {}, turns: {}, isWhole: true };
      for (let round = 0; round < rounds; round += 1) {
        await calm(db);
        result.alone.push(await measure());
        const running = startHostile({ ...order, load, url: load === 'smtp' ? smtp.url : api.url });
        await pause(1_000);
        const before: Record<string, number> = await cpu();
        for (const process of Object.values(processes)) await process.ask<Turns>('turns');
        result.beside.push(await measure());
        for (const [name, value] of Object.entries(await cpu()))
          result.used[name] = (result.used[name] ?? 0) + (value - (before[name] ?? 0)) / seconds / rounds;
        for (const [name, process] of Object.entries(processes)) {
          const { p99, longest } = await process.ask<Turns>('turns');
          const known = result.turns[name] ?? { p99: 0, longest: 0 };
          result.turns[name] = { p99: Math.max(known.p99, p99), longest: Math.max(known.longest, longest) };
        }
        const { statuses, isWhole } = await running.stop();
        result.isWhole &&= isWhole;
        for (const [status, count] of Object.entries(statuses))
          result.statuses[status] = (result.statuses[status] ?? 0) + count;
      }
      print(load, result);
    }
    console.log(`  ${(performance.now() / 1_000).toFixed(0)} s in all`);
  });
}

async function orderOf(db: Database, hostile: FirstProjectFacts): Promise<Omit<HostileOrder, 'load' | 'url'>> {
  const { publicKey, secretKey, sender, projectId } = hostile;
  const campaign = await db.row<{ id: string }>(sql`
    insert into campaigns (id, project_id, name, subject, body, "from", audience_type)
      values (uuidv7(), ${projectId}, 'Walks', 'Hello {{firstName}}', '<p>Dear {{firstName}}, the herons are back.</p>', ${sender}, 'ALL')
      returning id`);
  return {
    publicKey,
    secretKey,
    sender,
    connections: 1_000,
    campaignId: campaign?.id ?? '',
    contact: 'reader.1@example.com',
  };
}

/** Sends at a steady pace, whatever the answers take, and waits for all deliveries. */
async function mailFor(forSeconds: number, url: string, db: Database, project: FirstProjectFacts): Promise<Times> {
  const agent = new Agent({ connections: 50 });
  const began = new Map<string, number>();
  const answered: number[] = [];
  const send = async (n: number) => {
    const at = performance.now();
    const answer = await request(`${url}/v1/send`, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        to: `reader${n}@example.com`,
        from: project.sender,
        subject: 'Hello {{firstName}}',
        body: '<p>Hello {{firstName}}</p>',
        data: { firstName: 'Ada' },
      }),
    });
    const body = (await answer.body.json()) as { data?: { emails: { email: string }[] } };
    const id = body.data?.emails[0]?.email;
    if (id === undefined) throw new Error(`${answer.statusCode}: ${JSON.stringify(body)}`);
    answered.push(performance.now() - at);
    began.set(id, performance.timeOrigin + at);
  };
  const sending: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let n = 0; n < (forSeconds * 1_000) / everyMs; n += 1) {
    sending.push(send(n));
    await pause(Math.max(0, startedAt + (n + 1) * everyMs - performance.now()));
  }
  await Promise.all(sending);
  await agent.close();
  return { answered, delivered: await deliveredAfter(db, began) };
}

/** How long after its request the provider had each mail: `sent_at` is the instant that the provider says. */
async function deliveredAfter(db: Database, began: ReadonlyMap<string, number>): Promise<number[]> {
  const ids = [...began.keys()];
  for (const startedAt = performance.now(); ; await pause(50)) {
    const rows = await db.rows<{ id: string; at: number }>(sql`
      select id, (extract(epoch from sent_at) * 1000)::float8 as at from emails where id = any(${ids}::uuid[]) and sent_at is not null`);
    if (rows.length === ids.length) return rows.map(({ id, at }) => at - (began.get(id) ?? 0));
    if (performance.now() - startedAt > longestMs)
      throw new Error(`${ids.length - rows.length} mails are not delivered`);
  }
}

/** Waits until Postgres has nothing left to do of a load before, and the windows of its limits have ended. */
async function calm(db: Database): Promise<void> {
  for (let quiet = 0; quiet < 4; quiet += 1) {
    await pause(250);
    const row = await db.row<{ busy: number }>(sql`
      select count(*)::int as busy from pg_stat_activity
      where application_name = 'fernpost-reads' and state = 'active' or exists (select from dry_runs where state = 'RUNNING')`);
    if (row?.busy) quiet = -1;
  }
  await db.count('delete from rate_windows');
  await db.count('delete from attempt_windows');
}

function print(load: string, { alone, beside, statuses, isWhole, used, turns }: Result): void {
  let isMet = true;
  const figures = (['answered', 'delivered'] as const).map((what) => {
    const shares = [0.5, 0.95].map((share) => {
      const [without, with_] = [alone, beside].map((times) =>
        at(
          times.flatMap((one) => one[what]),
          share,
        ),
      ) as [number, number];
      isMet &&= with_ / without <= goal;
      return `${(with_ / without).toFixed(2)} (${without.toFixed(1)} → ${with_.toFixed(1)} ms)`;
    });
    return `${what} ${shares.join(', 95th ')}`;
  });
  const said = Object.entries(statuses).map(([status, count]) => `${status} ${count}`);
  const cores = Object.entries(used).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  const loops = Object.entries(turns).map(
    ([name, { p99, longest }]) => `${name} ${p99.toFixed(1)}, longest ${longest.toFixed(0)} ms`,
  );
  const medians = alone.map(({ answered }) => at(answered, 0.5));
  const spread = Math.max(...medians) / Math.min(...medians);
  const verdict = spread > steady ? 'unsteady' : isMet ? '≤ 2' : '> 2';
  console.log(
    `  ${load.padEnd(10)} ${verdict.padEnd(8)}  ${figures.join('   ')}   without load ×${spread.toFixed(2)}   cores ${cores.join(', ')}   turns 99th ${loops.join(', ')}   load ${loadavg()[0]?.toFixed(1)}   ${said.join(', ')}${isWhole ? '' : '   THE LOAD ENDED EARLY'}`,
  );
}

function at(times: readonly number[], share: number): number {
  const inOrder = times.toSorted((one, other) => one - other);
  return inOrder[Math.ceil(inOrder.length * share) - 1] ?? Number.NaN;
}

if (import.meta.main) await benchNeighbours();
