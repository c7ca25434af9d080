import { newId } from '../src/lib/ids.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import type { Store } from '../src/store/orm.ts';
import { median as middle } from './support/automation-bench.ts';
import type { Child } from './support/child.ts';
import { inDeliveryWorld } from './support/delivery-world.ts';
import { runLoad } from './support/load.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { type ReportChannel, reportChannels, type Told } from './support/report-bodies.ts';

const mails = Number(process.env.BENCH_MAILS ?? 6_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const connections = 50;
const repeats = 3;

interface Run {
  perSecond: number;
  medianMs: number;
  p99Ms: number;
  /** Microseconds of processor time a report, by process. */
  cpu: Record<string, number>;
}

/**
 * The reports of a provider, each in a request of its own, beside a hand-written process that has a statement for each. Of all mails the reports come in
 * the wrong order, clicks first, and each comes three times. Then what a customer's requests take beside them. BENCH_PART names one of the providers,
 * `postmark` or `ses`, whose reports come through Amazon SNS and are signed.
 */
export async function benchReports(): Promise<void> {
  const part = process.env.BENCH_PART;
  if (part && !Object.hasOwn(reportChannels, part)) throw new Error(`BENCH_PART=${part} is no provider`);
  for (const [name, channel] of Object.entries(reportChannels))
    if (!part || part === name) await benchChannel(name, channel);
}

function benchChannel(provider: string, channel: ReportChannel): Promise<void> {
  return inDeliveryWorld(
    { logLevel: 'info', settings: channel.settings },
    async ({ databaseUrl, store, project, start }) => {
      const ours = { process: await start('./api-process.ts', channel.apiArguments), isOurs: true, channel };
      const byHand = await start('./reports-floor-process.ts', [databaseUrl, ...channel.floorArguments]);
      const floor = { process: byHand, isOurs: false, channel };
      const sides = { floor, Fernpost: ours };
      const runs: Record<keyof typeof sides, Run[]> = { floor: [], Fernpost: [] };
      for (const side of [floor, ours]) await measure(side, store, project, 300);
      for (let round = 0; round < rounds; round += 1)
        for (const name of round % 2 === 0 ? (['floor', 'Fernpost'] as const) : (['Fernpost', 'floor'] as const))
          runs[name].push(await measure(sides[name], store, project, mails));
      print(provider, median(runs.floor), median(runs.Fernpost));
      printRatios(runs.floor, runs.Fernpost);
      const bodies = await prepare(ours, store, project, mails);
      const alone = await customer(ours.process, project);
      const [beside, load] = await Promise.all([
        customer(ours.process, project),
        report(ours, bodies.slice(0, 10_000)),
      ]);
      console.log(
        `  /v1/track, 4 connections: median ${alone.medianMs.toFixed(1)} ms, 99th ${alone.p99Ms.toFixed(1)}; beside ${load.requests} reports ${beside.medianMs.toFixed(1)} and ${beside.p99Ms.toFixed(1)}`,
      );
    },
  );
}

interface Side {
  process: Child;
  isOurs: boolean;
  channel: ReportChannel;
}

const report = ({ process, isOurs, channel }: Side, bodies: readonly string[]) =>
  runLoad({
    url: process.url,
    path: isOurs ? channel.path : '/report',
    authorization: channel.authorization,
    contentType: channel.contentType,
    kind: 'reports',
    from: '',
    connections,
    seconds: 0,
    bodies,
  });

const customer = (side: Child, project: FirstProjectFacts) =>
  runLoad({
    url: side.url,
    path: '/v1/track',
    authorization: `Bearer ${project.publicKey}`,
    kind: 'track',
    from: project.sender,
    connections: 4,
    seconds: 5,
  });

/** Writes mail that was handed over, half of it of one campaign; answers what the provider says of it. */
async function prepare(
  { isOurs, channel }: Side,
  { db }: Store,
  { projectId, sender }: FirstProjectFacts,
  count: number,
): Promise<string[]> {
  await db.rows(
    'truncate contacts, events, emails, webhook_receipts, floor_mails, floor_campaigns, floor_contacts, floor_hours, floor_receipts, floor_events cascade',
  );
  const campaign = newId();
  const ids = Array.from({ length: count }, () => newId());
  if (isOurs) {
    await db.rows(
      `insert into campaigns (id, project_id, name, subject, body, "from", status, audience_type, send_seq)
       values ($1, $2, 'Spring', 'Spring', '<p>Hi</p>', $3, 'SENT', 'ALL', 1)`,
      [campaign, projectId, sender],
    );
    await db.rows(
      `with people as (
         insert into contacts (id, project_id, email, subscribed) select id, $2, 'person' || n || '@example.com', true
         from unnest($1::uuid[]) with ordinality as p (id, n) returning id, email)
       insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, campaign_id, send_seq, status, message_id, sent_at)
       select p.id, $2, p.id, p.email, $3, 'A heron', case when c.id is null then 'TRANSACTIONAL' else 'CAMPAIGN' end, 'MARKETING', c.id,
         case when c.id is not null then 1 end, 'SENT', 'm-' || p.id, now()
       from people p left join campaigns c on c.id = $4 and hashtext(p.id::text) % 2 = 0`,
      [ids, projectId, sender, campaign],
    );
  } else {
    await db.rows('insert into floor_campaigns (id) values ($1)', [campaign]);
    await db.rows('insert into floor_contacts (id) select unnest($1::uuid[])', [ids]);
    await db.rows(
      `insert into floor_mails (id, project_id, contact_id, campaign_id, subject)
       select id, $2, id, case when hashtext(id::text) % 2 = 0 then $3::uuid end, 'A heron' from unnest($1::uuid[]) id`,
      [ids, projectId, campaign],
    );
  }
  await db.rows('vacuum analyze contacts, emails, events, floor_mails, floor_events');
  await db.rows('checkpoint');
  const at = (minute: number) => new Date(Date.now() - (30 - minute) * 60_000).toISOString();
  const told = (what: Told['what'], minute: number, id: string, n: number) =>
    channel.body({ what, id, n, projectId, from: sender, to: `person${n + 1}@example.com`, at: at(minute) });
  const clicks = ids.flatMap((id, n) => (n % 7 === 0 ? [told('Click', 20, id, n)] : []));
  const opens = ids.flatMap((id, n) => (n % 2 === 0 ? [told('Open', 10, id, n)] : []));
  const outcomes = ids.map((id, n) => told(n % 100 === 1 ? 'Bounce' : 'Delivery', 1, id, n));
  const once = [...clicks, ...opens, ...outcomes];
  return Array.from({ length: repeats }, () => once).flat();
}

/** Reports everything to one side; anything but each report counted once is an error. */
async function measure(side: Side, store: Store, project: FirstProjectFacts, count: number): Promise<Run> {
  const bodies = await prepare(side, store, project, count);
  const { child } = side.process;
  const cpu = async () => ({ API: cpuOfTree(child.pid ?? 0), ...(await cpuOfServers(store.db)) });
  const before: Record<string, number> = await cpu();
  const load = await report(side, bodies);
  if (load.failures > 0) throw new Error(`${load.failures} reports were not taken`);
  const after = await cpu();
  const events = await store.db.row<{ count: number }>(
    `select count(*)::int from ${side.isOurs ? 'events' : 'floor_events'} where name like 'email.%'`,
  );
  if (events?.count !== bodies.length / repeats)
    throw new Error(`${events?.count} events of ${bodies.length / repeats} reports`);
  const spent = Object.entries(after).map(([name, value]) => [
    name,
    (1e6 * (value - (before[name] ?? 0))) / bodies.length,
  ]);
  return {
    perSecond: load.requestsPerSecond,
    medianMs: load.medianMs,
    p99Ms: load.p99Ms,
    cpu: Object.fromEntries(spent),
  };
}

function print(provider: string, floor: Run, ours: Run): void {
  console.log(
    `\nReports of ${provider}: ${mails} mails, each report ${repeats} times, ${connections} connections, ${rounds} rounds, Postgres as shipped`,
  );
  for (const [name, run] of Object.entries({ floor, Fernpost: ours })) {
    const cpu = Object.entries(run.cpu).map(([process, us]) => `${process} ${us.toFixed(0)}`);
    console.log(
      `  ${name.padEnd(10)} ${run.perSecond.toFixed(0)} reports/s, median ${run.medianMs.toFixed(1)} ms, 99th ${run.p99Ms.toFixed(1)} ms; microseconds of processor a report: ${cpu.join(', ')}`,
    );
  }
}

/** The ratios of rounds that came one after the other, which a busy machine slows down alike. */
function printRatios(floor: readonly Run[], ours: readonly Run[]): void {
  const all = ({ cpu }: Run) => Object.values(cpu).reduce((sum, us) => sum + us, 0);
  const row = (what: string, of: (floor: Run, ours: Run) => number) => {
    const ratios = ours.map((run, round) => of(floor[round] ?? run, run)).sort((one, other) => one - other);
    const shown = [middle(ratios), ratios[0] ?? 0, ratios.at(-1) ?? 0].map((ratio) => ratio.toFixed(2));
    console.log(`  ratio of ${what} ${shown[0]} (${shown[1]} to ${shown[2]})`);
  };
  row('reports a second', (one, other) => other.perSecond / one.perSecond);
  row('processor time, the floor’s beside ours', (one, other) => all(one) / all(other));
}

function median(runs: Run[]): Run {
  const middle = runs.toSorted((one, other) => one.perSecond - other.perSecond)[Math.floor(runs.length / 2)];
  if (!middle) throw new Error('No run was made');
  return middle;
}

if (import.meta.main) await benchReports();
