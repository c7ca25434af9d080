import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());

/** An automation with a step, and a run of each given status for a contact each. */
async function inside(projectId: string, statuses: string[]) {
  const [automation, version, step] = [randomUUID(), randomUUID(), randomUUID()];
  const { db } = database;
  await db.count('insert into automations (id, project_id, name) values ($1, $2, $3)', [
    automation,
    projectId,
    'Welcome',
  ]);
  await db.count(
    `insert into automation_versions (id, automation_id, version, graph, hash) values ($1, $2, 1, '{}', '')`,
    [version, automation],
  );
  const contacts: string[] = [];
  for (const status of statuses) {
    const [contact, run] = [randomUUID(), randomUUID()];
    const email = audience()[contacts.length]?.email;
    contacts.push(contact);
    await db.count(
      `insert into contacts (id, project_id, email, subscribed)
       values ($1, $2, $3, true)`,
      [contact, projectId, email],
    );
    await db.count(
      `insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
       values ($1, $2, $3, $4, $5, 3, $6)`,
      [run, projectId, automation, version, contact, status],
    );
    await db.count('insert into automation_entries (automation_id, contact_id, last_entry) values ($1, $2, 3)', [
      automation,
      contact,
    ]);
    await db.count(
      `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status)
       values ($1, $2, $3, $4, $5, 0, 'TRIGGER', 'Trigger', 'COMPLETED')`,
      [randomUUID(), run, projectId, contact, step],
    );
    await db.count(
      'insert into automation_arrivals (automation_id, project_id, contact_id, event_id) values ($1, $2, $3, $4)',
      [automation, projectId, contact, randomUUID()],
    );
  }
  return { automation, contacts };
}

const rowsOf = (automation: string) =>
  database.db.row(
    `select (select count(*)::int from automation_runs where automation_id = $1) as runs,
       (select count(*)::int from automation_entries where automation_id = $1) as entries,
       (select count(*)::int from automation_arrivals where automation_id = $1) as arrivals`,
    [automation],
  );
const cancelled = async (automation: string) =>
  (
    await database.db.rows<{ payload: unknown }>(
      `select payload from outbox where kind = 'cancel' and workflow_id like $1 order by workflow_id`,
      [`automation/${automation}/%`],
    )
  ).map(({ payload }) => payload);

test('a deleted contact takes its runs along, and the executions of those under way are cancelled', async () => {
  const { automation, contacts } = await inside(project.id, ['WAITING', 'COMPLETED', 'RUNNING']);
  const [waiting, done] = contacts;
  await database.db.count('delete from contacts where id = any($1)', [[waiting, done]]);
  expect(await rowsOf(automation)).toEqual({ runs: 1, entries: 1, arrivals: 1 });
  expect(await cancelled(automation)).toEqual([{ type: 'cancel', id: `automation/${automation}/${waiting}/3` }]);
});

test('a deleted project leaves nothing of its automations, and their executions are cancelled', async () => {
  const other = await aProject(database, 'Umbrella');
  const { automation } = await inside(other.id, ['WAITING', 'RUNNING', 'FAILED']);
  const template = randomUUID();
  await database.db.count(
    `insert into templates (id, project_id, name, subject, body, "from") values ($1, $2, 'a', 'a', 'a', 'a@a.test')`,
    [template, other.id],
  );
  await database.db.count(
    `insert into automation_steps (id, automation_id, type, name, position, template_id)
     values ($1, $2, 'SEND_EMAIL', 'Mail', '{}', $3)`,
    [randomUUID(), automation, template],
  );
  await database.db.count('delete from projects where id = $1', [other.id]);
  expect(await rowsOf(automation)).toEqual({ runs: 0, entries: 0, arrivals: 0 });
  expect(await database.db.rows('select from automation_steps where automation_id = $1', [automation])).toEqual([]);
  expect(await cancelled(automation)).toHaveLength(2);
});
