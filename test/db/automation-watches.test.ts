// biome-ignore-all lint/suspicious/noThenProperty: the field of the contract.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Graph } from '../../src/automations/graph/graph.ts';
import { moveContacts } from '../../src/automations/migrating/job.ts';
import { migrateContacts } from '../../src/automations/migrating/service.ts';
import { markGraphDirty } from '../../src/automations/queries.ts';
import { advance } from '../../src/automations/runtime/advance.ts';
import { removeUnusedVersions } from '../../src/automations/versions.ts';
import { newId } from '../../src/lib/ids.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { raw } from '../../src/store/sql.ts';
import { advanceDeps, anAutomation, letIn, runsOf, type TestAutomation } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

const segment = newId();
let database: TestDatabase;
let project: TestProject;
beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database.db);
  await database.db.count(
    `insert into segments (id, project_id, name, type, track_membership) values ($1, $2, 'VIP', 'STATIC', true)`,
    [segment, project.id],
  );
});
afterAll(() => database.close());

const names = ['order.paid', 'cart.opened', 'plan.changed', 'page.viewed'];
const name = fc.constantFrom(...names);
const cause = fc.oneof(
  fc.record({ event: name }),
  fc.constant({ leavesSegment: segment }),
  fc.constant({
    condition: { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: 'never' }] }] },
  }),
);
/** What an edit sets: the events of the two waits, whether they count from the entry, what ends runs and what they are for. */
const edit = fc.record({
  waits: fc.tuple(name, name),
  fromEntry: fc.boolean(),
  exits: fc.array(cause, { maxLength: 2 }),
  goal: fc.option(fc.record({ on: cause, withinDays: fc.constant(3), then: fc.constantFrom('count', 'exit') })),
});
type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;
const action = fc.oneof(
  edit.map((to) => ({ kind: 'edit' as const, to })),
  fc.constant({ kind: 'enter' as const }),
  fc.record({ kind: fc.constant('happens' as const), name }),
  fc.record({ kind: fc.constant('migrate' as const), how: fc.constantFrom('finish', 'moveAtNextStep', 'moveNow') }),
  fc.constant({ kind: 'leaves' as const }),
  fc.constant({ kind: 'tidy' as const }),
);

const configOf = (step: 'trigger' | 'one' | 'two', { waits: [one, two], fromEntry, exits, goal }: Edit): object => {
  const countsFrom = fromEntry ? 'entry' : 'step';
  if (step !== 'trigger') return { eventName: step === 'one' ? one : two, countsFrom };
  const named = exits.map((on, place) => ({ id: `exit-${place}`, on, reason: 'left' }));
  return { eventName: 'signup', ...(named.length > 0 && { exits: named }), ...(goal && { goal }) };
};

/** What a graph listens for, read from its JSON as it is stored. */
function listening({ steps }: Graph): string[] {
  const found = new Map<string, Set<string>>();
  const add = (name: unknown, how: string) => {
    if (typeof name === 'string') found.set(name, new Set([...(found.get(name) ?? []), how]));
  };
  const of = ({ event, leavesSegment }: { event?: string; leavesSegment?: string }) =>
    event ?? (leavesSegment && `segment:${leavesSegment}`);
  for (const { type, config } of steps) {
    if (type === 'WAIT_FOR_EVENT') add(config.eventName, 'waits');
    if (type !== 'TRIGGER') continue;
    const { exits = [], goal } = config as { exits?: { on: object }[]; goal?: { on: object; then: string } };
    for (const { on } of exits) add(of(on), 'ends');
    if (goal) add(of(goal.on), 'counts');
    if (goal?.then === 'exit') add(of(goal.on), 'ends');
  }
  return [...found].map(([name, how]) => `${name}: ${[...how].sort()}`).sort();
}

async function asListened({ id }: TestAutomation) {
  const { db } = database;
  const versions = await db.rows<{ id: string; graph: Graph; watched: string[] }>(
    `select v.id, v.graph, array(
       select w.event_name || ': ' || concat_ws(',', case when counts then 'counts' end, case when ends then 'ends' end, case when waits then 'waits' end)
       from automation_watches w where w.version_id = v.id and w.automation_id = $1) as watched
     from automation_versions v where v.automation_id = $1`,
    [id],
  );
  for (const { graph, watched } of versions) expect(watched.toSorted()).toEqual(listening(graph));
  const unheard = await db.rows(
    `select s.event_name from automation_step_runs s join automation_runs r on r.id = s.run_id
     where r.automation_id = $1 and s.status = 'WAITING' and not exists (
       select from automation_watches w where w.project_id = s.project_id and w.event_name = s.event_name and w.waits)`,
    [id],
  );
  expect(unheard).toEqual([]);
}

async function changeTo(automation: TestAutomation, to: Edit) {
  const { db } = database;
  for (const step of ['trigger', 'one', 'two'] as const)
    await db.count('update automation_steps set config = $2 where id = $1', [
      automation.steps[step],
      JSON.stringify(configOf(step, to)),
    ]);
  await db.transaction((tx) => markGraphDirty(tx, automation.id));
}

async function migrate({ id, steps }: TestAutomation, how: string) {
  const { db } = database;
  const stays = ['one', 'two'].map((step) => ({
    stepId: steps[step] ?? '',
    action: how as 'moveNow',
    ...(how === 'moveNow' && { toStepId: steps[step] ?? '' }),
  }));
  const { body } = await migrateContacts(db, project.id, id, {
    dryRun: false,
    plan: stays,
    otherwise: { action: 'finish' },
  });
  const share = { stop: new AbortController().signal, longestMs: 60_000, onChunk: () => {} };
  if ('id' in body) await moveContacts({ db }, body.id, share);
}

const openWaits = (automationId: string, event: string) =>
  database.db.rows<{ id: string; outcome: string | null }>(
    `select s.id, s.outcome from automation_step_runs s join automation_runs r on r.id = s.run_id
     where r.automation_id = $1 and s.status = 'WAITING' and s.outcome is null and s.event_name = $2`,
    [automationId, event],
  );

test('what is watched is what every version listens for, and each event ends every wait for it, whatever edits, entries, events and migrations come in whatever order', async () => {
  const { db } = database;
  const deps = advanceDeps(db);
  const example = fc.tuple(edit, fc.array(action, { minLength: 4, maxLength: 16 }));
  await fc.assert(
    fc.asyncProperty(example, async ([first, actions]) => {
      const specOf = (step: 'one' | 'two') => ['WAIT_FOR_EVENT', configOf(step, first)] as ['WAIT_FOR_EVENT', object];
      const automation = await anAutomation(db, project.id, {
        event: 'signup',
        steps: { one: specOf('one'), two: specOf('two'), rest: ['DELAY', { amount: 3, unit: 'days' }] },
      });
      await changeTo(automation, first);
      const onward = async () => {
        for (const { id, status } of await runsOf(db, automation.id))
          if (status === 'RUNNING' || status === 'WAITING') await advance(deps, id, null);
      };
      const all = () => raw(`automation_runs r where r.automation_id = '${automation.id}'`);
      for (const step of actions) {
        if (step.kind === 'edit') await changeTo(automation, step.to);
        else if (step.kind === 'enter') {
          await letIn(db, automation, [await aContact(db, project.id, `${newId()}@example.com`)]);
          await onward();
        } else if (step.kind === 'happens') {
          const before = await openWaits(automation.id, step.name);
          const event = { projectId: project.id, contactId: raw('r.contact_id'), name: step.name, from: all() };
          await db.count(recordingEvents({ events: [event] }));
          expect(await openWaits(automation.id, step.name)).toEqual([]);
          const ended = await db.count(
            `select from automation_step_runs where id = any ($1::uuid[]) and outcome = 'EVENT'`,
            [before.map(({ id }) => id)],
          );
          expect(ended).toBe(before.length);
          await onward();
        } else if (step.kind === 'leaves') {
          const ends = await db.count(
            `select from automation_runs r join automation_watches w on w.version_id = r.version_id
             where r.automation_id = $1 and r.status in ('RUNNING', 'WAITING') and w.event_name = $2 and w.ends`,
            [automation.id, `segment:${segment}`],
          );
          // Segments may have one name, and those who leave the first of them need not leave this one.
          const leaving = (id: string) => {
            const data = raw(`jsonb_build_object('segmentId', '${id}')`);
            return {
              projectId: project.id,
              contactId: raw('r.contact_id'),
              name: 'segment.vip.exit',
              data,
              from: all(),
            };
          };
          await db.count(recordingEvents({ events: [leaving(newId()), leaving(segment)] }));
          const noted = 'select from automation_runs where automation_id = $1 and exit_event_id is not null';
          expect(await db.count(noted, [automation.id])).toBe(ends);
          await onward();
        } else if (step.kind === 'migrate') {
          await migrate(automation, step.how);
          await onward();
        } else {
          await db.count(`update automation_versions set created_at = now() - interval '2 hours'`);
          await removeUnusedVersions(db, 1_000);
        }
        await asListened(automation);
      }
      await db.count('delete from automations where id = $1', [automation.id]);
      expect(await db.count('select from automation_watches where automation_id = $1', [automation.id])).toBe(0);
    }),
    { numRuns: inFull(200, 40) },
  );
});
