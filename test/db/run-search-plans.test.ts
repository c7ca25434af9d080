import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ListExecutions } from '../../src/automations/runs/schema.ts';
import { listExecutions } from '../../src/automations/runs/service.ts';
import { aProject } from '../support/api.ts';
import { anAutomation, letIn, type TestAutomation } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExplainRow, type PlanNode, rowsRead } from '../support/plans.ts';

// Of the newest 10,000 runs the contacts are read, of older ones those of 1,000 addresses at most.
const [contacts, runs, newest, addresses] = [40_000, 12_000, 10_000, 1_000];

let database: TestDatabase;
let automation: TestAutomation;

beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  const [project, other] = [await aProject(database), await aProject(database)];
  automation = await anAutomation(db, project.id, { steps: { rest: ['DELAY', { amount: 3, unit: 'days' }] } });
  // As many of another project come before.
  for (const { id } of [other, project])
    await db.count(
      `insert into contacts (id, project_id, email, subscribed, data)
       select uuidv7(), $1, 'anna.' || md5(n::text) || '@example.com', true, '{"firstName": "Anna", "plan": "pro"}' from generate_series(1, $2::int) n`,
      [id, contacts],
    );
  const [one] = await db.rows<{ id: string }>('select id from contacts where project_id = $1 order by id limit 1', [
    project.id,
  ]);
  await letIn(db, automation, [one?.id ?? '']);
  await db.count(
    `insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status, started_at, completed_at)
     select uuidv7(), r.project_id, r.automation_id, r.version_id, c.id, 1, 'COMPLETED', r.started_at - make_interval(secs => c.n), now()
     from automation_runs r cross join (
       select id, row_number() over (order by id) - 1 as n from contacts where project_id = $1 order by id limit $2) c where c.n > 0`,
    [project.id, runs],
  );
  await db.rows('vacuum (analyze) contacts, automation_runs');
});
afterAll(() => database.close());

/** How many rows of the tables the statements of a list read at the most, with those that they left out. */
async function mostRead(
  query: Partial<Record<keyof ListExecutions, string>>,
): Promise<{ read: number; total: number }> {
  const db = database.db.session();
  const plans: PlanNode[] = [];
  const connection = db.em.getConnection();
  const execute = connection.execute.bind(connection);
  using _ = vi.spyOn(connection, 'execute').mockImplementation(async (text, params, method, ...rest) => {
    const rows = await execute<ExplainRow[]>(`explain (analyze, buffers, format json) ${text}`, params, 'all');
    for (const row of rows) plans.push(row['QUERY PLAN'][0].Plan);
    return execute(text, params, method, ...rest);
  });
  const { total } = await listExecutions(db, automation.projectId, automation.id, query as ListExecutions);
  expect(plans.length).toBeGreaterThan(0);
  return { read: Math.max(...plans.map((plan) => rowsRead(plan, ['contacts', 'automation_runs']))), total };
}

// Each of the newest is read as a run, as its contact, and as what is found; a read may be counted for its index too. One address more tells that there are too many.
const bound = 3 * newest + 3 * (addresses + 1);

test.each([
  ['a letter that all addresses have', 'a', newest],
  ['two letters that all have', 'an', newest],
  ['a sign that all addresses have', '@', newest],
  ['two letters that none has', 'zx', 0],
  ['a word that all addresses have', 'anna', newest],
  ['a part that all addresses have', 'example.com', newest],
  ['a word that none has', 'nobody', 0],
  ['words of name and address', 'Anna example', newest],
])('%s reads no more than the newest runs', async (_, search, found) => {
  const { read, total } = await mostRead({ search });
  expect(total).toBe(found);
  expect(read).toBeLessThanOrEqual(bound);
});

test('an address is found in all runs', async () => {
  const [oldest] = await database.db.rows<{ email: string }>(
    `select c.email from automation_runs r join contacts c on c.id = r.contact_id where r.automation_id = $1 order by r.started_at limit 1`,
    [automation.id],
  );
  const { read, total } = await mostRead({ search: oldest?.email ?? '' });
  expect(total).toBe(1);
  expect(read).toBeLessThanOrEqual(bound);
});
