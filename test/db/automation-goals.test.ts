// biome-ignore-all lint/suspicious/noThenProperty: the field of the contract.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { countGoals, goalFigures } from '../../src/automations/runtime/goals.ts';
import { decideSplit } from '../../src/automations/runtime/steps.ts';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { contactFacts } from '../../src/insight/explain/queries.ts';
import { explainWorkflow } from '../../src/insight/explain/workflow.ts';
import { newId } from '../../src/lib/ids.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  enrolPending,
  letIn,
  runOf,
  runsOf,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';

let database: TestDatabase;
let project: TestProject;
let deps: ReturnType<typeof advanceDeps>;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.count('delete from automations');
  project = await aProject(database.db);
  deps = advanceDeps(database.db);
});

const bought = {
  on: { event: 'order.paid', where: [{ path: 'total', operator: 'greaterThan', value: 5 }] },
  withinDays: 14,
  then: 'count',
};
const onPlan = {
  on: {
    condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'team' }] }] },
  },
  withinDays: 14,
  then: 'count',
};
const rest: AutomationSpec['steps'] = { rest: ['DELAY', { amount: 3, unit: 'days' }] };

let contacts = 0;
const someone = (data: Record<string, unknown> = {}) => {
  contacts += 1;
  return aContact(database.db, project.id, `goal-${contacts}@example.com`, { data });
};
const paid = (contactId: string, total = 6) => anEvent(database.db, project.id, contactId, 'order.paid', { total });
const count = () => countGoals(database.db, new AbortController().signal);
const figures = async (automationId: string, by?: string) => {
  await count();
  return goalFigures(database.db, project.id, automationId, by);
};
/** Sets the clock of all goals forward. */
const later = (days: number) =>
  database.db.count(
    `with old as (update automation_runs set started_at = started_at - $1 * interval '1 day'),
       happened as (update events set created_at = created_at - $1 * interval '1 day')
     update automation_goals set entered_at = entered_at - $1 * interval '1 day', until = until - $1 * interval '1 day',
       check_at = check_at - $1 * interval '1 day', met_at = met_at - $1 * interval '1 day'`,
    [days],
  );

async function begin(spec: AutomationSpec, contactIds: readonly string[]) {
  const automation = await anAutomation(database.db, project.id, spec);
  const runs = await letIn(database.db, automation, contactIds);
  for (const { id } of runs) await advance(deps, id, 0);
  return { automation, runs: runs.map(({ id }) => id) };
}

describe('a goal by an event', () => {
  test('is counted once, by whoever passes its tests after entering, also after the run has ended', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => someone()));
    const [ended = '', twice = '', small = '', before = ''] = all;
    await paid(before);
    const { automation, runs } = await begin({ goal: bought, steps: {} }, all);
    const statuses = (await runsOf(database.db, automation.id)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['COMPLETED']));
    expect(await figures(automation.id)).toMatchObject({ entered: 5, met: 0, open: 5, rate: 0, medianSeconds: null });
    await later(3);
    await paid(ended);
    await paid(twice);
    await paid(twice, 7);
    await paid(small, 5);
    const found = await figures(automation.id);
    expect(found).toMatchObject({ goal: bought, entered: 5, met: 2, metOnEntry: 0, open: 3, rate: 40, groups: [] });
    expect(found.medianSeconds).toBeCloseTo(3 * 86_400, -2);
    expect(found.interval?.low).toBeCloseTo(11.76, 2);
    await paid(ended);
    expect(await figures(automation.id)).toMatchObject({ met: 2 });
    expect(
      await database.db.count(`select from automation_goals where run_id = $1 and met_at is not null`, [runs[0]]),
    ).toBe(1);
  });

  test('counts within its days only, by the time of the event; a test after the window finds what came in time', async () => {
    const [intime = '', late = '', unseen = ''] = await Promise.all([someone(), someone(), someone()]);
    const { automation } = await begin({ goal: bought, steps: {} }, [intime, late, unseen]);
    await later(13);
    await paid(intime);
    // As if the transaction of this event had not seen the run.
    const checks = await database.db.rows(`select run_id, check_at from automation_goals`);
    await paid(unseen);
    await database.db.count(
      `update automation_goals g set check_at = (r.value ->> 'check_at')::timestamptz
       from jsonb_array_elements($1::jsonb) r where (r.value ->> 'run_id')::uuid = g.run_id and g.contact_id = $2`,
      [JSON.stringify(checks), unseen],
    );
    expect(await figures(automation.id)).toMatchObject({ met: 1, open: 2 });
    await later(2);
    await paid(late);
    expect(await figures(automation.id)).toMatchObject({ entered: 3, met: 2, open: 0 });
    expect(await database.db.count('select from automation_goals where check_at is not null')).toBe(0);
    await paid(late);
    expect(await figures(automation.id)).toMatchObject({ met: 2 });
  });

  test('does not count the event that starts the run, but one that came before the run was there', async () => {
    const automation = await anAutomation(database.db, project.id, {
      event: 'order.paid',
      goal: { ...bought, on: { event: 'order.paid' } },
      steps: {},
    });
    const [once, twice] = [await someone(), await someone()];
    await paid(once);
    await paid(twice);
    await paid(twice);
    await enrolPending(database.db);
    expect(await figures(automation.id)).toMatchObject({ entered: 2, met: 1, open: 1 });
  });

  test('that ends runs does so at once, with the mail that waits, and is counted; one that counts wakes nobody', async () => {
    const [leaver, stayer] = [await someone(), await someone()];
    const steps: AutomationSpec['steps'] = {
      mail: ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }],
      ...rest,
    };
    const ending = await begin({ goal: { ...bought, then: 'exit' }, steps }, [leaver]);
    const counting = await begin({ goal: bought, steps }, [stayer]);
    await paid(leaver);
    await paid(stayer);
    const woken = await database.db.rows<{ contact: string }>(
      `select split_part(workflow_id, '/', 3) as contact from outbox where kind = 'signal'`,
    );
    expect(woken).toEqual([{ contact: leaver }]);
    await advance(deps, ending.runs[0] ?? '', null);
    expect(await runOf(database.db, ending.automation.id)).toMatchObject({
      status: 'EXITED',
      reason: 'reached the goal',
    });
    expect(await runOf(database.db, counting.automation.id)).toMatchObject({ status: 'WAITING' });
    const mails = await database.db.rows(
      `select contact_id as contact, status, mail_reason_text(reason) as reason from emails order by status`,
    );
    expect(mails).toEqual([
      { contact: leaver, status: 'CANCELLED', reason: 'left the workflow: reached the goal' },
      { contact: stayer, status: 'PENDING', reason: null },
    ]);
    for (const { automation } of [ending, counting])
      expect(await figures(automation.id)).toMatchObject({ entered: 1, met: 1 });
  });

  test('by a segment that the contact leaves is known by the ID of the segment', async () => {
    const id = newId();
    await database.db.count(
      `insert into segments (id, project_id, name, type, track_membership) values ($1, $2, 'Trial users', 'STATIC', true)`,
      [id, project.id],
    );
    const contact = await someone();
    const { automation } = await begin({ goal: { ...bought, on: { leavesSegment: id } }, steps: rest }, [contact]);
    const leaves = (segmentId: string) =>
      anEvent(database.db, project.id, contact, 'segment.trial-users.exit', { segmentId, segmentName: 'Trial users' });
    await leaves(newId());
    expect(await figures(automation.id)).toMatchObject({ met: 0 });
    await leaves(id);
    expect(await figures(automation.id)).toMatchObject({ met: 1 });
  });

  test('is found for each of 200 contacts whose events come while their runs begin, go on and are counted', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => someone()));
    const automation = await anAutomation(database.db, project.id, { goal: { ...bought, then: 'exit' }, steps: rest });
    const runs = await letIn(database.db, automation, all);
    const done = new AbortController();
    const counting = (async () => {
      while (!done.signal.aborted) await count();
    })();
    await Promise.all(
      runs.map(async ({ id, contactId }) => {
        await Promise.all([advance(deps, id, 0), paid(contactId, 5), paid(contactId)]);
        await advance(deps, id, null);
      }),
    );
    done.abort();
    await counting;
    expect(await figures(automation.id)).toMatchObject({ entered: 200, met: 200, open: 0, rate: 100 });
  });
});

describe('a goal by a condition', () => {
  const writes = (contactId: string, plan: string) =>
    writeContacts(database.db, project.id, [{ id: contactId, set: { plan } }], writingAs(database.db, 'contact'));

  test('excludes whoever meets it on entry, is asked before what cannot be taken back, and when its time is over', async () => {
    const [already, soon, late, never] = [
      await someone({ plan: 'team' }),
      await someone(),
      await someone(),
      await someone(),
    ];
    const steps: AutomationSpec['steps'] = { ...rest, set: ['UPDATE_CONTACT', { updates: { seen: 1 } }] };
    const { automation, runs } = await begin({ goal: onPlan, steps }, [already, soon, late, never]);
    expect(await figures(automation.id)).toMatchObject({ entered: 3, metOnEntry: 1, met: 0, open: 3 });
    await writes(soon, 'team');
    await database.db.count(`update automation_step_runs set scheduled_for = now()`);
    await advance(deps, runs[1] ?? '', null);
    expect(await figures(automation.id)).toMatchObject({ entered: 3, met: 1, open: 2 });
    await writes(late, 'team');
    expect(await figures(automation.id)).toMatchObject({ met: 1 });
    await later(15);
    expect(await figures(automation.id)).toMatchObject({ entered: 3, metOnEntry: 1, met: 2, open: 0 });
  });

  test('that ends runs does so before the next mail; one that cannot be asked any more counts nobody, and fails no run', async () => {
    const contact = await someone({ plan: 'team' });
    const steps: AutomationSpec['steps'] = {
      mail: ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }],
    };
    const ending = await begin({ goal: { ...onPlan, then: 'exit' }, steps }, [contact]);
    expect(await runOf(database.db, ending.automation.id)).toMatchObject({
      status: 'EXITED',
      reason: 'reached the goal',
    });
    expect(await figures(ending.automation.id)).toMatchObject({
      entered: 0,
      metOnEntry: 1,
      rate: null,
      interval: null,
    });
    const odd = { field: 'trigger.plan', operator: 'equals', value: 'team' };
    const goal = { ...onPlan, on: { condition: { logic: 'AND', groups: [{ filters: [odd] }] } } };
    const other = await begin({ goal, steps }, [contact]);
    expect(await runOf(database.db, other.automation.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await figures(other.automation.id)).toMatchObject({ goal: null, entered: 0 });
  });
});

test('the figures are there by version and by branch, and stay when runs and contacts are removed', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => someone()));
  const split = {
    branches: [
      { id: 'a', percent: 50 },
      { id: 'b', percent: 50 },
    ],
    holdout: 'b',
  };
  const { automation } = await begin({ goal: bought, steps: { split: ['SPLIT', split] } }, all);
  const branchOf = (contactId: string) =>
    decideSplit(
      { id: automation.steps.split ?? '', type: 'SPLIT', name: '', config: split, templateId: null },
      contactId,
    ).branch;
  const inA = all.filter((id) => branchOf(id) === 'a');
  await paid(inA[0] ?? '');
  await database.db.count(
    `update automation_steps set config = jsonb_set(config, '{goal,withinDays}', '7') where automation_id = $1 and type = 'TRIGGER'`,
    [automation.id],
  );
  await database.db.count('update automations set graph_dirty = true where id = $1', [automation.id]);
  await letIn(database.db, automation, [await someone()]);
  const seen = [await figures(automation.id, 'branch'), await figures(automation.id, 'version')];
  const [byBranch, byVersion] = seen;
  expect(byBranch).toMatchObject({ entered: 21, met: 1 });
  expect(byBranch?.groups).toMatchObject([
    { stepId: automation.steps.split, branch: 'a', version: null, entered: inA.length, met: 1 },
    { stepId: automation.steps.split, branch: 'b', entered: 20 - inA.length, met: 0 },
  ]);
  expect(byVersion?.groups).toMatchObject([
    { version: 2, branch: null, entered: 1, met: 0, goal: { withinDays: 7 } },
    { version: 1, branch: null, entered: 20, met: 1, goal: { withinDays: 14 } },
  ]);
  await database.db.count('delete from contacts where id = any ($1::uuid[])', [all.slice(0, 10)]);
  await database.db.count('delete from automation_runs where automation_id = $1', [automation.id]);
  expect(await database.db.count('select from automation_goals where contact_id is not null')).toBe(0);
  const after = [await figures(automation.id, 'branch'), await figures(automation.id, 'version')];
  const closed = (found: (typeof seen)[number]) => [
    found.entered,
    found.met,
    found.rate,
    found.groups.map(({ entered, met }) => [entered, met]),
  ];
  expect(after.map(closed)).toEqual(seen.map(closed));
});

test('an explanation says whether the contact has reached the goal, had met it before, or still has time', async () => {
  const [met, open, before] = [await someone(), await someone(), await someone({ plan: 'team' })];
  const { automation } = await begin({ goal: bought, steps: {} }, [met, open]);
  const other = await begin({ goal: onPlan, steps: {} }, [before]);
  await paid(met);
  await count();
  const goalOf = async (id: string, contactId: string) => {
    const facts = await contactFacts(database.db, project.id, contactId);
    if (facts === null) throw new Error('no contact');
    const { decisions } = await explainWorkflow(database.db, project.id, facts, id, facts.readAt);
    return decisions.find(({ check }) => check === 'workflow.goal');
  };
  expect(await goalOf(automation.id, met)).toMatchObject({
    outcome: 'pass',
    basis: 'recorded',
    sentence: expect.stringMatching(/^The contact reached the goal of the workflow on .* UTC\.$/),
  });
  expect(await goalOf(automation.id, open)).toMatchObject({
    outcome: 'info',
    sentence: expect.stringMatching(
      /^The contact has not reached the goal of the workflow, which counts until .* UTC\.$/,
    ),
  });
  expect((await goalOf(other.automation.id, before))?.sentence).toContain('met the goal already when it entered');
  await later(15);
  await count();
  expect((await goalOf(automation.id, open))?.sentence).toContain('did not reach the goal');
});

test('retention keeps a run while its goal is open', async () => {
  const [contact, met] = [await someone(), await someone()];
  const { automation } = await begin({ goal: bought, steps: {} }, [contact, met]);
  await paid(met);
  await count();
  await database.db.count(
    `update automation_runs set completed_at = now() - interval '10 days', updated_at = now() - interval '10 days'`,
  );
  const last = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
  await database.db.count('delete from retention_cursors');
  const remove = () => database.db.row(`select * from remove_old_runs(now() - interval '1 day', $1, $1, 1000)`, [last]);
  expect(await remove()).toMatchObject({ removed: 1 });
  const left = await database.db.rows(`select contact_id as id from automation_runs where automation_id = $1`, [
    automation.id,
  ]);
  expect(left).toEqual([{ id: contact }]);
  await database.db.count(`delete from retention_cursors`);
  await later(15);
  await count();
  expect(await remove()).toMatchObject({ removed: 1 });
  expect(await figures(automation.id)).toMatchObject({ entered: 2, met: 1, open: 0 });
});

test('an event reads goals by an index alone, those of its contact, and none where no goal listens', async () => {
  const contact = await someone();
  const { automation, runs } = await begin({ goal: bought, steps: {} }, [contact]);
  await database.db.count(
    `insert into automation_goals (run_id, version_id, contact_id, entered_at, until, check_at)
     select gen_random_uuid(), g.version_id, gen_random_uuid(), now(), now() + interval '14 days', now() + interval '14 days'
     from automation_goals g, generate_series(1, 50000) where g.run_id = $1`,
    [runs[0]],
  );
  await database.db.count('analyze automation_goals');
  const read = async (name: string) => {
    const asked = recordingEvents({
      events: [{ projectId: project.id, contactId: contact, name, data: { total: 6 } }],
    });
    return database.db.transaction(async (tx) => {
      const stats = () =>
        tx.row<{ seq: number; idx: number }>(
          `select pg_stat_get_xact_numscans('automation_goals'::regclass)::int as seq,
             (select sum(pg_stat_get_xact_tuples_fetched(c.oid) + pg_stat_get_xact_tuples_returned(c.oid))::int
              from pg_class c join pg_index i on i.indexrelid = c.oid where i.indrelid = 'automation_goals'::regclass) as idx`,
        );
      const before = await stats();
      await tx.count(asked);
      const after = await stats();
      return { seq: (after?.seq ?? 0) - (before?.seq ?? 0), idx: (after?.idx ?? 0) - (before?.idx ?? 0) };
    });
  };
  expect(await read('order.sent')).toEqual({ seq: 0, idx: 0 });
  const { seq, idx } = await read('order.paid');
  expect(seq).toBe(0);
  expect(idx).toBeLessThan(10);
  expect(await figures(automation.id)).toMatchObject({ met: 1 });
});
