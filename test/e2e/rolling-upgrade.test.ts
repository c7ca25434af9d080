import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSandbox } from '@fernpost/mail-sandbox';
import { expect, inject, onTestFinished, test } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import { pause } from '../../src/lib/time.ts';
import { longestHeldMs } from '../../src/mail/engine/breaker.ts';
import { workflowId } from '../../temporal/commands.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { deploymentName } from '../../temporal/versions.ts';
import { type ApiProcess, apiProcess } from '../support/api-process.ts';
import { aWorkflow, call, type Project } from '../support/client-at-work.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { commitsAround, installedRelease, migrationsIn, releaseWith } from '../support/earlier-release.ts';
import { programEnv } from '../support/program-env.ts';
import { type WorkerProcess, workerProcess } from '../support/worker-process.ts';

// A release is replaced by a later one process by process while it works: schema, workers one after the other, API. Then a build of the same release
// takes over, which is a deploy without a migration. Where a migration needs the earlier release to be stopped, it refuses until it is, and then
// everything goes on.
const run = promisify(execFile);
const recipients = 900;
const campaignSubject = 'The herons are back';
const ownRoot = fileURLToPath(new URL('../../', import.meta.url));
const kept = fileURLToPath(new URL('../../.cache/rolling-upgrade/', import.meta.url));

/** What replaces what. The folders are those of the releases, `migration` is the last that the later one has, and the earlier one has not. */
interface Upgrade {
  earlier: string;
  later: string;
  migration: string;
  isExclusive: boolean;
}

/** Asks again and again, but no oftener than the sandbox, which is of this process, can answer beside its mail. */
const eventually = <T>(ask: () => T) => expect.poll(ask, { interval: 500 });

/** Runs a program of a release to its end, and answers what it printed. */
async function program(root: string, settings: Record<string, string>, file: string, ...args: string[]) {
  const env = { ...programEnv(), NODE_ENV: 'test', ...settings };
  const { stdout } = await run(process.execPath, [`src/main/${file}`, ...args], { cwd: root, env });
  return stdout;
}

async function migrationsOf({ db }: TestDatabase): Promise<string[]> {
  return (await db.rows<{ name: string }>('select name from mikro_orm_migrations order by name')).map(
    ({ name }) => name,
  );
}

/** The history around the last migrations that need every process of an earlier release to be stopped. */
const aroundExclusive = () =>
  commitsAround(migrations.filter(({ isExclusive }) => isExclusive).map(({ name }) => name));

test('the next release takes over side by side with this one, with one migration more', async () => {
  const migration = 'Migration29990101000000_next';
  const later = await releaseWith(migration, [
    'alter table emails add column next_fact text',
    'create index emails_next_fact on emails (project_id, next_fact) where next_fact is not null',
    'create table next_things (id uuid not null, project_id uuid not null, constraint next_things_pkey primary key (id))',
  ]);
  await takesOver({ earlier: ownRoot, later, migration, isExclusive: false });
});

test('this release takes over side by side with the first one that can live with its schema', async (context) => {
  const around = await aroundExclusive();
  if (around === null) return context.skip('the history of the migrations is not here');
  const earlier = await installedRelease(around.since);
  const known = migrationsIn(earlier);
  const migration = migrations.findLast(({ name }) => !known.includes(name))?.name;
  if (migration === undefined) return context.skip(`no migration came after ${around.since}`);
  await takesOver({ earlier, later: ownRoot, migration, isExclusive: false });
});

test('this release takes over from the last one that cannot live with its schema, once that is stopped', async (context) => {
  const around = await aroundExclusive();
  if (around === null) return context.skip('the history of the migrations is not here');
  const earlier = await installedRelease(around.before);
  const known = migrationsIn(earlier);
  const migration = migrations.findLast(({ name }) => !known.includes(name))?.name ?? '';
  await takesOver({ earlier, later: ownRoot, migration, isExclusive: true });
});

async function takesOver({ earlier, later, migration, isExclusive }: Upgrade) {
  await using database = await emptyDatabase();
  const { db } = database;
  const sandbox = await createSandbox({
    ...{ host: '127.0.0.1', port: 0, dataDir: null, delayMs: 0, keep: 100_000 },
    ...{ webhookUrl: null, webhookUser: '', webhookPassword: '' },
  });
  onTestFinished(() => sandbox.close());
  const settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(4).toString('hex')}`,
    TEMPORAL_SETUP: 'false',
    POSTMARK_API_URL: sandbox.url,
    RATE_LIMIT_PER_MINUTE: '0',
    READY_ON_NEWER_SCHEMA: 'true',
    SEND_CHUNK: '5',
  };
  const processes = new Map<string, { readonly log: string }>();
  const startApi = async (root: string) => {
    const api = await apiProcess(settings, 'node', root);
    onTestFinished(() => api[Symbol.asyncDispose]());
    processes.set(`api-${processes.size}`, api);
    return api;
  };
  const startWorker = async (root: string, release: string) => {
    const worker = await workerProcess({ ...settings, TEMPORAL_BUILD_ID: release }, root);
    onTestFinished(() => worker[Symbol.asyncDispose]());
    processes.set(`worker-${processes.size}-${release}`, worker);
    await eventually(() => worker.log).toContain('tasks go to this version');
    return worker;
  };
  const stopApi = async (api: ApiProcess) => {
    api.signal('SIGTERM');
    expect(await api.ended).toBe(0);
  };
  const received = async () => {
    const all: { id: string; to: { email: string }[]; subject: string }[] = [];
    for (;;) {
      const last = all.at(-1);
      const url = `${sandbox.url}/api/messages?limit=1000${last ? `&before=${last.id}` : ''}`;
      const page = ((await (await fetch(url)).json()) as { messages: typeof all }).messages;
      all.push(...page);
      if (page.length < 1000) return all;
    }
  };
  const sentOf = async (subject: string) =>
    (await received()).filter((message) => message.subject === subject).map(({ to }) => to[0]?.email ?? '');
  const figures: Record<string, number> = {};
  let refused: unknown = null;
  const note = async (when: string) => {
    expect(refused).toBeNull();
    figures[`messages ${when}`] = (await received()).length;
  };

  let isBalanced = false;
  await using _ = {
    async [Symbol.asyncDispose]() {
      if (!isBalanced) await explain(database, settings, processes);
    },
  };

  // The earlier release with everything that it has under way.
  await program(earlier, settings, 'migrate.ts', '--database');
  const smaller = await migrationsOf(database);
  expect(smaller).not.toContain(migration);
  const made = async (name: string): Promise<Project> =>
    JSON.parse(
      await program(
        ...([earlier, settings, 'project.ts', 'create', '--name', name] as const),
        ...['--owner', `owner@${name}.test`, '--sender', `hello@${name}.test`],
      ),
    );
  const [busy, slow] = [await made('busy'), await made('slow')];
  const oldApi = await startApi(earlier);
  let api = oldApi;
  const oldWorkers = [await startWorker(earlier, 'r1'), await startWorker(earlier, 'r1')];
  await aWorkflow(api.port, busy);
  const readers = Array.from({ length: recipients }, (_, n) => `reader-${n}@example.com`);
  await db.count(
    `insert into contacts (id, project_id, email, subscribed) select uuidv7(), $1, email, true from unnest($2::text[]) email`,
    [slow.projectId, readers],
  );
  // Slow enough that it is under way until the end, whatever the machine does.
  await db.count('update projects set send_rate = 1 where id = $1', [slow.projectId]);
  const { data: campaign } = await call(api.port, slow, 'POST', '/campaigns', {
    ...{ name: campaignSubject, subject: campaignSubject, body: '<p>Hi</p>', from: slow.sender, audienceType: 'ALL' },
  });
  await call(api.port, slow, 'POST', `/campaigns/${campaign.id}/send`, {});

  const letters: string[] = [];
  const people: string[] = [];
  const sendOne = async () => {
    const subject = `Letter ${letters.length}`;
    letters.push(subject);
    const mail = { from: busy.sender, to: `friend-${letters.length}@example.com`, subject, body: '<p>Hi</p>' };
    await call(api.port, busy, 'POST', '/v1/send', mail);
    return subject;
  };
  const enters = async () => {
    const email = `member-${people.length}@example.org`;
    people.push(email);
    await call(api.port, busy, 'POST', '/events/track', { email, event: 'signup' });
  };
  /** Begins to send letters and to let people enter; answers what ends it. */
  const startTraffic = () => {
    const stopping = new AbortController();
    const ended = (async () => {
      while (!stopping.signal.aborted) {
        await Promise.all([sendOne(), letters.length % 4 === 0 ? enters() : null]);
        await pause(250);
      }
    })();
    ended.catch((error) => {
      refused = error;
    });
    return () => {
      stopping.abort();
      return ended;
    };
  };
  let stopTraffic = startTraffic();
  /** A letter of this moment, and what it takes to know that it has arrived. */
  const aLetterArrives = async () => {
    const subject = await sendOne();
    await eventually(() => sentOf(subject)).toHaveLength(1);
  };
  await eventually(async () => (await sentOf(campaignSubject)).length).toBeGreaterThan(10);
  await eventually(async () => (await sentOf('After the delay')).length).toBeGreaterThan(0);
  await note('before the migration');

  const migrate = () => program(later, settings, 'migrate.ts', '--database');
  const newWorkers: WorkerProcess[] = [];
  if (isExclusive) {
    await expect(migrate()).rejects.toThrow('Nothing was changed');
    await aLetterArrives();
    await stopTraffic();
    await stopApi(oldApi);
    for (const old of oldWorkers) expect(await old.stop()).toBe(0);
    expect(await migrate()).toContain(`${migration} applied`);
    newWorkers.push(await startWorker(later, 'r2'));
    api = await startApi(later);
    stopTraffic = startTraffic();
  } else {
    // The schema comes first, beside everything that runs.
    expect(await migrate()).toContain(`${migration} applied`);
    await aLetterArrives();
    const before = (await sentOf(campaignSubject)).length;
    await eventually(async () => (await sentOf(campaignSubject)).length).toBeGreaterThan(before);
    const entered = people.length;
    await eventually(() => people.length).toBeGreaterThan(entered);
    await eventually(() => sentOf('After the delay')).toContain(people[entered]);
    expect((await fetch(`http://127.0.0.1:${api.port}/ready`)).status).toBe(200);
    await note('of the earlier release on the newer schema');

    // Workers one by one, then the API.
    for (const old of oldWorkers) {
      newWorkers.push(await startWorker(later, 'r2'));
      await aLetterArrives();
      expect(await old.stop()).toBe(0);
      await aLetterArrives();
    }
    await note('with workers of both');
    api = await startApi(later);
    await stopApi(oldApi);
  }
  expect((await migrationsOf(database)).filter((name) => !smaller.includes(name))).toContain(migration);
  await aLetterArrives();

  // A deploy without a migration: another build of the same release.
  await startWorker(later, 'r3');
  for (const worker of newWorkers) expect(await worker.stop()).toBe(0);
  await aLetterArrives();
  await enters();
  expect((await sentOf(campaignSubject)).length).toBeLessThan(recipients);
  await stopTraffic();
  await note('when only the last build is left');

  // What the earlier release has begun ends on this one.
  await db.count('update projects set send_rate = null where id = $1', [slow.projectId]);
  await eventually(async () => (await sentOf('After the delay')).length).toBe(people.length);
  for (const email of people) await call(api.port, busy, 'POST', '/events/track', { email, event: 'paid' });
  await eventually(async () => (await sentOf('After the event')).length).toBe(people.length);
  const isSent = async () => (await call(api.port, slow, 'GET', `/campaigns/${campaign.id}`)).data.status;
  await eventually(isSent).toBe('SENT');
  const missing = async () => {
    const subjects = new Set((await received()).map(({ subject }) => subject));
    return letters.filter((subject) => !subjects.has(subject));
  };
  await eventually(missing).toEqual([]);

  // The balance: everything once, and nothing that waited for longer than a provider's circuit may be open.
  const messages = await received();
  const expected = [
    ...letters.map((subject, n) => `${subject} friend-${n + 1}@example.com`),
    ...people.flatMap((email) => [`After the delay ${email}`, `After the event ${email}`]),
    ...readers.map((email) => `${campaignSubject} ${email}`),
  ];
  expect(messages.map(({ subject, to }) => `${subject} ${to[0]?.email}`).sort()).toEqual(expected.sort());
  const ledger = await db.rows(`select status, count(*)::int as mails from emails group by 1`);
  expect(ledger).toEqual([{ status: 'SENT', mails: expected.length }]);
  const runs = await db.rows(`select status, count(*)::int as runs from automation_runs group by 1`);
  expect(runs).toEqual([{ status: 'COMPLETED', runs: people.length }]);
  const waited = await db.row<{ ms: number }>(
    `select max(extract(epoch from sent_at - created_at))::float8 * 1000 as ms from emails where project_id = $1`,
    [busy.projectId],
  );
  figures['longest wait of a mail, ms'] = Math.round(waited?.ms ?? Number.NaN);
  console.log(figures);
  if (!isExclusive) expect(waited?.ms).toBeLessThan(longestHeldMs);
  isBalanced = true;
}

/** Says what mail waits for when something is missing: by rows, by Temporal, and by what each process wrote, which is kept in a folder. */
async function explain(
  { db }: TestDatabase,
  {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TASK_QUEUE: queuePrefix,
  }: Record<'TEMPORAL_ADDRESS' | 'TEMPORAL_TASK_QUEUE', string>,
  processes: ReadonlyMap<string, { readonly log: string }>,
) {
  mkdirSync(kept, { recursive: true });
  for (const [name, { log }] of processes) writeFileSync(`${kept}${name}.log`, log);
  const queue = await db.rows(`select *, clock_timestamp() as now from email_queue order by created_at limit 20`);
  console.error({ processes: kept, queue, holds: await db.rows('select * from provider_holds') });
  await using temporal = openTemporal({ address, namespace: 'default', apiKey: null, tls: null });
  const deployment = await temporal.connection.workflowService.describeWorkerDeployment({
    ...{ namespace: 'default', deploymentName: deploymentName(queuePrefix) },
  });
  console.error(JSON.stringify(deployment.workerDeploymentInfo, null, 1));
  for (const { id } of await db.rows<{ id: string }>('select id from projects')) {
    const delivery = temporal.client.workflow.getHandle(workflowId.delivery(id));
    const described = await delivery.describe().catch(String);
    console.error(typeof described === 'string' ? described : JSON.stringify(described.raw, null, 1));
  }
}
