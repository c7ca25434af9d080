import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emailActivities } from '../../activities/mail.ts';
import { advance, Turns } from '../../src/automations/runtime/advance.ts';
import { signalOrStart } from '../../src/store/outbox/calls.ts';
import { signals, workflowId } from '../../temporal/commands.ts';
import {
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  automationRuntime,
  letIn,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, deliveryDeps, queueMany } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

// A turn every five seconds: most of the crowd waits for minutes, and whoever is not in it is done in a moment.
const crowd = 100;
const turns = new Turns(0.2);
const patience = { timeout: 240_000, interval: 50 };

test('while a crowd of one project continues one after the other, workflow mail and transactional mail of another one go out', {
  timeout: 600_000,
}, async () => {
  const { db } = database;
  const [crowded, other] = [await aProject(db), await aProject(db)];
  const waiting = await anAutomation(db, crowded.id, {
    steps: {
      wait: ['WAIT_UNTIL', { field: 'data.starts' }],
      mail: ['SEND_EMAIL', { templateId: await aTemplate(db, crowded) }],
    },
  });
  const welcome = await anAutomation(db, other.id, {
    steps: { mail: ['SEND_EMAIL', { templateId: await aTemplate(db, other) }] },
  });
  const newcomer = await aContact(db, other.id, 'newcomer@example.com');
  const people = await db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'waiter-' || n || '@example.com', true, '{"starts": "2099-05-01T09:00:00.000Z"}' from generate_series(1, $2::int) n returning id`,
    [crowded.id, crowd],
  );
  const runs = await letIn(
    db,
    waiting,
    people.map(({ id }) => id),
  );
  for (const { id } of runs) await advance({ ...advanceDeps(db), turns }, id, 0);
  // All of them wait, so that their instant may come. Nobody has started their executions yet.
  const instant = new Date(Date.now() + 5_000).toISOString();
  await db.count(`update contacts set data = jsonb_build_object('starts', $2::text) where project_id = $1`, [
    crowded.id,
    instant,
  ]);
  await db.count(
    `with moved as (
       update automation_step_runs set scheduled_for = $2 where project_id = $1 and scheduled_for is not null returning run_id, turn_ms)
     update automation_runs r set due_at = $2::timestamptz + turn_ms * interval '1 millisecond' from moved where r.id = moved.run_id`,
    [crowded.id, instant],
  );

  const mailer = new FakeMailer();
  const queuePrefix = `turns-${randomBytes(6).toString('hex')}`;
  await using mail = await testWorker({
    activities: emailActivities({
      ...deliveryDeps(db, mailer),
      stopping: new AbortController().signal,
      pace: { claims: 4, lingerMs: 100, longestMs: 5_000 },
    }),
    queues: ['mail'],
    queuePrefix,
  });
  const wake = (projectId: string) =>
    signalOrStart(
      mail.temporal,
      queuePrefix,
      {
        workflow: 'emailDelivery',
        id: workflowId.delivery(projectId),
        input: { projectId },
        searchAttributes: { ProjectId: projectId, Kind: 'delivery' },
      },
      signals.wake,
    );
  await using _runtime = await automationRuntime(database, {
    queuePrefix,
    advance: { turns, wake: (projectId) => void wake(projectId) },
  });
  const stillWaiting = async () => {
    const row = await db.row<{ count: number }>(
      `select count(*)::int as count from automation_runs where automation_id = $1 and status = 'WAITING'`,
      [waiting.id],
    );
    return row?.count ?? 0;
  };
  const deliveredTo = async (address: string) => {
    await expect.poll(() => mailer.recipients, patience).toContain(address);
    return stillWaiting();
  };

  // The moment has come: the first of the crowd has its email.
  await expect.poll(() => mailer.recipients.length, patience).toBeGreaterThan(0);
  await anEvent(db, other.id, newcomer, 'user.signup');
  expect(await deliveredTo('newcomer@example.com')).toBeGreaterThan(crowd / 2);
  const [receipt = ''] = await queueMany(db, other, 1);
  await wake(other.id);
  expect(await deliveredTo(receipt)).toBeGreaterThan(crowd / 2);
  const [welcomed] = await db.rows('select status from automation_runs where automation_id = $1', [welcome.id]);
  expect(welcomed).toEqual({ status: 'COMPLETED' });
  // Meanwhile the crowd continues, each in turn.
  await expect.poll(stillWaiting, patience).toBeLessThan(crowd - 3);
  const early = await db.rows(
    `select from automation_step_runs x where x.project_id = $1 and x.step_type = 'WAIT_UNTIL'
       and x.completed_at < x.scheduled_for + x.turn_ms * interval '1 millisecond'`,
    [crowded.id],
  );
  expect(early).toEqual([]);
});
