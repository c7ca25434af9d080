import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDateSweep } from '../../src/automations/enrollment/dates.ts';
import type { Database } from '../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { enrolPending } from '../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';

let database: TestDatabase;
let db: Database;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let used = 0;

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** Everything that was written until now is settled: it is followed by the next sweep, without waiting for the transactions of others. */
const settled = () =>
  db.count(
    `with place as (
       select coalesce(max(p.followed_at), now() - interval '10 seconds') as at
       from automation_date_places p join automations a on a.id = p.automation_id where a.project_id = $1)
     update contacts set updated_at = place.at from place where project_id = $1 and updated_at > place.at`,
    [project.id],
  );
async function started(triggerConfig: object, more: object = {}): Promise<string> {
  const { id } = await own.automation({ triggerType: 'DATE', triggerConfig, allowReentry: true, ...more });
  await own.step(id, 'DELAY', { amount: 1, unit: 'minutes' });
  await own.enable(id);
  return id;
}
/** A project of its own with a workflow that dates start, at nine on birthdays unless it says otherwise. */
async function aWorkflow(triggerConfig: object = { field: 'data.birthday', at: '09:00', every: 'year' }) {
  project = await aProject(database);
  own = automationHand(api, project);
  return started(triggerConfig);
}
const contact = (data: object) => own.contact(`person-${used++}@example.com`, { ...data });
const sweep = (now: string, contactsPerPage = 2, of = db) =>
  createDateSweep({
    db: of,
    clock: () => new Date(now),
    stop: new AbortController().signal,
    contactsPerPage,
    horizon: { quietSeconds: 0.1, longestSeconds: 0.1 },
  })();
const arrivals = async (id: string) =>
  (
    await db.rows<{ contact: string }>(
      'select contact_id as contact from automation_arrivals where automation_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ contact }) => contact);
const due = async (contactId: string) =>
  (
    await db.rows<{ at: Date | null }>('select due_at as at from automation_dates where contact_id = $1', [contactId])
  ).map(({ at }) => at && new Date(at).toISOString());

// More than a page.
const crowd = inFull(100_000, 12_000);

test('each date of each contact enrolls once, in the contact’s time zone, whatever is repeated', async () => {
  const id = await aWorkflow();
  const berlin = await contact({ birthday: '1990-03-10', timezone: 'Europe/Berlin' });
  const auckland = await contact({ birthday: '1985-03-10', timezone: 'Pacific/Auckland' });
  const utc = await contact({ birthday: '1992-02-29' });
  for (let n = 0; n < 5; n += 1) await contact({ birthday: '1990-07-01' });
  await contact({});
  await settled();
  expect(await sweep('2027-02-01T00:00:10Z')).toBe(0);
  expect([await due(berlin), await due(auckland), await due(utc)]).toEqual([
    ['2027-03-10T08:00:00.000Z'],
    ['2027-03-09T20:00:00.000Z'],
    ['2027-02-28T09:00:00.000Z'],
  ]);
  expect(await db.rows('select from automation_dates where automation_id = $1', [id])).toHaveLength(8);
  await sweep('2027-02-28T09:00:00Z');
  expect(await arrivals(id)).toEqual([utc]);
  await sweep('2027-03-09T20:00:01Z');
  await sweep('2027-03-10T08:00:00Z');
  await Promise.all([sweep('2027-03-10T08:00:00Z'), sweep('2027-03-10T08:00:00Z')]);
  expect(await arrivals(id)).toEqual([utc, auckland, berlin]);
  expect(await due(berlin)).toEqual(['2028-03-10T08:00:00.000Z']);
  await enrolPending(db);
  const runs = await db.rows<{ contact: string }>(
    'select contact_id as contact from automation_runs where automation_id = $1',
    [id],
  );
  expect(runs.map(({ contact }) => contact).toSorted()).toEqual([utc, auckland, berlin].toSorted());
});

test('an explanation names the date that started the execution, and none where it was started by hand', async () => {
  const id = await aWorkflow({ field: 'data.renewal', offset: '-300d', at: '09:00', every: 'year' });
  const [dated, byHand] = [await contact({ renewal: '1990-12-24' }), await contact({ renewal: '1990-12-24' })];
  await settled();
  await sweep('2027-02-01T00:00:10Z');
  await db.count('delete from automation_dates where contact_id = $1', [byHand]);
  await sweep('2027-02-27T09:00:00Z');
  await enrolPending(db);
  await own.done('POST', `/workflows/${id}/executions`, { contactId: byHand });
  const started = async (who: string) => {
    const { decisions } = await own.done('POST', '/explain', { contact: who, about: { workflowId: id } });
    return (decisions as { check: string; sentence: string }[]).map(({ sentence }) => sentence);
  };
  expect(await started(dated)).toEqual([
    'The date 2027-12-24 in the field "data.renewal" of the contact started the run.',
    expect.stringMatching(/^The contact entered version 1 /),
  ]);
  expect(await started(byHand)).toEqual([expect.stringMatching(/^The contact entered version 1 /)]);
});

test('a changed field or zone moves the date, a removed one takes it away, and values that are no dates are counted', async () => {
  const id = await aWorkflow({ field: 'data.trialEnds', offset: '-3d', at: '09:00', fallback: 'Europe/Berlin' });
  const [moved, removed, invalid, passed] = [
    await contact({ trialEnds: '2027-03-20' }),
    await contact({ trialEnds: '2027-03-20' }),
    await contact({ trialEnds: 'soon' }),
    await contact({ trialEnds: '2027-01-20' }),
  ];
  await settled();
  await sweep('2027-02-01T00:00:10Z');
  expect([await due(moved), await due(invalid), await due(passed)]).toEqual([['2027-03-17T08:00:00.000Z'], [null], []]);
  expect(await own.done('GET', `/workflows/${id}/people`)).toMatchObject({ invalidDates: 1 });
  const change = (contactId: string, data: object) => own.done('PATCH', `/contacts/${contactId}`, { data });
  await change(moved, { trialEnds: '2027-04-02' });
  await change(removed, { trialEnds: null });
  await change(invalid, { trialEnds: '2027-03-20', timezone: 'America/New_York' });
  // What is due is decided by the contact as it is, also before its change was followed.
  await sweep('2027-03-17T08:00:00Z');
  expect(await arrivals(id)).toEqual([]);
  await settled();
  await sweep('2027-03-17T08:00:02Z');
  expect([await due(moved), await due(removed), await due(invalid)]).toEqual([
    ['2027-03-30T07:00:00.000Z'],
    [null],
    ['2027-03-17T13:00:00.000Z'],
  ]);
  expect(await own.done('GET', `/workflows/${id}/people`)).toMatchObject({ invalidDates: 0 });
  await sweep('2027-03-17T13:00:00Z');
  expect(await arrivals(id)).toEqual([invalid]);
  // The same day in another zone is the same date.
  await change(invalid, { timezone: 'Pacific/Honolulu' });
  await settled();
  await sweep('2027-03-17T20:00:00Z');
  await sweep('2027-03-17T20:00:01Z');
  expect(await arrivals(id)).toEqual([invalid]);
});

test('a worker that dies in the middle takes nobody in, and the next one everybody once', async () => {
  const id = await aWorkflow();
  const people = [];
  for (let n = 0; n < 3; n += 1) people.push(await contact({ birthday: '1990-03-10' }));
  await settled();
  await sweep('2027-02-01T00:00:10Z');
  const blocked = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    await tx.rows('select from automations where id = $1 for update', [id]);
    blocked.resolve();
    await freed.promise;
  });
  await blocked.promise;
  const dying = sweep('2027-03-10T09:00:00Z').catch((error: Error) => error);
  const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%automation_arrivals%'
    and datname = current_database()`;
  await expect.poll(() => db.rows(waiting)).toHaveLength(1);
  await db.rows(`select pg_terminate_backend(pid) from (${waiting}) dying`);
  expect(await dying).toBeInstanceOf(Error);
  freed.resolve();
  await holding;
  expect(await arrivals(id)).toEqual([]);
  await sweep('2027-03-10T09:00:05Z');
  await sweep('2027-03-10T09:00:10Z');
  expect((await arrivals(id)).toSorted()).toEqual(people.toSorted());
});

test('an outage is made up for within seven days; what was missed while disabled, or for longer, is not', async () => {
  const id = await aWorkflow();
  const [late, lost] = [await contact({ birthday: '1990-03-10' }), await contact({ birthday: '1990-03-02' })];
  await settled();
  await sweep('2027-02-01T00:00:10Z');
  const changed = await contact({ birthday: '1990-03-14' });
  await settled();
  await sweep('2027-03-15T12:00:00Z', 100);
  expect(await arrivals(id)).toEqual([late]);
  await sweep('2027-03-15T12:00:05Z');
  expect(await arrivals(id)).toEqual([late, changed]);
  expect(await due(lost)).toEqual(['2028-03-02T09:00:00.000Z']);
  const off = await contact({ birthday: '1990-03-20' });
  await settled();
  await sweep('2027-03-16T00:00:10Z');
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await sweep('2027-03-20T09:00:00Z');
  await own.done('PATCH', `/workflows/${id}`, { enabled: true });
  await db.count(`update automations set updated_at = '2027-03-21T00:00:00Z' where id = $1`, [id]);
  await sweep('2027-03-21T00:00:01Z');
  await sweep('2027-03-21T00:00:02Z');
  expect(await arrivals(id)).toEqual([late, changed]);
  expect(await due(off)).toEqual(['2028-03-20T09:00:00.000Z']);
});

test('a deleted contact has no date, and another project’s contacts none here', async () => {
  const first = await aWorkflow();
  const gone = await contact({ birthday: '1990-03-10' });
  const mine = project;
  await settled();
  await aWorkflow();
  await contact({ birthday: '1990-03-10' });
  await settled();
  await sweep('2027-02-01T00:00:10Z');
  expect(await due(gone)).toHaveLength(1);
  await api.call(mine.secretKey, 'DELETE', `/contacts/${gone}`);
  expect(await due(gone)).toEqual([]);
  await sweep('2027-03-10T09:00:00Z');
  expect(await arrivals(first)).toEqual([]);
});

test('what is wrong with the trigger is named, and the field is in use by the workflow', async () => {
  await aWorkflow();
  const { id } = await own.automation({ triggerType: 'DATE' });
  for (const [triggerConfig, field] of [
    [{}, 'triggerConfig.field'],
    [{ field: 'email' }, 'triggerConfig.field'],
    [{ field: 'data.birthday', every: 'month' }, 'triggerConfig.every'],
    [{ field: 'data.birthday', at: '9' }, 'triggerConfig.at'],
    [{ field: 'data.birthday', offset: '-2h', at: '09:00' }, 'triggerConfig.at'],
    [{ field: 'data.birthday', zone: 'Mars' }, 'triggerConfig.zone'],
  ] as const) {
    const { status, body } = await own.call('PATCH', `/workflows/${id}`, { triggerConfig, enabled: true });
    expect([status, body.error.errors[0].field]).toEqual([422, field]);
  }
  const { usedInWorkflows } = await own.done('GET', '/contacts/fields/data.birthday/usage');
  expect(usedInWorkflows).toHaveLength(1);
});

test('a test run shows the next three times for a contact', async () => {
  const id = await aWorkflow({ field: 'data.birthday', offset: '-1d', at: '09:00', every: 'year' });
  const contactId = await contact({ birthday: '1992-03-01', timezone: 'Europe/Berlin' });
  const { steps } = await own.done('POST', `/workflows/${id}/test-run`, { contactId });
  expect(steps[0].output.zone).toBe('Europe/Berlin');
  expect(steps[0].output.next).toHaveLength(3);
  for (const at of steps[0].output.next) expect(at).toMatch(/-02-2[89]T08:00:00.000Z$/);
});

test('many birthdays on one day are enrolled by pages, and changed contacts are found by an index', {
  timeout: 300_000,
}, async () => {
  const id = await aWorkflow();
  await db.count(
    `insert into contacts (id, project_id, email, subscribed, data, updated_at)
     select uuidv7(), $1, 'crowd-' || n || '@example.com', true, '{"birthday": "1990-03-10"}', now() - interval '10 seconds' from generate_series(1, $2::int) n`,
    [project.id, crowd],
  );
  await settled();
  await db.count('analyze contacts');
  const until = async (now: string, table: string) => {
    const counted = () =>
      db.row<{ count: number }>(`select count(*)::int from ${table} where automation_id = $1`, [id]);
    for (let n = 0; n < 60 && (await counted())?.count !== crowd; n += 1) await sweep(now, 5_000);
    expect(await counted()).toEqual({ count: crowd });
  };
  await until('2027-02-01T00:00:10Z', 'automation_dates');
  await until('2027-03-10T09:00:00Z', 'automation_arrivals');
  expect(await sweep('2027-03-10T09:00:10Z', 5_000)).toBe(0);
  const plan = await db.rows<{ 'QUERY PLAN': string }>(
    `explain select from contacts where project_id = $1 and updated_at >= $2 and updated_at < now()
       and (updated_at > $2 or id > $3) order by updated_at, id limit 5000`,
    [project.id, '2027-03-10T09:00:00Z', id],
  );
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(/contacts_updated/);
});
