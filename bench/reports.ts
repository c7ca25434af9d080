import { newId } from '../src/lib/ids.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import type { Store } from '../src/store/orm.ts';
import { median as middle } from './support/automation-bench.ts';
import type { Child } from './support/child.ts';
import { inDeliveryWorld } from './support/delivery-world.ts';
import { runLoad } from './support/load.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { reporter, reporterSettings } from './support/work.ts';

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
 * Postmark's reports, each in a request of its own, beside a hand-written process that has a statement for each. Of all mails the reports come in the wrong
 * order, clicks first, and each comes three times. Then what a customer's requests take beside them.
 */
export function benchReports(): Promise<void> {
  return inDeliveryWorld(
    { logLevel: 'info', settings: reporterSettings },
    async ({ databaseUrl, store, project, start }) => {
      const ours = await start('./api-process.ts', []);
      const floor = await start('./reports-floor-process.ts', [databaseUrl, reporter]);
      const sides = { floor, Fernpost: ours };
      const runs: Record<keyof typeof sides, Run[]> = { floor: [], Fernpost: [] };
      for (const side of [floor, ours]) await measure(side, side === ours, store, project, 300);
      for (let round = 0; round < rounds; round += 1)
        for (const name of round % 2 === 0 ? (['floor', 'Fernpost'] as const) : (['Fernpost', 'floor'] as const))
          runs[name].push(await measure(sides[name], name === 'Fernpost', store, project, mails));
      print(median(runs.floor), median(runs.Fernpost));
      printRatios(runs.floor, runs.Fernpost);
      const bodies = await prepare(store, project, mails, true);
      const alone = await customer(ours, project);
      const [beside, load] = await Promise.all([customer(ours, project), report(ours, true, bodies.slice(0, 10_000))]);
      console.log(
        `  /v1/track, 4 connections: median ${alone.medianMs.toFixed(1)} ms, 99th ${alone.p99Ms.toFixed(1)}; beside ${load.requests} reports ${beside.medianMs.toFixed(1)} and ${beside.p99Ms.toFixed(1)}`,
      );
    },
  );
}

const report = (side: Child, isOurs: boolean, bodies: readonly string[]) =>
  runLoad({
    url: side.url,
    path: isOurs ? '/webhooks/postmark' : '/report',
    authorization: reporter,
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

/** Writes mail that was handed over, half of it of one campaign; answers what Postmark says of it. */
async function prepare(
  { db }: Store,
  { projectId, sender }: FirstProjectFacts,
  count: number,
  isOurs: boolean,
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
  const body = (id: string, index: number, kind: object) =>
    JSON.stringify({
      ...kind,
      MessageID: `m-${id}`,
      Recipient: `person${index + 1}@example.com`,
      Metadata: { eid: id, pid: projectId },
    });
  const clicks = ids.flatMap((id, n) =>
    n % 7 === 0
      ? [body(id, n, { RecordType: 'Click', ReceivedAt: at(20), OriginalLink: `https://acme.test/${n % 9}` })]
      : [],
  );
  const opens = ids.flatMap((id, n) =>
    n % 2 === 0 ? [body(id, n, { RecordType: 'Open', ReceivedAt: at(10), FirstOpen: true })] : [],
  );
  const outcomes = ids.map((id, n) =>
    n % 100 === 1
      ? body(id, n, {
          RecordType: 'Bounce',
          ID: n,
          Type: 'HardBounce',
          BouncedAt: at(1),
          Email: `person${n + 1}@example.com`,
          Description: '550',
        })
      : body(id, n, { RecordType: 'Delivery', DeliveredAt: at(1) }),
  );
  const once = [...clicks, ...opens, ...outcomes];
  return Array.from({ length: repeats }, () => once).flat();
}

/** Reports everything to one side; anything but each report counted once is an error. */
async function measure(
  side: Child,
  isOurs: boolean,
  store: Store,
  project: FirstProjectFacts,
  count: number,
): Promise<Run> {
  const bodies = await prepare(store, project, count, isOurs);
  const cpu = async () => ({ API: cpuOfTree(side.child.pid ?? 0), ...(await cpuOfServers(store.db)) });
  const before: Record<string, number> = await cpu();
  const load = await report(side, isOurs, bodies);
  if (load.failures > 0) throw new Error(`${load.failures} reports were not taken`);
  const after = await cpu();
  const events = await store.db.row<{ count: number }>(
    `select count(*)::int from ${isOurs ? 'events' : 'floor_events'} where name like 'email.%'`,
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

function print(floor: Run, ours: Run): void {
  console.log(
    `\nReports: ${mails} mails, each report ${repeats} times, ${connections} connections, ${rounds} rounds, Postgres as shipped`,
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
