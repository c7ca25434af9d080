import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { countByName, countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { dayMs, sqlSpan } from '../../src/lib/time.ts';
import { eventParts } from '../../src/store/event-parts.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

// Whoever divides, cuts and drops is killed with SIGKILL: between two steps, and in the middle of one, while Postgres still works for it.
let database: TestDatabase;
let project: TestProject;
const now = Date.now();
const at = (days: number) => new Date(now + days * dayMs).toISOString();
const rows = <Row extends object>(text: string, values: unknown[] = []) => database.db.rows<Row>(text, values);
const parts = async () => (await eventParts(database.db.pool)).map(({ name }) => name);
const names = ['app.opened', 'page.seen', 'order.paid'];
const [people, each] = [40, 60];

beforeEach(async () => {
  database = await testDatabase();
  project = await aProject(database);
  await rows(
    `with people as (
       insert into contacts (id, project_id, email, subscribed) select uuidv7(), $1, 'p' || n || '@kunde.example', true from generate_series(1, $2::int) n returning id)
     insert into events (id, project_id, contact_id, name, data, created_at)
     select uuidv7(at - now()), $1, p.id, ($3::text[])[1 + n % 3], '{"a": 1}', at
     from people p cross join generate_series(0, $4::int - 1) n, lateral (select now() - make_interval(days => 1, mins => 60 * n + 7) as at) d`,
    [project.id, people, names, each],
  );
  await rows(`update event_counts_state set counted_through = '-infinity'`);
  await countNewEvents(database.db);
});
afterEach(() => database.close());

/** Divides, and removes what is older than 40 days in 60 days, by a process of its own. */
function divider(moment: 'before' | 'in', step: string) {
  const child = fork(
    fileURLToPath(new URL('../support/parts-child.ts', import.meta.url)),
    [database.url, '40', at(0), at(60), moment, step],
    { stdio: 'inherit' },
  );
  const exited = once(child, 'exit');
  // A child that fails ends without a word.
  const says = Promise.race([once(child, 'message'), exited.then(() => ['nothing'])]).then(([said]) => said as string);
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { says, kill };
}

const atWork = () =>
  rows<{ waits: boolean }>(
    `select wait_event_type = 'Lock' as waits from pg_stat_activity where datname = current_database()
     and application_name in ('doomed divider', 'fernpost-migrate')`,
  );

async function killedAt(moment: 'before' | 'in', step: string, work = async () => {}): Promise<void> {
  const { says, kill } = divider(moment, step);
  expect([step, await says]).toEqual([step, 'there']);
  await work();
  await kill();
}

/** What has to be true whoever died: every event is there or was removed as one that may be, and new ones are taken. */
async function checked(): Promise<void> {
  await database.db.rows(recordingEvents({ events: [{ projectId: project.id, name: 'probe' }] }));
  const [left] = await rows<{ last: number; twice: number }>(
    `select count(distinct (contact_id, name))::int as last, (count(*) - count(distinct id))::int as twice from events where name = any ($1)`,
    [names],
  );
  expect(left).toEqual({ last: people * names.length, twice: 0 });
}

async function finished(): Promise<void> {
  const { says, kill } = divider('before', 'nothing');
  expect(await says).toBe('done');
  await kill();
  expect((await parts())[0]).toMatch(/^events_until_/);
  const copies = await rows<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and relname like 'events%' and relname not in ('events', 'events_touched') order by 1`,
  );
  expect(copies.map(({ name }) => name)).toEqual((await parts()).toSorted());
  expect(await rows(`select from pg_constraint where conname = 'events_cut'`)).toEqual([]);
  expect(await rows(`select count(*)::int as events from events where name = any ($1)`, [names])).toEqual([
    { events: people * names.length },
  ]);
  await countNewEvents(database.db);
  const counts = await countByName(database.db, project.id, sqlSpan({ from: null, until: null }, dayMs));
  const counted = Object.fromEntries(counts.map(({ name, count }) => [name, count]));
  const [probes] = await rows<{ probes: number }>(`select count(*)::int as probes from events where name = 'probe'`);
  const all = (people * each) / names.length;
  expect(counted).toEqual({
    'app.opened': all,
    'page.seen': all,
    'order.paid': all,
    ...(probes?.probes ? { probe: probes.probes } : {}),
  });
}

test('a process that is killed before each step of dividing and dropping is followed by one that ends it', {
  timeout: 300_000,
}, async () => {
  for (const step of ['divide', 'check', 'validate', 'cut', 'begin', 'copy', 'index', 'catch up', 'drop']) {
    await killedAt('before', step);
    await expect.poll(atWork).toEqual([]);
    await checked();
  }
  await finished();
});

test('a process that is killed while Postgres waits for the table on its behalf has changed nothing, and the next one ends it', {
  timeout: 300_000,
}, async () => {
  for (const step of ['divide', 'check', 'cut', 'begin', 'drop']) {
    await killedAt('before', step);
    const before = await parts();
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    // Whoever begins to copy waits for writers alone.
    await reader.query(
      step === 'begin' ? 'begin; lock table events in row exclusive mode' : 'begin; select from events limit 1',
    );
    await killedAt('in', step, () => expect.poll(atWork).toContainEqual({ waits: true }));
    await reader.query('commit');
    await reader.end();
    await expect.poll(atWork).toEqual([]);
    expect([step, await parts()]).toEqual([step, before]);
    await checked();
  }
  await finished();
});
