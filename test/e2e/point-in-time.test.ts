import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createSandbox } from '@fernpost/mail-sandbox';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type RestoreReport, restoreReports } from '../../src/feedback/reports/restored.ts';
import { pause } from '../../src/lib/time.ts';
import { entities } from '../../src/main/setup/database-settings.ts';
import { openStore } from '../../src/store/orm.ts';
import { type ApiProcess, apiProcess } from '../support/api-process.ts';
import { archivedPostgres } from '../support/archived-postgres.ts';
import { aWorkflow, call, type Project } from '../support/client-at-work.ts';
import { programEnv } from '../support/program-env.ts';
import { startReceiver } from '../support/receiver.ts';
import { temporalStore } from '../support/temporal-store.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// The whole service on a Postgres that archives its log. In the middle of campaigns, queued mail, workflows and webhooks everything but Temporal is
// killed, and Postgres is set back by some twenty seconds. The provider's search is a minute behind, in pages, and misses one message in a hundred.
const run = promisify(execFile);
const root = new URL('../../', import.meta.url);
const lagMs = 60_000;
const missedEvery = 100;
const missedPlace = 37;
const lostMs = 20_000;
const audience = { running: 3_000, due: 1_000 };

interface Message {
  id: string;
  to: { email: string }[];
  subject: string;
}

/** Asks again and again, but no oftener than the sandbox, which is of this process, can answer beside its mail. */
const eventually = <T>(ask: () => T) => expect.poll(ask, { interval: 1000 });

/** A sandbox whose search is behind, and never shows one message in a hundred. */
async function aLateSandbox() {
  const places = new Map<string, number>();
  const sandbox = await createSandbox({
    ...{ host: '127.0.0.1', port: 0, dataDir: null, delayMs: 0, keep: 100_000 },
    ...{ webhookUrl: null, webhookUser: '', webhookPassword: '' },
    searchable(id, at) {
      const place = places.get(id) ?? places.size;
      places.set(id, place);
      return place % missedEvery !== missedPlace && at + lagMs <= Date.now();
    },
  });
  onTestFinished(() => sandbox.close());
  const received = async () => {
    const all: Message[] = [];
    for (;;) {
      const last = all.at(-1);
      const url = `${sandbox.url}/api/messages?limit=1000${last ? `&before=${last.id}` : ''}`;
      const page = ((await (await fetch(url)).json()) as { messages: Message[] }).messages;
      all.push(...page);
      if (page.length < 1000) return all;
    }
  };
  /** How often each recipient got each subject. */
  const arrived = async () => {
    const counts = new Map<string, number>();
    for (const { to, subject } of await received()) {
      const name = `${to[0]?.email} ${subject}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  };
  const isMissed = (id: string) => (places.get(id) ?? 0) % missedEvery === missedPlace;
  return { url: sandbox.url, received, arrived, isMissed };
}

test('a point-in-time restore in the middle of everything sends nothing twice, and names the mail of which nobody can tell', async () => {
  await using postgres = await archivedPostgres();
  await using store = await temporalStore();
  await using receiver = await startReceiver();
  const { url: POSTMARK_API_URL, received, arrived, isMissed } = await aLateSandbox();
  const settings: Record<string, string> = {
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: store.address,
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(4).toString('hex')}`,
    TEMPORAL_SETUP: 'true',
    POSTMARK_API_URL,
    RATE_LIMIT_PER_MINUTE: '0',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    SEND_CHUNK: '20',
  };
  const program = async (file: string, ...args: string[]) => {
    const env = { ...programEnv(), NODE_ENV: 'test', ...settings };
    return (await run(process.execPath, [`src/main/${file}`, ...args], { cwd: root, env })).stdout;
  };
  const connected = async () => {
    const opened = await openStore({ url: postgres.url, poolSize: 5, applicationName: 'fernpost-test' }, entities);
    onTestFinished(() => opened.close());
    return opened.db;
  };
  const processes: { api?: ApiProcess; workers: WorkerProcess[] } = { workers: [] };
  const startProcesses = async () => {
    processes.workers = await Promise.all([workerProcess(settings), workerProcess(settings)]);
    processes.api = await apiProcess(settings);
    return processes.api.port;
  };
  const killProcesses = () =>
    Promise.all([processes.api, ...processes.workers].map((one) => one?.[Symbol.asyncDispose]()));
  await using _ = { [Symbol.asyncDispose]: async () => void (await killProcesses()) };

  await program('migrate.ts', '--database');
  let port = await startProcesses();
  let db = await connected();
  const made = async (name: string): Promise<Project> => {
    const args = ['--name', name, '--owner', `owner@${name}.test`, '--sender', `hello@${name}.test`];
    return JSON.parse(await program('project.ts', 'create', ...args));
  };
  const [news, later, queue, shop] = [await made('news'), await made('later'), await made('queue'), await made('shop')];
  const setRate = ({ projectId }: Project, rate: number | null) =>
    db.count('update projects set send_rate = $2 where id = $1', [projectId, rate]);
  const aCampaign = async (project: Project, subject: string, people: number) => {
    await db.count(
      `insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), $1, 'reader-' || n || '@example.com', true from generate_series(1, $2) n`,
      [project.projectId, people],
    );
    const campaign = { name: subject, subject, body: '<p>Hi</p>', from: project.sender, audienceType: 'ALL' };
    return (await call(port, project, 'POST', '/campaigns', campaign)).data.id as string;
  };
  await aWorkflow(port, shop);
  const endpoint = await call(port, shop, 'POST', '/webhook-endpoints', {
    ...{ url: `http://127.0.0.1:${receiver.port}/`, events: ['order.*', 'email.sent'] },
  });

  // Slow enough that a restore finds all of it under way.
  await setRate(news, 25);
  await setRate(later, 25);
  await setRate(queue, 4);
  const running = await aCampaign(news, 'Running', audience.running);
  await call(port, news, 'POST', `/campaigns/${running}/send`, {});
  const due = await aCampaign(later, 'Due', audience.due);

  const people: string[] = [];
  const paid: string[] = [];
  const write = async (project: Project, name: string) => {
    const mail = { from: project.sender, to: `${name}@example.com`, subject: 'Letter', body: '<p>Hi</p>' };
    await call(port, project, 'POST', '/v1/send', mail);
  };
  const track = (email: string, event: string) => call(port, shop, 'POST', '/events/track', { email, event });
  const enter = async () => {
    people.push(`member-${people.length}@example.org`);
    await track(people.at(-1) ?? '', 'signup');
  };
  const stopping = new AbortController();
  const traffic = (async () => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      await write(shop, `friend-${n}`);
      await track(`buyer-${n}@example.org`, 'order.paid');
      if (n % 2 === 0) await enter();
      const paying = people.at(-40);
      if (n % 4 === 0 && paying !== undefined) await track(paid[paid.push(paying) - 1] ?? '', 'paid');
      await pause(200);
    }
    // Whoever dies last may answer nothing.
  })().catch((error) => (stopping.signal.aborted ? undefined : Promise.reject(error)));

  const sentOf = async (subject: string) =>
    [...(await arrived()).keys()].filter((name) => name.endsWith(` ${subject}`)).length;
  await eventually(() => sentOf('Running')).toBeGreaterThan(50);
  await postgres.backUp();
  for (let n = 0; n < 400; n++) await write(queue, `queued-${n}`);
  await eventually(() => sentOf('After the event')).toBeGreaterThan(5);
  const scheduledFor = new Date(Date.now() + 5_000).toISOString();
  await call(port, later, 'POST', `/campaigns/${due}/send`, { scheduledFor });
  await pause(3_000);
  const restoredTo = new Date().toISOString();
  await pause(lostMs);
  stopping.abort();
  await Promise.all([killProcesses(), postgres.kill()]);
  await traffic;
  const before = await arrived();
  expect(await sentOf('Due')).toBeGreaterThan(50);

  await postgres.restore(restoredTo);
  settings.RESTORED_TO = restoredTo;
  await program('migrate.ts', '--database');
  db = await connected();
  const known = await db.row<{ sent: number }>(`select count(*)::int as sent from emails where status = 'SENT'`);
  expect(known?.sent).toBeLessThan(before.size - 500);
  port = await startProcesses();
  await write(shop, 'after');
  let report: RestoreReport | undefined;
  let left = before;
  await eventually(async () => {
    const now = await arrived();
    [report] = await restoreReports(db);
    if (report?.phase !== 'FINISHED') left = now;
    return report?.phase;
  }).toBe('FINISHED');
  expect(left).toEqual(before);
  const named = await db.rows<{ id: string; message: string | null; outcome: string }>(
    'select email_id as id, message_id as message, outcome from restored_mail',
  );
  const unknown = new Set(report?.unknown.map(({ emailId }) => emailId));
  expect(named.filter(({ outcome }) => outcome === 'UNKNOWN').length).toBe(unknown.size);

  // All else goes on: campaigns, what is queued, and workflows, whose events since that instant are lost.
  for (const project of [news, later, queue]) await setRate(project, null);
  const runsIn = (status: string) =>
    db.rows<{ email: string }>(
      `select c.email from automation_step_runs s join contacts c on c.id = s.contact_id where s.status = $1 order by 1`,
      [status],
    );
  await eventually(() => runsIn('SCHEDULED')).toEqual([]);
  const [waiting, payers] = [await runsIn('WAITING'), new Set(paid)];
  const unpaid = waiting.filter(({ email }) => !payers.has(email));
  for (const { email } of unpaid) await track(email, 'paid');
  await eventually(() => runsIn('WAITING')).toHaveLength(waiting.length - unpaid.length);
  const unsettled = () =>
    db.rows(`select id from emails where status in ('PENDING', 'SENDING') and id <> all($1::uuid[])`, [[...unknown]]);
  await eventually(unsettled).toEqual([]);
  expect(await program('project.ts', 'restored', 'fail')).toContain(`${unknown.size} mails have failed`);
  for (const [project, id, people] of [
    [news, running, audience.running],
    [later, due, audience.due],
  ] as const) {
    const now = async () => (await call(port, project, 'GET', `/campaigns/${id}`)).data.status;
    await eventually(now).toBe('SENT');
    const given = await db.row<{ up: number }>(
      `select count(*)::int as up from emails where campaign_id = $1 and id = any($2::uuid[])`,
      [id, [...unknown]],
    );
    const handedOver = people - (given?.up ?? 0);
    expect((await call(port, project, 'GET', `/campaigns/${id}/audit`)).data).toMatchObject({
      addsUp: true,
      handedOver,
    });
  }

  // Everything once, but for what was named.
  const after = await arrived();
  const rows = await db.rows<{ id: string; name: string; status: string; message: string | null }>(
    `select e.id, e.status, e.message_id as message, e.to_address || ' ' || coalesce(e.subject, e.render ->> 'subject', c.subject) as name
     from emails e left join campaigns c on c.id = e.campaign_id`,
  );
  expect([...after].filter(([, times]) => times > 1)).toEqual([]);
  expect(after.has('after@example.com Letter')).toBe(true);
  expect(rows.filter(({ id, name, status }) => !unknown.has(id) && !(status === 'SENT' && after.has(name)))).toEqual(
    [],
  );
  expect(rows.filter(({ id, status }) => unknown.has(id) && status !== 'FAILED')).toEqual([]);
  const accounted = new Set([...rows, ...named].map(({ message }) => message));
  const nameless = (await received()).filter(({ id }) => !accounted.has(id));
  expect(nameless.filter(({ id }) => !isMissed(id))).toEqual([]);
  const arrivedUnknown = rows.filter(({ id, name }) => unknown.has(id) && after.has(name));

  // The same event is the same call, and no event of the restored database is missing.
  const { id: endpointId } = endpoint;
  const audit = () => call(port, shop, 'GET', `/webhook-endpoints/${endpointId}/audit`);
  await eventually(audit).toMatchObject({ pending: 0, failed: 0, addsUp: true });
  const calls = new Map<string, string>();
  const mails = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.requests) {
    const id = String(headers['webhook-id']);
    expect(calls.get(id) ?? body).toBe(body);
    calls.set(id, body);
    const { type, data } = JSON.parse(body);
    if (type === 'email.sent') mails.set(data.email.id, (mails.get(data.email.id) ?? new Set()).add(id));
  }
  const events = await db.rows<{ id: string }>(`select id from events where name like 'order.%'`);
  expect(events.filter(({ id }) => !calls.has(`evt_${id}`))).toEqual([]);
  const toldTwice = [...mails].filter(([, ids]) => ids.size > 1).map(([id]) => id);
  const settledAnew = new Set(named.filter(({ outcome }) => outcome === 'SETTLED').map(({ id }) => id));
  expect(toldTwice.filter((id) => !settledAnew.has(id))).toEqual([]);
  console.log({
    ...{ sentBefore: before.size, knownThen: known?.sent, outcomes: report?.outcomes, sentInTheEnd: after.size },
    ...{ unknown: unknown.size, unknownThatArrived: arrivedUnknown.length, lostAndMissed: nameless.length },
    ...{ webhookCalls: receiver.requests.length, webhooks: calls.size, toldTwice: toldTwice.length },
  });
});

test('after a restore to an instant that was too early, another one has to name the timeline of the backup', async () => {
  await using postgres = await archivedPostgres();
  const asked = async <Value>(statement: string) => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    try {
      return (await client.query<{ value: Value }>(statement)).rows.map(({ value }) => value);
    } finally {
      await client.end();
    }
  };
  const insert = async (n: number) => {
    await asked(`insert into facts values (${n})`);
    await pause(10);
    return new Date().toISOString();
  };
  const all = () => asked<number>('select n as value from facts order by n');
  /** Waits until the archive has all that has been written; answers its timeline. */
  const archived = async () => {
    const [segment = ''] = await asked<string>('select pg_walfile_name(pg_current_wal_lsn()) as value');
    await asked(`select pg_logical_emit_message(true, 'test', 'so that there is something to switch from')`);
    await asked('select pg_switch_wal()');
    await eventually(postgres.archived).toContain(segment);
    return Number.parseInt(segment.slice(0, 8), 16);
  };
  await asked('create table facts (n integer)');
  await postgres.backUp();
  const early = await insert(1);
  const right = await insert(2);
  await insert(3);
  expect(await archived()).toBe(1);
  await postgres.kill();

  await postgres.restore(early);
  expect(await all()).toEqual([1]);
  await insert(4);
  expect(await archived()).toBe(2);
  await postgres.kill();

  // The newest timeline is that of the first restore: its next commit is after the instant, so that it ends there, and says nothing.
  await postgres.restore(right);
  expect(await all()).toEqual([1]);
  await postgres.kill();
  await postgres.restore(right, 'current');
  expect(await all()).toEqual([1, 2]);
});
