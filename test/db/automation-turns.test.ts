import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { longestTurnMs } from '../../src/automations/graph/wait-until.ts';
import { pauseAutomation } from '../../src/automations/list-service.ts';
import { getExecution } from '../../src/automations/runs/service.ts';
import { upcomingMails } from '../../src/automations/runs/upcoming.ts';
import { advance, Turns } from '../../src/automations/runtime/advance.ts';
import { lastTurn } from '../../src/automations/runtime/run-queries.ts';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { contactFacts } from '../../src/insight/explain/queries.ts';
import { explainWorkflow } from '../../src/insight/explain/workflow.ts';
import { placeWithin } from '../../src/lib/ids.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  letIn,
  type TestAutomation,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

const crowd = inFull(100_000, 2_000);
const nine = '2099-05-01T09:00:00.000Z';
const ten = '2099-05-01T10:00:00.000Z';
const waits: AutomationSpec['steps'] = { wait: ['WAIT_UNTIL', { field: 'data.starts' }], out: ['EXIT'] };

let database: TestDatabase;
let project: TestProject;
let deps: ReturnType<typeof advanceDeps>;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  project = await aProject(database.db);
  deps = advanceDeps(database.db);
});

/** Inserts people with a date, in the order of their IDs. */
async function people(count: number, starts = nine): Promise<string[]> {
  const rows = await database.db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'waiter-' || n || '-' || substr($2, 1, 13) || '-' || gen_random_uuid() || '@example.com', true, jsonb_build_object('starts', $2::text)
     from generate_series(1, $3::int) n returning id`,
    [project.id, starts, count],
  );
  return rows.map(({ id }) => id).sort();
}

/** Lets people in; so many at once come to the first step that waits. Answers their runs, in that order. */
async function enter(
  automation: TestAutomation,
  contacts: readonly string[],
  { atOnce = 1, turnsPerSecond }: { atOnce?: number; turnsPerSecond?: number } = {},
): Promise<string[]> {
  const pace = { ...deps, turns: new Turns(turnsPerSecond) };
  const entered: string[] = [];
  for (let from = 0; from < contacts.length; from += 500) {
    const runs = (await letIn(database.db, automation, contacts.slice(from, from + 500))).map(({ id }) => id);
    entered.push(...runs);
    const left = runs.values();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const id of left) expect(await advance(pace, id, 0)).toMatchObject({ next: 'sleep' });
      }),
    );
  }
  return entered;
}

/** When the runs of an automation are due, in milliseconds after an instant, in that order. */
async function dueAfter({ id }: TestAutomation, instant = nine): Promise<number[]> {
  const rows = await database.db.rows<{ ms: number }>(
    `select (1000 * extract(epoch from due_at - $2::timestamptz))::int as ms from automation_runs
     where automation_id = $1 order by due_at, id`,
    [id, instant],
  );
  return rows.map(({ ms }) => ms);
}

/** How a run stands: when it is due, for which instant it waits, and its turn after that. */
async function standing(runId: string) {
  const row = await database.db.row<{ due: Date; at: Date; turn: number; status: string }>(
    `select r.due_at as due, x.scheduled_for as at, x.turn_ms as turn, r.status from automation_runs r
     join automation_step_runs x on x.run_id = r.id and x.seq = r.seq - 1 where r.id = $1`,
    [runId],
  );
  if (row === null) throw new Error('The run waits for nothing');
  return { ...row, due: new Date(row.due).toISOString(), at: new Date(row.at).toISOString() };
}

const give = (id: string, set: Record<string, string>) =>
  writeContacts(database.db, project.id, [{ id, set }], writingAs(database.db, 'contact'));
const later = (ms: number, instant = nine) => new Date(Date.parse(instant) + ms).toISOString();

describe('contacts who wait for one instant', () => {
  test(`${crowd} of them continue at 60 a second from that instant on, the first on the dot`, {
    timeout: crowd * 200,
  }, async () => {
    const automation = await anAutomation(database.db, project.id, { steps: waits });
    await enter(automation, await people(crowd), { atOnce: 8 });
    const due = await dueAfter(automation);
    expect(due).toHaveLength(crowd);
    expect([due[0], due[1], due[2], due[3]]).toEqual([0, 17, 34, 50]);
    expect(due.at(-1)).toBeLessThan(longestTurnMs);
    const seconds = new Map<number, number>();
    for (const ms of due) seconds.set(Math.floor(ms / 1_000), (seconds.get(Math.floor(ms / 1_000)) ?? 0) + 1);
    expect(Math.max(...seconds.values())).toBe(60);
    // None of them is left empty either: the last one is as early as the rate allows.
    expect(seconds.size).toBe(Math.ceil(crowd / 60));

    // One more costs a look-up and not a count, also by a plan from when hardly anybody waited.
    const read = await database.db.transaction(async (tx) => {
      const soFar = async () => {
        const row = await tx.row<{ scans: number; rows: number }>(
          `select seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
           from pg_stat_xact_user_tables where relname = 'automation_step_runs'`,
        );
        return row ?? { scans: 0, rows: 0 };
      };
      const before = await soFar();
      for (let n = 0; n < 7; n += 1) expect(await lastTurn(tx, project.id, nine)).toBe(due.at(-1));
      const now = await soFar();
      return { scans: now.scans - before.scans, rows: now.rows - before.rows };
    });
    expect(read).toEqual({ scans: 0, rows: expect.toSatisfy((rows: number) => rows < 50) });
  });

  test('who begin to wait at the same time in two processes share a turn with one of the other process at most', async () => {
    const automation = await anAutomation(database.db, project.id, { steps: waits });
    const count = inFull(4_000, 400);
    const runs = (await letIn(database.db, automation, await people(count))).values();
    const move = async (turns: Turns) => {
      for (const { id } of runs) expect(await advance({ ...deps, turns }, id, 0)).toMatchObject({ next: 'sleep' });
    };
    const processes = [new Turns(), new Turns()];
    await Promise.all(processes.flatMap((turns) => Array.from({ length: 4 }, () => move(turns))));
    const due = await dueAfter(automation);
    expect(due).toHaveLength(count);
    expect([due[0], due.at(-1)]).toEqual([0, expect.toSatisfy((ms: number) => ms < longestTurnMs)]);
    const shared = Map.groupBy(due, (ms) => ms);
    expect([...shared.values()].filter((together) => together.length > 2)).toEqual([]);
    // It is so many turns as it can be: none between two of them is left out.
    expect([...shared.keys()]).toEqual(Array.from({ length: shared.size }, (_, n) => Math.ceil((n * 1_000) / 60)));
  });

  test('fill half an hour, and those beyond it are spread over all of it', async () => {
    const automation = await anAutomation(database.db, project.id, { steps: waits });
    // 36 turns.
    const contacts = await people(60);
    const turns = [];
    for (const run of await enter(automation, contacts, { turnsPerSecond: 0.02 }))
      turns.push((await standing(run)).turn);
    expect(turns.slice(0, 36)).toEqual(Array.from({ length: 36 }, (_, n) => n * 50_000));
    expect(turns.slice(36)).toEqual(contacts.slice(36).map((id) => placeWithin(id, longestTurnMs)));
  });

  test('keep their turn while the instant stays, and get another one with another instant', async () => {
    const automation = await anAutomation(database.db, project.id, { steps: waits });
    const contacts = await people(3);
    const [, second = '', third = ''] = await enter(automation, contacts);
    expect(await standing(second)).toMatchObject({ due: later(17), at: nine, turn: 17 });
    // The zone changes nothing about an instant, and nor does the same instant in other words.
    const same: Record<string, string>[] = [
      { timezone: 'Asia/Tokyo' },
      { starts: '2099-05-01T11:00:00+02:00' },
      { starts: nine },
    ];
    for (const set of same)
      for (let times = 0; times < 2; times += 1) {
        await give(contacts[1] ?? '', set);
        expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: later(17) });
        expect(await standing(second)).toMatchObject({ due: later(17), at: nine, turn: 17 });
      }
    await give(contacts[1] ?? '', { starts: ten });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: ten });
    expect(await standing(second)).toMatchObject({ due: ten, at: ten, turn: 0 });
    await give(contacts[2] ?? '', { starts: ten });
    expect(await advance(deps, third, 2)).toMatchObject({ next: 'sleep', until: later(17, ten) });
    // Whoever comes back goes behind those who are left, and behind those who have just gone.
    await give(contacts[1] ?? '', { starts: nine });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep' });
    expect([17, 50]).toContain((await standing(second)).turn);
    // Without a date nobody has a turn.
    await database.db.count(`update contacts set data = '{}' where id = $1`, [contacts[1]]);
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'wait', until: null });
  });

  test('stand in one line at all steps of all workflows of a project, and in none with those of another project or instant', async () => {
    const steps: AutomationSpec['steps'] = {
      one: ['WAIT_UNTIL', { field: 'data.starts' }],
      two: ['WAIT_UNTIL', { field: 'data.ends' }],
      rest: ['DELAY', { amount: 1, unit: 'days' }],
    };
    const automation = await anAutomation(database.db, project.id, { steps });
    const [here = ''] = await people(1, ten);
    const [there = ''] = await people(1);
    const [first = ''] = await enter(automation, [here]);
    await give(here, { starts: '2020-01-01', ends: nine });
    expect(await advance(deps, first, 2)).toMatchObject({ next: 'sleep', until: nine, step: { name: 'two' } });
    const [second = ''] = await enter(automation, [there]);
    expect(await standing(second)).toMatchObject({ at: nine, turn: 17 });
    const other = await anAutomation(database.db, project.id, { steps: waits });
    await enter(other, await people(2));
    await enter(other, await people(1, ten));
    expect(await dueAfter(other)).toEqual([34, 50, 3_600_000]);
    const own = project;
    project = await aProject(database.db);
    const foreign = await anAutomation(database.db, project.id, { steps: waits });
    await enter(foreign, await people(2));
    expect(await dueAfter(foreign)).toEqual([0, 17]);
    project = own;
    // A delay that ends just then has no turn.
    const [delayed = ''] = await enter(automation, await people(1));
    await database.db.count(
      `update automation_step_runs set step_type = 'DELAY', turn_ms = 500 where run_id = $1 and scheduled_for is not null`,
      [delayed],
    );
    const [third = ''] = await enter(automation, await people(1));
    expect([67, 84]).toContain((await standing(third)).turn);
  });
});

describe('between the instant and the turn of a contact', () => {
  /** Two contacts, of whom the second has to wait for 100 seconds longer; the instant came ten seconds ago. */
  async function twoInLine(spec: Pick<AutomationSpec, 'exits'> = {}, template?: string) {
    const mail = template === undefined ? {} : { mail: ['SEND_EMAIL', { templateId: template }] as const };
    const steps = { wait: waits.wait, ...mail, out: waits.out } as unknown as AutomationSpec['steps'];
    const automation = await anAutomation(database.db, project.id, { ...spec, steps });
    const contacts = await people(2);
    const [first = '', second = ''] = await enter(automation, contacts, { turnsPerSecond: 0.01 });
    expect(await standing(second)).toMatchObject({ at: nine, turn: 100_000 });
    const instant = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 10_000).toISOString();
    await database.db.count(
      `update contacts set data = jsonb_build_object('starts', $2::text) where id = any ($1::uuid[])`,
      [contacts, instant],
    );
    await database.db.count(
      `with moved as (
         update automation_step_runs set scheduled_for = $2 where run_id = any ($1::uuid[]) and scheduled_for is not null returning run_id, turn_ms)
       update automation_runs r set due_at = $2::timestamptz + turn_ms * interval '1 millisecond' from moved where r.id = moved.run_id`,
      [[first, second], instant],
    );
    return { automation, first, second, contact: contacts[1] ?? '', turn: later(100_000, instant), instant };
  }

  test('the run waits on, whatever wakes it, and everything that says until when says so', async () => {
    const { db } = database;
    const template = await aTemplate(db, project);
    const { automation, first, second, contact, turn, instant } = await twoInLine({}, template);
    const upcoming = await upcomingMails(db.session(), project.id, new Date(Date.now() + 60_000), 10);
    expect(upcoming.map(({ at }) => at)).toEqual([instant, turn]);
    expect(await advance(deps, first, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
    for (const seq of [2, null])
      expect(await advance(deps, second, seq)).toMatchObject({ next: 'sleep', until: turn, seq: 2 });
    await give(contact, { timezone: 'Asia/Tokyo' });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: turn });
    expect(await standing(second)).toMatchObject({ due: turn, at: instant, status: 'WAITING' });
    const told = await getExecution(db, project.id, automation.id, second, (workflow) => workflow);
    expect([told.waitingFor, told.waitingUntil]).toEqual(['timer', turn]);
    expect(told.stepExecutions.at(-1)).toMatchObject({ status: 'SCHEDULED', scheduledFor: turn, executeAfter: null });
    const facts = await contactFacts(db, project.id, contact);
    if (facts === null) throw new Error('The contact is gone');
    const { decisions, next } = await explainWorkflow(db, project.id, facts, automation.id, facts.readAt);
    expect(next?.at).toBe(turn);
    expect(decisions.at(-1)?.sentence).toMatch(
      /^Step "wait" is waiting until .+ UTC: other contacts of the project wait for the same time, and 60 of them continue each second\.$/,
    );
    // A pause holds whoever is due, and not before.
    await pauseAutomation(db, project.id, automation.id);
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: turn });
    await db.count('update automations set paused_at = null where id = $1', [automation.id]);
    // Its turn comes.
    await db.count(
      `with moved as (update automation_step_runs set turn_ms = 5000 where run_id = $1 and scheduled_for is not null)
       update automation_runs set due_at = $2 where id = $1`,
      [second, later(5_000, instant)],
    );
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
    const rows = await db.rows<{ output: object }>(
      `select output from automation_step_runs where run_id = $1 and step_type = 'WAIT_UNTIL'`,
      [second],
    );
    expect(rows).toEqual([{ output: { until: instant, zone: 'Asia/Tokyo' } }]);
  });

  test('an event that ends nothing leaves the turn as it is', async () => {
    const where = [{ path: 'total', operator: 'greaterThan', value: 100 }];
    const exits = [{ id: 'bought', on: { event: 'order.paid', where }, reason: 'bought' }];
    const { second, contact, turn } = await twoInLine({ exits });
    await anEvent(database.db, project.id, contact, 'order.paid', { total: 5 });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: turn });
    expect((await standing(second)).due).toBe(turn);
    await anEvent(database.db, project.id, contact, 'order.paid', { total: 500 });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'done', status: 'EXITED', reason: 'bought' });
  });

  test('another date moves the run, and one that has passed lets it continue at once', async () => {
    const { second, contact } = await twoInLine();
    await give(contact, { starts: ten });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'sleep', until: ten });
    await give(contact, { starts: '2020-01-01' });
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
  });

  test('an execution from before turns, or with one that its instant has left behind, is due at its instant', async () => {
    const { second, instant } = await twoInLine();
    await database.db.count(
      `with moved as (update automation_step_runs set turn_ms = default where run_id = $1)
       update automation_runs set due_at = $2 where id = $1`,
      [second, instant],
    );
    expect(await advance(deps, second, 2)).toMatchObject({ next: 'done', status: 'EXITED' });
  });
});
