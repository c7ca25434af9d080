import { fileURLToPath } from 'node:url';
import { dynamicConfig, findTemporalCli, openTerminal } from '@fernpost/local-stack';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recoverableRuns } from '../../src/automations/runtime/recovery.ts';
import { recoverableCampaigns } from '../../src/campaigns/lifecycle/recovery.ts';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { isOpen } from '../../src/store/outbox/calls.ts';
import type { OutboxTicket } from '../../src/store/outbox/queries.ts';
import { createRecovery } from '../../src/store/outbox/recovery.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { sql } from '../../src/store/sql.ts';
import {
  anAutomation,
  automationRuntime,
  runsOf,
  type TestAutomation,
  type TestRuntime,
} from '../support/automation-fixtures.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  contacts as campaignContacts,
  campaignRow,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

const sleeping = inFull(1_000, 80);
// More than twice as many as may be started and not have begun.
const burst = inFull(400, 120);

let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  // Before a server of the SDK's own test environment, which would prepare it in its way.
  installTemporalRuntime(pino({ level: 'silent' }), null);
  database = await testDatabase();
});
afterAll(() => database.close());

/** Inserts people and answers their ids. */
async function aCrowd(count: number): Promise<string[]> {
  project = await aProject(database.db);
  const rows = await database.db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed)
     select uuidv7(), $1, 'walker-' || n || '@example.com', true from generate_series(1, $2::int) n returning id`,
    [project.id, count],
  );
  return rows.map(({ id }) => id);
}
// As an import or the compute of a segment writes them: one statement for all.
const tell = (contacts: readonly string[], name: string) => {
  const [data, from] = [sql`jsonb_build_object('of', id)`, sql`unnest(${contacts}::uuid[]) as id`];
  const event = { projectId: project.id, contactId: sql`id`, name, data, from };
  return database.db.count(recordingEvents({ events: [event] }));
};
const counts = async ({ id }: TestAutomation) => {
  const rows = await database.db.rows<{ status: string; count: number }>(
    'select status, count(*)::int as count from automation_runs where automation_id = $1 group by 1',
    [id],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

describe('a crowd', () => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await automationRuntime(database, { mostUnderWay: 50 });
  });
  afterAll(() => runtime[Symbol.asyncDispose]());

  test('a burst of events loses nobody: starts are paced, each event starts one run, and the next burst resumes everybody', async () => {
    const contacts = await aCrowd(burst);
    const automation = await anAutomation(database.db, project.id, {
      event: 'segment.vip.entry',
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'plan.chosen' }], out: ['EXIT'] },
    });
    await tell(contacts, 'segment.vip.entry');
    const [waiting] = await database.db.rows<{ count: number }>('select count(*)::int from automation_arrivals');
    expect(waiting?.count).toBeGreaterThan(0);
    await expect.poll(() => counts(automation), { timeout: 600_000, interval: 100 }).toEqual({ WAITING: burst });
    expect(await database.db.rows('select id from automation_arrivals')).toEqual([]);
    const runs = await runsOf(database.db, automation.id);
    expect(new Set(runs.map((run) => run.context.of))).toEqual(new Set(contacts));
    await tell(contacts, 'plan.chosen');
    await expect.poll(() => counts(automation), { timeout: 600_000, interval: 100 }).toEqual({ EXITED: burst });
  });
});

test('with the Temporal store wiped during a campaign, every sleeping automation and the campaign finish', async () => {
  const contacts = await aCrowd(sleeping);
  const automation = await anAutomation(database.db, project.id, {
    event: 'trial.began',
    steps: {
      wait: ['DELAY', { amount: 1, unit: 'hours' }],
      set: ['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }],
      out: ['EXIT'],
    },
  });
  const sender = await aProject(database.db);
  await campaignContacts(database.db, sender.id, 60);
  const campaign = await aCampaign(database.db, sender);
  const mailer = new FakeMailer({ name: 'wiped' });
  const mailing = (address: string, stopping: AbortSignal) =>
    testWorker({
      activities: campaignActivitiesFor(database.db, mailer, { stopping }),
      queues: ['campaign'],
      queuePrefix: 'wiped',
      address,
    });

  const first = await aServer();
  const before = await automationRuntime(database, { address: first.address, queuePrefix: 'wiped' });
  const stopping = new AbortController();
  const mailingBefore = await mailing(first.address, stopping.signal);
  await tell(contacts, 'trial.began');
  await expect.poll(() => counts(automation), { timeout: 600_000, interval: 100 }).toEqual({ WAITING: sleeping });
  // The provider has the first messages in hand when the worker is told to stop.
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  mailer.onTaken = () => {
    taken.resolve();
    return released.promise;
  };
  await mailingBefore.perform(await started(database.db, sender.id, campaign, 60));
  await taken.promise;
  stopping.abort();
  const stopped = Promise.all([mailingBefore.stop(), before[Symbol.asyncDispose]()]);
  released.resolve();
  await stopped;
  await first.teardown();
  expect(await campaignRow(database.db, campaign)).toMatchObject({ status: 'SENDING' });

  // Hours later: what slept is due, and nobody has looked at the campaign for a while.
  await database.db.count(
    'update automation_runs set due_at = now() - make_interval(secs => 1) where automation_id = $1',
    [automation.id],
  );
  await database.db.count(
    `update automation_step_runs set scheduled_for = now() - make_interval(secs => 1) where project_id = $1 and step_type = 'DELAY'`,
    [project.id],
  );
  const second = await aServer();
  await using after = await automationRuntime(database, { address: second.address, queuePrefix: 'wiped' });
  await using _mailingAfter = await mailing(second.address, new AbortController().signal);
  const { temporal } = after.worker;
  const common = {
    db: database.db,
    isOpen: (id: string) => isOpen(temporal, id),
    dispatchSoon: (...tickets: OutboxTicket[]) => after.outbox.dispatchSoon(...tickets),
  };
  const check = createRecovery(common, recoverableRuns, 0);
  const later = async (table: string, column: string, key: string) =>
    database.db.count(`update ${table} set ${column} = now() - interval '1 hour' where ${key} = $1`, [campaign]);
  await later('campaign_sends', 'updated_at', 'campaign_id');
  await later('campaigns', 'updated_at', 'id');
  await later('campaign_claims', 'taken_at', 'campaign_id');
  expect(await createRecovery(common, recoverableCampaigns)()).toBe(1);
  await expect
    .poll(
      async () => {
        await check();
        return [await counts(automation), (await campaignRow(database.db, campaign)).status];
      },
      { timeout: 600_000, interval: 500 },
    )
    .toEqual([{ EXITED: sleeping }, 'SENT']);
  // Nobody took a step twice, and nobody was mailed twice.
  const [flips] = await database.db.rows<{ count: number }>(
    `select count(*)::int from events where project_id = $1 and name = 'contact.unsubscribed'`,
    [project.id],
  );
  expect(flips?.count).toBe(sleeping);
  const reached = mailer.sent.map(({ to }) => to.address);
  expect(reached).toHaveLength(60);
  expect(new Set(reached).size).toBe(60);
  expect(await campaignRow(database.db, campaign)).toMatchObject({ total: 60, sent: 60, failed: 0 });
  await second.teardown();
});

// A server that forgets everything when it stops.
async function aServer(): Promise<TestWorkflowEnvironment> {
  const cli = await findTemporalCli({
    env: process.env,
    setting: process.env.TEMPORAL_CLI || null,
    fallbackCache: fileURLToPath(new URL('../../.cache', import.meta.url)),
    terminal: openTerminal(),
    signal: new AbortController().signal,
  });
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: cli.path },
      ip: '127.0.0.1',
      log: { format: 'pretty', level: 'error' },
      extraArgs: Object.entries(dynamicConfig).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${value}`,
      ]),
    },
  });
}
