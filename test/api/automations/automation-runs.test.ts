import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuns } from '../../../src/automations/enrollment/starting.ts';
import { createEnroller } from '../../../src/automations/runtime/enrol.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { audience } from '../../support/audience.ts';
import { anAutomation, anEvent } from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const metricsToken = 'a-token-for-the-metrics-of-this-test';
let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let other: AutomationHand;
const people = audience().map(({ email }) => email);
let used = 0;

beforeAll(async () => {
  database = await testDatabase();
  // Nothing is started here: what the outbox holds is part of what is looked at.
  api = await testApi(database, {
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    WORKFLOW_STARTS_PER_CONTACT_PER_HOUR: '3',
    METRICS_TOKEN: metricsToken,
  });
  project = await aProject(database);
  own = automationHand(api, project);
  other = automationHand(api, await aProject(database, 'Umbrella'));
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const delay = { amount: 2, unit: 'days' };
const person = () => own.contact(people[used++] ?? '', { plan: 'pro' });
const start = (id: string, body: unknown) => own.call('POST', `/workflows/${id}/executions`, body);
const outbox = (workflowId: string) =>
  database.db.rows<{ kind: string; payload: Record<string, unknown> }>(
    'select kind, payload from outbox where workflow_id = $1 order by id',
    [workflowId],
  );

async function enabled(body: Record<string, unknown> = {}) {
  const made = await own.automation(body);
  const wait = await own.step(made.id, 'DELAY', delay, { name: 'Wait 2 days' });
  const exit = await own.step(made.id, 'EXIT', {}, { name: 'Done' });
  await own.enable(made.id);
  return { ...made, wait, exit };
}

/** Lets a run stand at a step, as its interpreter would. */
async function standAt(executionId: string, stepId: string, status = 'WAITING') {
  await database.db.count('update automation_runs set current_step_id = $2, status = $3, seq = 2 where id = $1', [
    executionId,
    stepId,
    status,
  ]);
  await database.db.count(
    `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, scheduled_for)
     select $3, id, project_id, contact_id, $2, 1, 'DELAY', 'Wait', 'SCHEDULED', now() + interval '2 days'
     from automation_runs where id = $1`,
    [executionId, stepId, randomUUID()],
  );
}

describe('starting by hand', () => {
  test('makes the run, its entry and the start of its execution in one transaction', async () => {
    const { id, trigger } = await enabled({ name: 'Welcome' });
    const contactId = await person();
    const answer = await start(id, { contactId, context: { total: 5, nested: { a: [1] } } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      workflowId: id,
      contactId,
      status: 'RUNNING',
      currentStepId: trigger,
      exitReason: null,
      context: { total: 5, nested: { a: [1] } },
      startedAt: expect.stringMatching(/Z$/),
      completedAt: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const [row] = await outbox(`automation/${id}/${contactId}/1`);
    expect(row).toMatchObject({
      kind: 'start',
      payload: {
        workflow: 'automation',
        input: { executionId: answer.body.id },
        memo: { automation: 'Welcome', project: 'Acme', entry: 1, version: 1 },
        searchAttributes: {
          ProjectId: project.id,
          AutomationId: id,
          ContactId: contactId,
          ExecutionId: answer.body.id,
        },
      },
    });
  });

  test('is checked in the order of the contract', async () => {
    const disabled = await own.automation();
    const { id } = await enabled();
    const contactId = await person();
    const stranger = await other.contact(people[0] ?? '');
    expect((await start(randomUUID(), { context: 5 })).body).toEqual({ error: '"contactId" is required' });
    expect((await start(randomUUID(), { contactId, context: 5 })).body.error.code).toBe('WORKFLOW_NOT_FOUND');
    for (const context of [5, 'x', [1]]) {
      const answer = await start(disabled.id, { contactId, context });
      expect([answer.status, answer.body.error.errors?.[0].field]).toEqual([422, 'context']);
    }
    const large = await start(id, { contactId, context: { x: 'x'.repeat(70_000) } });
    expect([large.status, large.body.error.errors?.[0].code]).toEqual([422, 'too_big']);
    expect((await start(disabled.id, { contactId: randomUUID() })).status).toBe(400);
    for (const unknown of [randomUUID(), stranger, 'nonsense']) {
      const answer = await start(id, { contactId: unknown });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
    }
    expect((await start(id, { contactId })).status).toBe(201);
    const again = await start(id, { contactId });
    expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  test('without re-entry any earlier execution blocks, whatever became of it', async () => {
    const { id } = await enabled();
    const contactId = await person();
    const { body } = await start(id, { contactId });
    for (const status of ['CANCELLED', 'FAILED', 'COMPLETED', 'EXITED']) {
      await database.db.count('update automation_runs set status = $2 where id = $1', [body.id, status]);
      expect((await start(id, { contactId })).status).toBe(409);
    }
    await database.db.count('delete from automation_runs where id = $1', [body.id]);
    expect((await start(id, { contactId })).status).toBe(409);
  });

  test('with re-entry only an active execution blocks, and entries are counted', async () => {
    const { id } = await enabled({ allowReentry: true });
    const contactId = await person();
    const first = await start(id, { contactId });
    for (const status of ['RUNNING', 'WAITING']) {
      await database.db.count('update automation_runs set status = $2 where id = $1', [first.body.id, status]);
      expect((await start(id, { contactId })).status).toBe(409);
    }
    await database.db.count(`update automation_runs set status = 'COMPLETED' where id = $1`, [first.body.id]);
    expect((await start(id, { contactId })).status).toBe(201);
    expect(await outbox(`automation/${id}/${contactId}/2`)).toHaveLength(1);
  });

  test('of ten starts at once one is made, with and without re-entry', async () => {
    for (const allowReentry of [false, true]) {
      const { id } = await enabled({ allowReentry });
      const contactId = await person();
      const answers = await Promise.all(Array.from({ length: 10 }, () => start(id, { contactId })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    }
  });

  test('a fourth start within an hour is refused where three are allowed, and counted', async () => {
    const { id } = await enabled({ allowReentry: true });
    const contactId = await person();
    for (let entry = 1; entry <= 3; entry++) {
      const { status, body } = await start(id, { contactId });
      expect(status).toBe(201);
      await database.db.count(`update automation_runs set status = 'COMPLETED' where id = $1`, [body.id]);
    }
    const refused = await start(id, { contactId });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect((await api.call(metricsToken, 'GET', '/metrics')).body).toContain(
      'fernpost_automation_starts_refused_total 1',
    );
    await database.db.count(
      `update automation_runs set started_at = now() - interval '61 minutes' where automation_id = $1 and entry = 1`,
      [id],
    );
    expect((await start(id, { contactId })).status).toBe(201);
  });
});

describe('starting many at once', () => {
  const begin = (id: string, wishes: Parameters<typeof startRuns>[3], limit = 50) =>
    database.db.transaction((sql) => startRuns(sql, project.id, id, wishes, limit));

  test('each wish is told what became of it, and every started run has its execution', async () => {
    const { id } = await enabled();
    const [one, two, three] = [await person(), await person(), await person()];
    await start(id, { contactId: three });
    const event = randomUUID();
    const stranger = await other.contact(people[1] ?? '');
    const wish = (contactId: string, sourceEventId: string | null = randomUUID()) => ({
      contactId,
      context: null,
      sourceEventId,
    });
    const made = await begin(id, [
      wish(one, event),
      wish(two),
      wish(one),
      wish(three),
      wish(stranger),
      wish(randomUUID()),
    ]);
    expect(made.outcomes.map(({ outcome }) => outcome)).toEqual([
      'started',
      'started',
      'reentry',
      'reentry',
      'gone',
      'gone',
    ]);
    expect(made.starts.map(({ id: execution }) => execution)).toEqual([
      `automation/${id}/${one}/1`,
      `automation/${id}/${two}/1`,
    ]);
    expect((await begin(id, [wish(one, event)])).outcomes).toMatchObject([{ outcome: 'repeated' }]);
  });

  test('one event starts one execution, however often and wherever it is dispatched', async () => {
    const { id } = await enabled({ allowReentry: true });
    const contactId = await person();
    const event = { contactId, context: null, sourceEventId: randomUUID() };
    const made = await Promise.all(Array.from({ length: 8 }, () => begin(id, [event])));
    expect(made.flatMap(({ outcomes }) => outcomes.map(({ outcome }) => outcome)).sort()).toEqual([
      ...Array(7).fill('repeated'),
      'started',
    ]);
  });

  test('contacts that are deleted meanwhile leave no run behind', async () => {
    const { id } = await enabled();
    const contacts = [];
    for (let i = 0; i < 20; i++) contacts.push(await person());
    const wishes = contacts.map((contactId) => ({ contactId, context: null, sourceEventId: null }));
    const half = contacts.slice(10);
    await Promise.all([begin(id, wishes), database.db.count('delete from contacts where id = any($1)', [half])]);
    const runs = await database.db.rows<{ contact: string }>(
      'select contact_id as contact from automation_runs where automation_id = $1',
      [id],
    );
    expect(runs.map(({ contact }) => contact).sort()).toEqual(contacts.slice(0, 10).sort());
  });

  test('a burst into one automation lets the others have their turn', async () => {
    const of = (event: string) => anAutomation(database.db, project.id, { event, steps: { out: ['EXIT'] } });
    const automations = [await of('one'), await of('two')];
    const entered = async () =>
      Promise.all(
        automations.map(({ id }) => database.db.count('select from automation_runs where automation_id = $1', [id])),
      );
    const enrol = createEnroller({
      ...{ db: database.db, startsPerHour: 0, mostUnderWay: 1 },
      outbox: { dispatch: async (limit, take) => (await take(limit, 60_000)).length },
    });
    for (const event of ['one', 'two'])
      for (let n = 0; n < 3; n++) await anEvent(database.db, project.id, await person(), event);
    const seen = [];
    for (let pass = 0; pass < 4; pass++) {
      await enrol();
      seen.push(await entered());
      await database.db.count('update automation_runs set seq = 1 where project_id = $1', [project.id]);
    }
    expect(seen.map((counts) => counts.toSorted())).toEqual([
      [0, 1],
      [1, 1],
      [1, 2],
      [2, 2],
    ]);
  });

  test('a disabled automation lets nobody in', async () => {
    const { id } = await own.automation();
    const wishes = [{ contactId: await person(), context: null, sourceEventId: null }];
    expect((await begin(id, wishes)).outcomes).toEqual([{ outcome: 'gone', run: null }]);
  });
});

describe('versions', () => {
  const versionOf = async (id: string) => {
    const { body } = await start(id, { contactId: await person() });
    return (await own.done('GET', `/workflows/${id}/executions/${body.id}`)).version;
  };

  test('an edit makes a new version for those who enter later; a graph that comes back has its old one', async () => {
    const { id, wait } = await enabled();
    const edit = (body: object) => own.done('PATCH', `/workflows/${id}`, body);
    expect([await versionOf(id), await versionOf(id)]).toEqual([1, 1]);
    await edit({ enabled: false });
    const path = `/workflows/${id}/steps/${wait}`;
    await own.done('PATCH', path, { position: { x: 9, y: 9 } });
    await edit({ enabled: true });
    expect(await versionOf(id)).toBe(1);
    await edit({ enabled: false });
    await own.done('PATCH', path, { config: { amount: 3, unit: 'days' } });
    await edit({ enabled: true });
    expect(await versionOf(id)).toBe(2);
    await edit({ enabled: false });
    await own.done('PATCH', path, { config: { unit: 'days', amount: 2 } });
    await edit({ enabled: true });
    expect(await versionOf(id)).toBe(1);
  });

  test('starts at the same moment after an edit share one new version', async () => {
    const { id } = await enabled();
    await own.step(id, 'EXIT', {}, { autoConnect: false });
    const contacts = [];
    for (let i = 0; i < 6; i++) contacts.push(await person());
    const answers = await Promise.all(contacts.map((contactId) => start(id, { contactId })));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const rows = await database.db.rows('select version from automation_versions where automation_id = $1', [id]);
    expect(rows).toEqual([{ version: 1 }]);
  });
});

describe('executions', () => {
  test('are listed newest first, filtered by status and contact, each with its contact and step', async () => {
    const { id, wait } = await enabled();
    const [one, two] = [await person(), await person()];
    const first = (await start(id, { contactId: one })).body;
    const second = (await start(id, { contactId: two })).body;
    await standAt(first.id, wait);
    await database.db.count(`update automation_runs set status = 'COMPLETED', current_step_id = null where id = $1`, [
      second.id,
    ]);
    const list = (query: string) => own.done('GET', `/workflows/${id}/executions${query}`);
    const all = await list('');
    expect(all).toMatchObject({ total: 2, page: 1, pageSize: 20, totalPages: 1 });
    expect(all.data).toEqual(all.executions);
    expect(all.executions).toMatchObject([
      { id: second.id, status: 'COMPLETED', currentStep: null, contact: { id: two } },
      {
        id: first.id,
        status: 'WAITING',
        currentStep: { id: wait, name: 'Wait 2 days', type: 'DELAY' },
        contact: { id: one, email: expect.stringContaining('@') },
      },
    ]);
    const ids = async (query: string) => (await list(query)).data.map((run: { id: string }) => run.id);
    expect(await ids('?status=WAITING')).toEqual([first.id]);
    expect(await ids('?status=COMPLETED')).toEqual([second.id]);
    expect(await ids('?status=FAILED')).toEqual([]);
    expect(await ids(`?contactId=${one}`)).toEqual([first.id]);
    expect(await ids('?pageSize=1&page=2')).toEqual([first.id]);
    expect((await own.call('GET', `/workflows/${id}/executions?status=ASLEEP`)).status).toBe(400);
    expect((await other.call('GET', `/workflows/${id}/executions`)).status).toBe(404);
  });

  test('are listed by the step they stand at, and since when; who has left it is not among them', async () => {
    const { id, wait, exit } = await enabled();
    const [inside, left] = [await person(), await person()];
    const standing = (await start(id, { contactId: inside })).body;
    const gone = (await start(id, { contactId: left })).body;
    await standAt(standing.id, wait);
    await standAt(gone.id, wait);
    await own.done('DELETE', `/workflows/${id}/executions/${gone.id}`);
    const at = (stepId: string) => own.done('GET', `/workflows/${id}/executions?stepId=${stepId}`);
    const there = await at(wait);
    expect(there).toMatchObject({
      total: 1,
      data: [{ id: standing.id, contact: { id: inside }, currentStep: { id: wait } }],
    });
    const story = await own.done('GET', `/workflows/${id}/executions/${standing.id}`);
    expect(there.data[0].currentStepSince).toBe(story.waitingSince);
    expect((await at(exit)).data).toEqual([]);
    expect((await own.call('GET', `/workflows/${id}/executions?stepId=wait`)).status).toBe(400);
    expect((await other.call('GET', `/workflows/${id}/executions?stepId=${wait}`)).status).toBe(404);
  });

  test('are found by text in the address of their contact, or by words of its address and name', async () => {
    const { id } = await enabled();
    const run = async (email: string, data: Record<string, string>) =>
      (await start(id, { contactId: await own.contact(email, data) })).body.id;
    const tomke = await run('t.rieken@found.test', { firstName: 'Tomke', lastName: 'Rieken', plan: 'Wiard' });
    const wiard = await run('wiard_x@found.test', { full_name: 'Wiard 50%' });
    await own.contact('tomke.elsewhere@found.test', { firstName: 'Tomke' });
    const found = async (search: string, more = '') => {
      const query = `search=${encodeURIComponent(search)}${more}`;
      const { data, total } = await own.done('GET', `/workflows/${id}/executions?${query}`);
      expect(total, search).toBe(data.length);
      return data.map((run: { id: string }) => run.id);
    };
    expect(await found(' ')).toEqual([wiard, tomke]);
    expect(await found('FOUND.test')).toEqual([wiard, tomke]);
    expect(await found('rieken  TOM')).toEqual([tomke]);
    expect(await found('tomke found.test')).toEqual([tomke]);
    // Other fields are no names, and signs of a pattern mean themselves.
    expect(await found('wiard')).toEqual([wiard]);
    expect(await found('%')).toEqual([wiard]);
    expect(await found('_x')).toEqual([wiard]);
    expect(await found('t.r')).toEqual([tomke]);
    expect(await found('tomke wiard')).toEqual([]);
    expect(await found("'\0\\")).toEqual([]);
    expect(await found('tomke', '&status=COMPLETED')).toEqual([]);
    // Names are searched in the newest executions, addresses in all.
    await database.db.count(
      `insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status, started_at)
       select uuidv7(), project_id, automation_id, version_id, contact_id, n, 'COMPLETED', started_at + interval '1 second'
       from automation_runs, generate_series(2, 10000) n where id = $1`,
      [wiard],
    );
    expect(await found('rieken')).toEqual([tomke]);
    expect(await found('rieken tomke')).toEqual([]);
    // Of addresses those that an index answers, and that no crowd has.
    expect(await found('t.r')).toEqual([]);
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), project_id, n || '.rieken@found.test', true from automation_runs, generate_series(1, 1000) n where id = $1`,
      [tomke],
    );
    expect(await found('rieken')).toEqual([]);
    expect(await found('t.rieken')).toEqual([tomke]);
    expect((await other.call('GET', `/workflows/${id}/executions?search=tomke`)).status).toBe(404);
  });

  test('tell their whole story', async () => {
    const { id, wait } = await enabled({ name: 'Welcome' });
    const contactId = await person();
    const run = (await start(id, { contactId })).body;
    await standAt(run.id, wait);
    const story = await own.done('GET', `/workflows/${id}/executions/${run.id}`);
    expect(story).toMatchObject({
      id: run.id,
      workflow: { id, name: 'Welcome' },
      contact: { id: contactId },
      currentStep: { id: wait, type: 'DELAY', config: delay },
      waitingFor: 'timer',
      waitingUntil: expect.stringMatching(/Z$/),
      waitingSince: expect.stringMatching(/Z$/),
      version: 1,
      nextVersion: null,
      temporal: {
        workflowId: `automation/${id}/${contactId}/1`,
        url: `http://localhost:8233/namespaces/default/workflows/automation%2F${id}%2F${contactId}%2F1`,
      },
      stepExecutions: [
        {
          executionId: run.id,
          stepId: wait,
          status: 'SCHEDULED',
          step: { id: wait, name: 'Wait 2 days', type: 'DELAY' },
          completedAt: null,
          error: null,
          durationMs: expect.any(Number),
        },
      ],
    });
    expect((await own.call('GET', `/workflows/${id}/executions/${randomUUID()}`)).body.error.code).toBe(
      'RESOURCE_NOT_FOUND',
    );
    expect((await other.call('GET', `/workflows/${id}/executions/${run.id}`)).status).toBe(404);
    const elsewhere = await own.automation();
    expect((await own.call('GET', `/workflows/${elsewhere.id}/executions/${run.id}`)).status).toBe(404);
  });

  test('keep the names of steps that were deleted', async () => {
    const { id, wait } = await enabled();
    const run = (await start(id, { contactId: await person() })).body;
    await standAt(run.id, wait);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    await own.done('DELETE', `/workflows/${id}/steps/${wait}`);
    const story = await own.done('GET', `/workflows/${id}/executions/${run.id}`);
    expect(story.currentStep).toMatchObject({ id: wait, name: 'Wait 2 days', type: 'DELAY' });
    expect(story.stepExecutions[0].step.name).toBe('Wait');
    expect((await own.done('GET', `/workflows/${id}/executions`)).data[0].currentStep.name).toBe('Wait 2 days');
  });

  test('are cancelled once; what is over stays as it is', async () => {
    const { id, wait } = await enabled();
    const contactId = await person();
    const run = (await start(id, { contactId })).body;
    await standAt(run.id, wait);
    const path = `/workflows/${id}/executions/${run.id}`;
    const cancelled = await own.done('DELETE', path);
    expect(cancelled).toMatchObject({
      status: 'CANCELLED',
      exitReason: 'Cancelled by user',
      currentStepId: wait,
      completedAt: expect.any(String),
    });
    expect(await own.done('DELETE', path)).toEqual(cancelled);
    const story = await own.done('GET', path);
    expect([story.stepExecutions[0].status, story.waitingFor]).toEqual(['SKIPPED', null]);
    expect((await outbox(`automation/${id}/${contactId}/1`)).map(({ kind }) => kind)).toEqual(['start', 'cancel']);
    await database.db.count(`update automation_runs set status = 'EXITED', exit_reason = 'won' where id = $1`, [
      run.id,
    ]);
    expect(await own.done('DELETE', path)).toMatchObject({ status: 'EXITED', exitReason: 'won' });
  });

  test('are all cancelled by one request, which does not disable the workflow', async () => {
    const { id } = await enabled();
    const runs = [];
    for (let i = 0; i < 5; i++) runs.push((await start(id, { contactId: await person() })).body.id);
    await database.db.count(`update automation_runs set status = 'COMPLETED' where id = $1`, [runs[0]]);
    const path = `/workflows/${id}/executions/cancel-all`;
    expect(await own.done('POST', path)).toEqual({ cancelled: 4 });
    expect(await own.done('POST', path)).toEqual({ cancelled: 0 });
    const { data } = await own.done('GET', `/workflows/${id}/executions?status=CANCELLED`);
    expect(data.map((run: { exitReason: string }) => run.exitReason)).toEqual(
      Array(4).fill('Cancelled by user (bulk cancel)'),
    );
    const asked = await database.db.rows(`select from outbox where kind = 'cancel' and workflow_id like $1`, [
      `automation/${id}/%`,
    ]);
    expect(asked).toHaveLength(4);
    expect((await own.done('GET', `/workflows/${id}`)).enabled).toBe(true);
  });

  test('a step that begins while a cancellation waits for its run does not stay open', async () => {
    const { id, wait } = await enabled();
    const run = (await start(id, { contactId: await person() })).body;
    const locked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    // As its execution moves it on: the run is locked, and its next step is written before the commit.
    const moving = database.db.transaction(async (sql) => {
      await sql.rows('select from automation_runs where id = $1 for update', [run.id]);
      locked.resolve();
      await goOn.promise;
      await sql.count(
        `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status)
         select $2, id, project_id, contact_id, $3, 1, 'DELAY', 'Wait', 'SCHEDULED' from automation_runs where id = $1`,
        [run.id, randomUUID(), wait],
      );
    });
    await locked.promise;
    const cancelling = own.done('POST', `/workflows/${id}/executions/cancel-all`);
    await expect
      .poll(() =>
        database.db.rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      )
      .toHaveLength(1);
    goOn.resolve();
    await moving;
    expect(await cancelling).toEqual({ cancelled: 1 });
    const story = await own.done('GET', `/workflows/${id}/executions/${run.id}`);
    expect(story.stepExecutions.map(({ status }: { status: string }) => status)).toEqual(['SKIPPED']);
  });

  test('are counted by the step they stand at and the branches that were taken', async () => {
    const { id, trigger, wait, exit } = await enabled();
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push((await start(id, { contactId: await person() })).body.id);
    await standAt(runs[0], wait);
    await standAt(runs[1], wait, 'RUNNING');
    await database.db.count(
      `update automation_step_runs set status = 'COMPLETED', output = '{"branch": "yes"}' where run_id = $1`,
      [runs[1]],
    );
    const nobody = { reached: 0, dropped: 0, invalidZones: 0, branches: [] };
    expect(await own.done('GET', `/workflows/${id}/people`)).toEqual({
      active: 3,
      arriving: 0,
      invalidDates: 0,
      steps: [
        { stepId: trigger, name: 'Trigger: user.signup', type: 'TRIGGER', running: 1, waiting: 0, ...nobody },
        {
          stepId: wait,
          name: 'Wait 2 days',
          type: 'DELAY',
          running: 1,
          waiting: 1,
          reached: 2,
          dropped: 0,
          invalidZones: 0,
          branches: [{ branch: 'yes', count: 1 }],
        },
        { stepId: exit, name: 'Done', type: 'EXIT', running: 0, waiting: 0, ...nobody },
      ],
    });
    expect((await other.call('GET', `/workflows/${id}/people`)).status).toBe(404);
  });
});

describe('while executions are active', () => {
  test('trigger, config and template cannot change while enabled; names and positions can; disabling lifts it', async () => {
    const { id, wait } = await enabled();
    await start(id, { contactId: await person() });
    const step = `/workflows/${id}/steps/${wait}`;
    for (const body of [
      { triggerConfig: { eventName: 'user.signup' } },
      { triggerType: 'EVENT' },
      { triggerType: 'EVENT', enabled: false },
    ])
      expect((await own.call('PATCH', `/workflows/${id}`, body)).status).toBe(409);
    for (const body of [{ config: delay }, { templateId: null }])
      expect((await own.call('PATCH', step, body)).status).toBe(409);
    await own.done('PATCH', step, { name: 'Longer', position: { x: 0, y: 0 } });
    await own.step(id, 'EXIT', {}, { autoConnect: false });
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    await own.done('PATCH', step, { config: { amount: 5, unit: 'days' } });
    await own.done('PATCH', `/workflows/${id}`, { triggerConfig: { eventName: 'other' } });
  });

  test('steps on which somebody stands, and ways to them, cannot be deleted', async () => {
    const { id, trigger, wait, exit } = await enabled();
    const run = (await start(id, { contactId: await person() })).body;
    await standAt(run.id, exit);
    const refused = async (path: string) => (await own.call('DELETE', `/workflows/${id}${path}`)).status;
    const { transitions } = await own.done('GET', `/workflows/${id}`);
    const first = transitions.find((way: { fromStepId: string }) => way.fromStepId === trigger).id;
    expect(await refused(`/steps/${wait}`)).toBe(409);
    expect(await refused(`/steps/${exit}?splice=true`)).toBe(409);
    expect(await refused(`/transitions/${first}`)).toBe(409);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    expect(await refused(`/steps/${exit}?splice=true`)).toBe(409);
    expect(await refused(`/steps/${wait}?splice=true`)).toBe(204);
    expect(await refused(`/steps/${exit}`)).toBe(204);
  });

  test('the workflow cannot be deleted, enabled or not; afterwards it goes with its executions', async () => {
    const { id } = await enabled();
    const run = (await start(id, { contactId: await person() })).body;
    expect((await own.call('DELETE', `/workflows/${id}`)).status).toBe(409);
    expect((await own.call('POST', '/workflows/bulk-update', { ids: [id], delete: true })).status).toBe(409);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    expect((await own.call('DELETE', `/workflows/${id}`)).status).toBe(409);
    await own.done('POST', `/workflows/${id}/executions/cancel-all`);
    expect((await own.call('DELETE', `/workflows/${id}`)).status).toBe(204);
    expect(await database.db.rows('select from automation_runs where id = $1', [run.id])).toEqual([]);
  });

  test('a template that only a pinned graph uses cannot be deleted', async () => {
    const { id } = await own.automation();
    const template = await own.template();
    const mail = await own.step(id, 'SEND_EMAIL', { templateId: template });
    await own.enable(id);
    await start(id, { contactId: await person() });
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    await own.done('DELETE', `/workflows/${id}/steps/${mail}`);
    const refused = await own.call('DELETE', `/templates/${template}`);
    expect([refused.status, refused.body.error.details]).toEqual([409, { steps: 1 }]);
    await own.done('POST', `/workflows/${id}/executions/cancel-all`);
    expect((await own.call('DELETE', `/templates/${template}`)).status).toBe(204);
  });

  test('a deleted contact takes its executions along', async () => {
    const { id } = await enabled();
    const contactId = await person();
    const run = (await start(id, { contactId })).body;
    await own.done('DELETE', `/contacts/${contactId}`);
    expect((await own.call('GET', `/workflows/${id}/executions/${run.id}`)).status).toBe(404);
    expect((await outbox(`automation/${id}/${contactId}/1`)).map(({ kind }) => kind)).toEqual(['start', 'cancel']);
  });
});
