// biome-ignore-all lint/suspicious/noThenProperty: the field of the contract.
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TellMembers } from '../../../src/accounts/system-mail/service.ts';
import { enrolAudience } from '../../../src/automations/enrollment/audience.ts';
import { createDateSweep } from '../../../src/automations/enrollment/dates.ts';
import { enrollSome } from '../../../src/automations/enrollment/past.ts';
import { checkRollouts } from '../../../src/automations/publishing/rollout.ts';
import { removeUnusedVersions } from '../../../src/automations/versions.ts';
import { changeContacts } from '../../../src/imports/bulk.ts';
import { newId } from '../../../src/lib/ids.ts';
import { sendSystemMail } from '../../../src/mail/system-mail.ts';
import { recordingEvents } from '../../../src/store/record-events.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { enrolPending, letIn, type TestAutomation } from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, joins } from '../../support/people.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers; the assertions are the check.
type Json = any;

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** A workflow of a new project that waits a month, enabled; its graph as it is published, and one that waits two months. */
async function aWorkflow(people = 0) {
  project = await aProject(database);
  own = automationHand(api, project);
  await contacts(database.db, project.id, people);
  const { id, trigger } = await own.automation();
  const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' });
  await own.step(id, 'EXIT', { reason: 'done' });
  await own.enable(id);
  const rows = await database.db.rows<{ id: string }>(
    sql`select id from contacts where project_id = ${project.id} order by id`,
  );
  const target: TestAutomation = { id, projectId: project.id, steps: { trigger, wait } };
  return { id, target, wait, people: rows.map((row) => row.id), old: await graphOf(id), next: await changed(id) };
}

async function graphOf(id: string): Promise<Json> {
  const { steps, transitions } = await own.done('GET', `/workflows/${id}`);
  return {
    steps: steps.map(({ id: step, type, name, position, config, templateId, note }: Json) => {
      return { id: step, type, name, position, config, templateId, note };
    }),
    transitions: transitions.map(({ fromStepId, toStepId }: Json) => ({ fromStepId, toStepId })),
  };
}

/** The graph with another wait, one step less and one more. */
async function changed(id: string): Promise<Json> {
  const { steps } = await graphOf(id);
  const [trigger, wait] = steps;
  return {
    steps: [
      trigger,
      { ...wait, config: { amount: 60, unit: 'days' } },
      { id: 'bye', type: 'EXIT', name: 'Bye', position: { x: 5, y: 5 }, config: { reason: 'new' } },
    ],
    transitions: [
      { fromStepId: trigger.id, toStepId: wait.id },
      { fromStepId: wait.id, toStepId: 'bye' },
    ],
  };
}

const rolledOut = (id: string, graph: Json, rollout: Json = { percent: 10 }) =>
  own.done('PUT', `/workflows/${id}/graph`, { ...graph, rollout });

/** Who is pinned to which version. */
async function versionsOf(id: string): Promise<Map<string, number>> {
  const rows = await database.db.rows<{ contact: string; version: number }>(sql`
    select r.contact_id as contact, v.version from automation_runs r join automation_versions v on v.id = r.version_id
    where r.automation_id = ${id}`);
  return new Map(rows.map(({ contact, version }) => [contact, version]));
}

// Worked out apart from the code.
function isBelow(rollout: string, contact: string, percent: number): boolean {
  const hash = createHash('sha256').update(`rollout ${rollout}\n${contact}`).digest('hex');
  return Math.floor((Number.parseInt(hash.slice(0, 12), 16) / 2 ** 48) * 10_000) < percent * 100;
}

/** One pass of the bookkeeping of each minute; answers what members were told. */
async function checked(): Promise<Parameters<TellMembers>[1][]> {
  const told: Parameters<TellMembers>[1][] = [];
  const tell: TellMembers = async (_, mail) => {
    told.push(mail);
    return [];
  };
  await checkRollouts({ db: database.db, tell, dispatchSoon: () => undefined });
  return told.filter(({ projectId }) => projectId === project.id);
}

const isOver = (id: string) =>
  database.db.count(sql`
    update automation_rollouts set created_at = created_at - interval '90 days' where automation_id = ${id}`);
const actions = async () =>
  (
    await database.db.rows<{ action: string }>(sql`
    select action from audit_log where project_id = ${project.id} order by position`)
  ).map(({ action }) => action);
const report = (id: string) => own.done('GET', `/workflows/${id}/rollout`);

describe('a rollout', () => {
  test('gives the new version to exactly the contacts whose hash is below its share, who keep it when that rises', async () => {
    const { id, target, people, next } = await aWorkflow(1_000);
    const { workflow } = await rolledOut(id, next, { percent: 12.5 });
    const { rollout } = workflow;
    expect(rollout).toMatchObject({ state: 'RUNNING', percent: 12.5, version: 2, previousVersion: 1, days: 7 });
    expect(rollout).toMatchObject({ stopIf: { failureRate: 5, unsubscribeRate: 2 }, leastEntered: 50, endedAt: null });
    await letIn(database.db, target, people.slice(0, 500));
    const raised = await own.done('PATCH', `/workflows/${id}/rollout`, { percent: 60 });
    expect(raised).toMatchObject({ id: rollout.id, percent: 60, days: 7 });
    await letIn(database.db, target, people.slice(500));
    const expected = people.map((contact, n) => [contact, isBelow(rollout.id, contact, n < 500 ? 12.5 : 60) ? 2 : 1]);
    expect(await versionsOf(id)).toEqual(new Map(expected as [string, number][]));
    expect(people.filter((contact) => isBelow(rollout.id, contact, 12.5) && !isBelow(rollout.id, contact, 60))).toEqual(
      [],
    );
    const [newer, older] = (await report(id)).versions;
    const inNew = expected.filter(([, version]) => version === 2).length;
    expect(newer).toMatchObject({ version: 2, isNew: true, entered: inNew, active: inNew, failureRate: 0 });
    expect(older).toMatchObject({ version: 1, isNew: false, entered: 1_000 - inNew, active: 1_000 - inNew });
  });

  test('chooses for contacts who enter by events as for those of requests', async () => {
    const { id, people, next } = await aWorkflow(60);
    const { workflow } = await rolledOut(id, next, { percent: 50 });
    const events = people
      .slice(0, 30)
      .map((contactId) => ({ id: newId(), projectId: project.id, contactId, name: 'user.signup', data: null }));
    await database.db.count(recordingEvents({ events }));
    await enrolPending(database.db);
    for (const contactId of people.slice(30)) await own.done('POST', `/workflows/${id}/executions`, { contactId });
    const expected = people.map((contact): [string, number] => [
      contact,
      isBelow(workflow.rollout.id, contact, 50) ? 2 : 1,
    ]);
    expect(await versionsOf(id)).toEqual(new Map(expected));
    const { data } = await own.done('GET', `/workflows/${id}/versions`);
    expect(data.map(({ version, share }: Json) => [version, share])).toEqual([
      [2, 50],
      [1, 50],
    ]);
  });

  test('is for all by one call, and back by another, which brings the graph, its IDs and its version back', async () => {
    const { id, target, people, next, old } = await aWorkflow(3);
    const before = await own.done('GET', `/workflows/${id}`);
    await rolledOut(id, next, { percent: 0.01 });
    const back = await own.call('POST', `/workflows/${id}/rollout/back`);
    expect(back.status).toBe(200);
    expect(back.body.rollout).toMatchObject({ state: 'BACK', endedAt: expect.any(String) });
    expect(back.headers.get('etag')).toBe(`"${back.body.revision}"`);
    expect(await graphOf(id)).toEqual(old);
    const ids = ({ transitions }: Json) => transitions.map((way: Json) => way.id);
    expect(ids(back.body)).toEqual(ids(before));
    await letIn(database.db, target, people.slice(0, 1));
    expect([...(await versionsOf(id)).values()]).toEqual([1]);
    // An edit that changes nothing finds the version again, so the graph is the same to the letter.
    await own.done('PUT', `/workflows/${id}/graph`, old);
    await letIn(database.db, target, people.slice(1, 2));
    expect(new Set((await versionsOf(id)).values())).toEqual(new Set([1]));

    await rolledOut(id, next, { percent: 0.01 });
    const finished = await own.done('POST', `/workflows/${id}/rollout/finish`);
    expect(finished.rollout).toMatchObject({ state: 'FINISHED' });
    await letIn(database.db, target, people.slice(2));
    expect((await versionsOf(id)).get(people[2] ?? '')).toBe(finished.rollout.version);
    for (const call of ['finish', 'back'])
      expect((await own.call('POST', `/workflows/${id}/rollout/${call}`)).status).toBe(409);
    expect((await own.call('PATCH', `/workflows/${id}/rollout`, { percent: 5 })).status).toBe(409);
    expect(await actions()).toEqual(
      expect.arrayContaining(['workflow.published', 'workflow.rollout_taken_back', 'workflow.rollout_finished']),
    );
  });

  test('keeps the graph as it is: edits, triggers, migrations and a second one are refused until it is over', async () => {
    const { id, next, old, wait } = await aWorkflow();
    await rolledOut(id, next);
    const before = await own.done('GET', `/workflows/${id}`);
    for (const [method, path, body] of [
      ['PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Wait' }],
      ['POST', `/workflows/${id}/steps`, { type: 'EXIT', name: 'x', position: { x: 0, y: 0 }, config: {} }],
      ['PATCH', `/workflows/${id}`, { exits: null }],
      ['PATCH', `/workflows/${id}`, { goal: null }],
      ['PATCH', `/workflows/${id}`, { triggerConfig: { eventName: 'user.signup' } }],
      ['POST', `/workflows/${id}/migrate`, { dryRun: true }],
      ['PUT', `/workflows/${id}/graph`, { ...old, rollout: { percent: 5 } }],
      ['PUT', `/workflows/${id}/graph`, { ...old, rollout: { percent: 5 }, dryRun: true }],
    ] as const) {
      const { status, body: answer } = await own.call(method, path, body);
      expect([path, status, answer.error.code]).toEqual([path, 409, 'CONFLICT']);
    }
    expect(await own.done('GET', `/workflows/${id}`)).toEqual(before);
    expect((await own.call('PATCH', `/workflows/${id}`, { name: 'Renamed' })).status).toBe(200);
  });

  test('ends by a graph that is published for all, and refuses what cannot be one', async () => {
    const { id, next, old } = await aWorkflow();
    const put = (body: Json) => own.call('PUT', `/workflows/${id}/graph`, body);
    for (const [rollout, field] of [
      [{ percent: 0 }, 'rollout.percent'],
      [{ percent: 100 }, 'rollout.percent'],
      [{ percent: 1.005 }, 'rollout.percent'],
      [{ percent: 'x' }, 'rollout.percent'],
      [{ percent: 10, days: 0 }, 'rollout.days'],
      [{ percent: 10, days: 91 }, 'rollout.days'],
      [{ percent: 10, stopIf: { failureRate: 101 } }, 'rollout.stopIf.failureRate'],
      [{ percent: 10, stopIf: { unsubscribeRate: -1 } }, 'rollout.stopIf.unsubscribeRate'],
      [[], 'rollout.percent'],
    ] as const) {
      const refused = await put({ ...next, rollout });
      expect([refused.status, refused.body.error.errors?.[0].field]).toEqual([422, field]);
    }
    const same = await put({ ...old, rollout: { percent: 10 } });
    expect([same.status, same.body.error.errors[0].field]).toEqual([422, 'rollout']);
    const moving = await put({ ...next, rollout: { percent: 10 }, migrate: { plan: [] } });
    expect([moving.status, moving.body.error.errors[0].field]).toEqual([422, 'migrate']);
    expect((await own.call('GET', `/workflows/${id}/rollout`)).status).toBe(404);
    expect((await put({ ...next, rollout: { percent: 10 }, dryRun: true })).body).toMatchObject({ dryRun: true });
    expect((await own.done('GET', `/workflows/${id}`)).rollout).toBeNull();

    await rolledOut(id, next);
    const { workflow } = await own.done('PUT', `/workflows/${id}/graph`, old);
    expect(workflow.rollout).toMatchObject({ state: 'REPLACED' });
    expect((await own.call('PATCH', `/workflows/${id}/steps/${old.steps[1].id}`, { name: 'Wait' })).status).toBe(200);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    expect((await put({ ...next, rollout: { percent: 10 } })).status).toBe(409);
  });

  test('shows the goal of both versions with rate and interval, over those who entered meanwhile, and goes on when it has ended', async () => {
    const { id, target, people, next } = await aWorkflow(60);
    const goal = { on: { event: 'order.paid' }, withinDays: 14, then: 'count' };
    await own.done('PATCH', `/workflows/${id}`, { goal });
    await letIn(database.db, target, people.slice(0, 20));
    await rolledOut(id, next, { percent: 50 });
    await letIn(database.db, target, people.slice(20));
    const versions = await versionsOf(id);
    const later = people.slice(20);
    const met = async (version: number, count: number) => {
      const some = later.filter((person) => versions.get(person) === version).slice(0, count);
      await database.db.count(sql`
        update automation_goals set met_at = entered_at + interval '1 hour', check_at = null where contact_id = any (${some}::uuid[])`);
    };
    await met(2, 2);
    // Who entered before the rollout is not compared.
    await database.db.count(sql`
      update automation_goals set met_at = entered_at, check_at = null where contact_id = any (${people.slice(0, 20)}::uuid[])`);
    const sizes = Map.groupBy(later, (person) => versions.get(person));
    const [young, old] = [2, 1].map((version) => sizes.get(version)?.length ?? 0);
    const shown = await report(id);
    expect(shown.versions.map(({ version }: Json) => version)).toEqual([2, 1]);
    expect(shown.versions[0].goal).toMatchObject({ entered: young, met: 2, metOnEntry: 0, medianSeconds: 3600 });
    expect(shown.versions[0].goal.rate).toBeCloseTo(200 / (young ?? 0), 6);
    expect(shown.versions[0].goal.interval.low).toBeLessThan(shown.versions[0].goal.rate);
    expect(shown.versions[1].goal).toMatchObject({ entered: old, met: 0, rate: 0, open: old });

    await own.done('POST', `/workflows/${id}/rollout/back`);
    await met(1, 1);
    expect((await report(id)).versions.map((version: Json) => version.goal.met)).toEqual([2, 1]);
  });

  const everybody = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@' }] }],
  };
  const clock = () => new Date('2027-03-10T12:00:00Z');
  test.each([
    [
      'an enrollment of the past',
      {},
      async (id: string) => {
        const jobId = `bulk-enroll-${newId()}`;
        const selector = { mode: 'query', filter: { condition: everybody } };
        const spec = { projectId: project.id, operation: 'enroll', workflowId: id, mostPerMinute: null, selector };
        await database.db.count(sql`
          insert into jobs (id, project_id, kind, spec) values (${jobId}, ${project.id}, 'bulk', ${JSON.stringify(spec)}::jsonb)`);
        const share = { stop: new AbortController().signal, longestMs: 600_000, onStep() {} };
        await changeContacts(database.db, jobId, share, {
          enrollSome: (tx, job, most) => enrollSome(tx, job, { most, startsPerHour: 0 }),
          remaining: async () => 1_000,
          begin() {},
        });
      },
    ],
    [
      'a schedule',
      {
        triggerType: 'SCHEDULE',
        triggerConfig: { schedule: '0 9 * * *', timezone: 'UTC', audienceCondition: everybody },
      },
      async (id: string) => {
        const deps = { db: database.db, clock, dispatchSoon: () => undefined };
        const progress = { from: null, onPage() {}, checkStop() {} };
        await enrolAudience(deps, id, '2027-03-10T09:00:00.000Z', progress);
        await enrolPending(database.db);
      },
    ],
    [
      'a date',
      { triggerType: 'DATE', triggerConfig: { field: 'data.birthday', at: '09:00', every: 'year' } },
      async () => {
        await database.db.count(sql`
          update contacts set data = '{"birthday": "1990-03-10"}', updated_at = now() - interval '1 minute' where project_id = ${project.id}`);
        const horizon = { quietSeconds: 0.1, longestSeconds: 0.1 };
        const sweep = (now: Date) =>
          createDateSweep({ db: database.db, clock: () => now, stop: new AbortController().signal, horizon })();
        await sweep(new Date('2027-03-10T00:00:00Z'));
        await sweep(clock());
        await enrolPending(database.db);
      },
    ],
  ] as const)('shares out contacts who enter by %s, exactly by their hash', async (_, trigger, enter) => {
    const { id } = await aWorkflow(400);
    if ('triggerType' in trigger) await own.done('PATCH', `/workflows/${id}`, trigger);
    const { workflow } = await rolledOut(id, await changed(id), { percent: 30 });
    const { rollout } = workflow;
    await enter(id);
    const versions = await versionsOf(id);
    expect(versions.size).toBe(400);
    for (const [contact, version] of versions)
      expect(version).toBe(isBelow(rollout.id, contact, 30) ? rollout.version : rollout.previousVersion);
    expect(new Set(versions.values()).size).toBe(2);
  });

  test('keeps the templates of the version before, and names the step of one that is gone when it goes back', async () => {
    project = await aProject(database);
    own = automationHand(api, project);
    const { id, trigger } = await own.automation();
    const templateId = await own.template();
    const mail = await own.step(id, 'SEND_EMAIL', {}, { templateId });
    await own.enable(id);
    const old = await graphOf(id);
    const bye = { id: 'bye', type: 'EXIT', name: 'Bye', position: { x: 5, y: 5 }, config: { reason: 'new' } };
    const next = { steps: [old.steps[0], bye], transitions: [{ fromStepId: trigger, toStepId: 'bye' }] };
    await rolledOut(id, next);
    expect(await own.call('DELETE', `/templates/${templateId}`)).toMatchObject({ status: 409 });
    // As if it had been deleted all the same, before there were rollouts.
    await database.db.count(sql`delete from templates where id = ${templateId}`);
    const back = await own.done('POST', `/workflows/${id}/rollout/back`);
    expect(back.rollout.state).toBe('BACK');
    expect(back.issues).toMatchObject([{ stepId: mail, field: 'templateId' }]);
  });

  test('of a workflow without a goal has no results of one', async () => {
    const { id, next } = await aWorkflow();
    await rolledOut(id, next);
    expect((await report(id)).versions.map(({ goal }: Json) => goal)).toEqual([null, null]);
  });

  test('that is ended by several at once is ended once', async () => {
    const { id, next } = await aWorkflow();
    await rolledOut(id, next);
    const calls = ['finish', 'back', 'finish', 'back'].map((how) =>
      own.call('POST', `/workflows/${id}/rollout/${how}`),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409, 409]);
  });

  test('keeps its versions though nobody is in them, and a retry keeps a contact in its own', async () => {
    const { id, target, people, next } = await aWorkflow(40);
    await rolledOut(id, next, { percent: 50 });
    await database.db.count(sql`
      update automation_versions set created_at = now() - interval '2 hours' where automation_id = ${id}`);
    await removeUnusedVersions(database.db, 100);
    expect((await own.done('GET', `/workflows/${id}/versions`)).data).toHaveLength(2);
    await letIn(database.db, target, people);
    const before = await versionsOf(id);
    expect(new Set(before.values())).toEqual(new Set([1, 2]));
    await database.db.count(sql`
      update automation_runs set status = 'FAILED', completed_at = now(), due_at = null where automation_id = ${id}`);
    expect(await own.done('POST', `/workflows/${id}/executions/retry`, {})).toMatchObject({ retried: 40 });
    expect(await versionsOf(id)).toEqual(before);
  });

  test('tells in an explanation which version a contact got, and why', async () => {
    const { id, target, people, next } = await aWorkflow(1);
    const { workflow } = await rolledOut(id, next, { percent: 99.99 });
    await letIn(database.db, target, people);
    const finding = await own.done('POST', '/explain', { contact: people[0], about: { workflowId: id } });
    const decision = finding.decisions.find(({ check }: Json) => check === 'workflow.rollout');
    expect(decision).toMatchObject({ expected: 99.99, actual: expect.any(Number) });
    const which = isBelow(workflow.rollout.id, people[0] ?? '', 99.99)
      ? 'Version 2 was the new'
      : 'Version 1 was the previous';
    expect(decision.sentence).toContain(`${which} version of a rollout to 99.99% of new contacts`);
  });
});

describe('the bookkeeping of each minute', () => {
  /** A rollout with so many contacts in the new version. */
  async function withEntrants(count: number, rollout: Json = {}) {
    const workflow = await aWorkflow(count);
    await rolledOut(workflow.id, workflow.next, { percent: 99.99, ...rollout });
    await letIn(database.db, workflow.target, workflow.people);
    // All of them, also the one of 10,000 who would not be.
    await database.db.count(sql`
      update automation_runs set version_id = (select version_id from automation_rollouts where automation_id = ${workflow.id})
      where automation_id = ${workflow.id}`);
    return workflow;
  }
  const fail = (id: string, count: number) =>
    database.db.count(sql`
      update automation_runs set status = 'FAILED', completed_at = now(), due_at = null where id in (
        select id from automation_runs where automation_id = ${id} and status <> 'FAILED' order by id limit ${count})`);

  test('takes a version back whose failures are above the limit, tells the members, and does so once', async () => {
    const { id, target, people, old } = await withEntrants(60, { stopIf: { failureRate: 5 } });
    const person = await aPerson(database.db, api.config);
    await joins(database.db, project.id, person, 'MEMBER');
    await fail(id, 3);
    expect(await checked()).toEqual([]);
    expect((await report(id)).versions[0]).toMatchObject({ entered: 60, failed: 3, failureRate: 5, active: 57 });
    await fail(id, 1);
    const told = (await Promise.all([checked(), checked()])).flat();
    expect(told).toMatchObject([
      {
        kind: 'rollout-stopped',
        values: { version: '2', reason: '4 of 60 executions failed (6.67%), and the limit is 5%' },
      },
    ]);
    const after = await own.done('GET', `/workflows/${id}`);
    expect(after.rollout).toMatchObject({
      state: 'STOPPED',
      stopped: { limit: 'failureRate', count: 4, of: 60, percent: 5 },
    });
    expect(await graphOf(id)).toEqual(old);
    expect(await checked()).toEqual([]);
    expect((await actions()).filter((action) => action === 'workflow.rollout_stopped')).toHaveLength(1);
    // What came of it is kept, whatever happens to the executions.
    await database.db.count(sql`delete from automation_runs where automation_id = ${id}`);
    expect((await report(id)).versions[0]).toMatchObject({ entered: 60, failed: 4 });
    await database.db.count(sql`update automations set allow_reentry = true where id = ${id}`);
    await letIn(database.db, target, people.slice(0, 5));
    expect(new Set((await versionsOf(id)).values())).toEqual(new Set([1]));
  });

  test('mails each member once, whoever checks it, and says which version, which workflow and why', async () => {
    const { id } = await withEntrants(60, { stopIf: { failureRate: 5 } });
    const members = [await aPerson(database.db, api.config), await aPerson(database.db, api.config)];
    for (const member of members) await joins(database.db, project.id, member, 'MEMBER');
    await fail(id, 4);
    const tickets: string[] = [];
    const check = () =>
      checkRollouts({
        db: database.db,
        tell: api.app.tellMembers,
        dispatchSoon: (...given) => void tickets.push(...given.map(({ workflowId }) => workflowId)),
      });
    await Promise.all([check(), check(), check()]);
    await check();
    const mailer = new FakeMailer({ name: 'rollout-stops' });
    const from = { address: 'no-reply@harbourmail.test', name: 'Fernpost' };
    const log = pino({ level: 'silent' });
    const deps = { db: database.db, mailer, log, encryptionKey: api.config.APP_ENCRYPTION_KEY, from, lagMs: 50 };
    const addresses = members.map(({ email }) => email);
    const mails = tickets.filter((ticket) => ticket.startsWith('system-mail/'));
    for (const mail of [...mails, ...mails]) await sendSystemMail(deps, mail.replace('system-mail/', ''));
    const sent = mailer.sent.filter(({ to }) => addresses.includes(to.address));
    expect(sent.map(({ to }) => to.address).toSorted()).toEqual(addresses.toSorted());
    expect(sent[0]?.subject).toBe('Version 2 of Onboarding was taken back');
    expect(JSON.stringify(sent[0])).toContain('4 of 60 executions failed (6.67%), and the limit is 5%');
    expect(JSON.stringify(sent[0])).toContain(`/app/${project.id}/workflows/${id}`);
  });

  test('counts a limit once 50 have entered, and waits at the end of the days until then', async () => {
    const { id } = await withEntrants(49, { stopIf: { failureRate: 5 } });
    await fail(id, 49);
    await isOver(id);
    expect(await checked()).toEqual([]);
    expect(await report(id)).toMatchObject({ state: 'RUNNING', leastEntered: 50 });
    await own.done('PATCH', `/workflows/${id}/rollout`, { stopIf: {} });
    await checked();
    expect(await report(id)).toMatchObject({ state: 'FINISHED' });
  });

  test('counts who unsubscribed by an email of the version, and nobody else', async () => {
    const { id, people } = await withEntrants(50, { stopIf: { unsubscribeRate: 2 } });
    const leaves = async (contact: string | undefined, run: boolean, data: object | null = null) => {
      const email = newId();
      await database.db.count(sql`
        insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status, workflow_execution_id)
        select ${email}, ${project.id}, ${contact}, 'a@example.com', ${project.sender}, 's', 'b', 'WORKFLOW', 'MARKETING', 'SENT',
          case when ${run} then id end from automation_runs where automation_id = ${id} and contact_id = ${contact}`);
      await database.db.count(sql`
        insert into events (id, project_id, contact_id, name, data, email_id)
        values (${newId()}, ${project.id}, ${contact}, 'contact.unsubscribed', ${data && JSON.stringify(data)}::jsonb, ${email})`);
    };
    await leaves(people[0], true);
    await leaves(people[0], true);
    await leaves(people[1], false);
    await leaves(people[2], true, { reason: 'bounce' });
    expect(await checked()).toEqual([]);
    expect((await report(id)).versions[0]).toMatchObject({ unsubscribed: 1, unsubscribeRate: 2 });
    await leaves(people[3], true);
    expect(await checked()).toHaveLength(1);
    expect(await report(id)).toMatchObject({ stopped: { limit: 'unsubscribeRate', count: 2, of: 50, percent: 2 } });
  });

  test('gives the version to all at the end of the days, but not while nobody can enter', async () => {
    const { id, next, target, people } = await aWorkflow(1);
    await rolledOut(id, next, { percent: 0.01, stopIf: {}, days: 90 });
    await checked();
    expect((await report(id)).state).toBe('RUNNING');
    await isOver(id);
    await own.done('POST', `/workflows/${id}/pause`);
    await checked();
    await own.done('POST', `/workflows/${id}/resume`, {});
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    await checked();
    expect((await report(id)).state).toBe('RUNNING');
    await own.done('PATCH', `/workflows/${id}`, { enabled: true });
    await checked();
    expect((await report(id)).state).toBe('FINISHED');
    await letIn(database.db, target, people);
    expect([...(await versionsOf(id)).values()]).toEqual([2]);
    expect((await actions()).at(-1)).toBe('workflow.rollout_finished');
  });

  test('takes nothing apart where it is cut off: the state, the graph and the mail are one commit', async () => {
    const { id, next } = await withEntrants(50, { stopIf: { failureRate: 5 } });
    await fail(id, 50);
    const graph = await graphOf(id);
    const dying: TellMembers = () => Promise.reject(new Error('killed'));
    await expect(checkRollouts({ db: database.db, tell: dying, dispatchSoon: () => undefined })).rejects.toThrow(
      'killed',
    );
    expect((await report(id)).state).toBe('RUNNING');
    expect(await graphOf(id)).toEqual(graph);
    expect(next.steps[1].config).toEqual(graph.steps[1].config);
    expect(await checked()).toHaveLength(1);
  });
});
