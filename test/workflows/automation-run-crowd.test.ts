import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAutomationCheck } from '../../src/automations/runtime/recovery.ts';
import { findTemporalCli } from '../../src/main/local/temporal-cli.ts';
import { openTerminal } from '../../src/main/local/terminal.ts';
import { isOpen } from '../../src/outbox/calls.ts';
import { openAutomations } from '../../src/outbox/open-executions.ts';
import { dynamicConfig } from '../../temporal/dev-server.ts';
import {
  anAutomation,
  automationRuntime,
  runsOf,
  type TestAutomation,
  type TestRuntime,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, type TestProject } from '../support/delivery-fixtures.ts';

let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

/** Inserts people and answers their ids. */
async function aCrowd(count: number): Promise<string[]> {
  project = await aProject(database.db);
  const rows = await database.db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed, subscription_before)
     select uuidv7(), $1, 'walker-' || n || '@example.com', true, true from generate_series(1, $2::int) n returning id`,
    [project.id, count],
  );
  return rows.map(({ id }) => id);
}
// As an import or the compute of a segment writes them: one statement for all.
const tell = (contacts: readonly string[], name: string) =>
  database.db.count(
    `insert into events (id, project_id, contact_id, name, data)
     select uuidv7(), $1, id, $2, jsonb_build_object('of', id) from unnest($3::uuid[]) as id`,
    [project.id, name, contacts],
  );
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
    runtime = await automationRuntime(database, { mostWaiting: 50 });
  });
  afterAll(() => runtime[Symbol.asyncDispose]());

  test('a burst of events loses nobody: starts are paced, and each event starts one run', async () => {
    const contacts = await aCrowd(600);
    const automation = await anAutomation(database.db, project.id, {
      event: 'segment.vip.entry',
      steps: { out: ['EXIT'] },
    });
    await tell(contacts, 'segment.vip.entry');
    const [waiting] = await database.db.rows<{ count: number }>('select count(*)::int from automation_arrivals');
    expect(waiting?.count).toBeGreaterThan(0);
    await expect.poll(() => counts(automation), { timeout: 180_000, interval: 100 }).toEqual({ EXITED: 600 });
    expect(await database.db.rows('select id from automation_arrivals')).toEqual([]);
    const runs = await runsOf(database.db, automation.id);
    expect(new Set(runs.map((run) => run.context.of))).toEqual(new Set(contacts));
  }, 400_000);

  test('a burst of events resumes everybody who waits', async () => {
    const contacts = await aCrowd(300);
    const automation = await anAutomation(database.db, project.id, {
      event: 'trial.began',
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'plan.chosen' }], out: ['EXIT'] },
    });
    await tell(contacts, 'trial.began');
    await expect.poll(() => counts(automation), { timeout: 180_000, interval: 100 }).toEqual({ WAITING: 300 });
    await tell(contacts, 'plan.chosen');
    await expect.poll(() => counts(automation), { timeout: 180_000, interval: 100 }).toEqual({ EXITED: 300 });
  }, 400_000);
});

test('with the Temporal store wiped every sleeping automation finishes', async () => {
  const contacts = await aCrowd(150);
  const automation = await anAutomation(database.db, project.id, {
    event: 'trial.began',
    steps: {
      wait: ['DELAY', { amount: 0.1, unit: 'minutes' }],
      set: ['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }],
      out: ['EXIT'],
    },
  });
  const first = await aServer();
  const before = await automationRuntime(database, { address: first.address, queuePrefix: 'wiped' });
  await tell(contacts, 'trial.began');
  await expect.poll(async () => (await counts(automation)).RUNNING ?? 0, { timeout: 180_000 }).toBe(0);
  await expect.poll(async () => Object.values(await counts(automation)), { timeout: 180_000 }).not.toEqual([]);
  await before[Symbol.asyncDispose]();
  await first.teardown();

  const second = await aServer();
  await using after = await automationRuntime(database, { address: second.address, queuePrefix: 'wiped' });
  const { temporal } = after.worker;
  const check = createAutomationCheck({
    db: database.db,
    isOpen: (id) => isOpen(temporal, id),
    openExecutions: (until, limit) => openAutomations(temporal, 'wiped', until, limit),
    dispatchSoon: (...tickets) => after.outbox.dispatchSoon(...tickets),
    afterMs: 0,
  });
  await expect
    .poll(
      async () => {
        await check();
        return counts(automation);
      },
      { timeout: 180_000, interval: 500 },
    )
    .toEqual({ EXITED: 150 });
  // Nobody took a step twice.
  const [flips] = await database.db.rows<{ count: number }>(
    `select count(*)::int from events where project_id = $1 and name = 'contact.unsubscribed'`,
    [project.id],
  );
  expect(flips?.count).toBe(150);
  await second.teardown();
}, 400_000);

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
