import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { anAutomation, anEvent, automationRuntime, type TestAutomation } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const crowd = inFull(3_000, 400);
const patience = { timeout: 600_000, interval: 50 };

test('while a bulk change makes the dates of a crowd due, the run of another project continues, and then the whole crowd', {
  timeout: 1_200_000,
}, async () => {
  const { db } = database;
  const [crowded, other] = [await aProject(db), await aProject(db)];
  const dated = await anAutomation(db, crowded.id, {
    event: 'joined',
    steps: { wait: ['WAIT_UNTIL', { field: 'data.starts' }], out: ['EXIT'] },
  });
  const waiting = await anAutomation(db, other.id, {
    event: 'joined',
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'plan.chosen' }], out: ['EXIT'] },
  });
  const people = await db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'waiter-' || n || '@example.com', true, '{"starts": "2099-05-01T09:00:00.000Z"}' from generate_series(1, $2::int) n returning id`,
    [crowded.id, crowd],
  );
  const chooser = await aContact(db, other.id, 'chooser@example.com');
  const status = async ({ id }: TestAutomation) => {
    const rows = await db.rows<{ status: string; count: number }>(
      'select status, count(*)::int as count from automation_runs where automation_id = $1 group by 1',
      [id],
    );
    return Object.fromEntries(rows.map((row) => [row.status, row.count]));
  };
  const queuePrefix = `bulk-${randomBytes(6).toString('hex')}`;
  {
    await using _first = await automationRuntime(database, { queuePrefix });
    for (const { id } of people) await anEvent(db, crowded.id, id, 'joined');
    await anEvent(db, other.id, chooser, 'joined');
    await expect
      .poll(async () => [await status(dated), await status(waiting)], patience)
      .toEqual([{ WAITING: crowd }, { WAITING: 1 }]);
  }
  // As a bulk job does it: some hundred contacts in each statement. No worker is there, so that all of it waits before the event does.
  for (let from = 0; from < crowd; from += 100)
    await writeContacts(
      db,
      crowded.id,
      people.slice(from, from + 100).map(({ id }) => ({ id, set: { starts: '2020-01-01' } })),
      writingAs(db, 'contact'),
    );
  await anEvent(db, other.id, chooser, 'plan.chosen');
  await using _second = await automationRuntime(database, { queuePrefix });
  await expect.poll(() => status(waiting), patience).toEqual({ EXITED: 1 });
  // What this process has signalled at once, and what has continued meanwhile, is a small part of the crowd.
  expect((await status(dated)).WAITING ?? 0).toBeGreaterThan(crowd / 2);
  await expect.poll(() => status(dated), patience).toEqual({ EXITED: crowd });
});
