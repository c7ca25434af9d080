// biome-ignore-all lint/suspicious/noThenProperty: the field of the contract.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { newId } from '../../../src/lib/ids.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import { advanceDeps } from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let hand: AutomationHand;
let workflow: string;
let names: Map<string, string>;
const [pro = '', free = '', gone = ''] = addresses(3);
const contacts: Record<string, string> = {};

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  hand = automationHand(api, await aProject(database));
  contacts.pro = await hand.contact(pro, { firstName: 'Anna', plan: 'pro' });
  contacts.free = await hand.contact(free, { firstName: 'Ben', plan: 'free' });
  contacts.gone = await hand.contact(gone, { plan: 'pro' });
  await hand.done('PATCH', `/contacts/${contacts.gone}`, { subscribed: false });
  await onboarding();
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** Asks for the plan, greets, mails, waits two days, then an hour for an order, and calls a webhook. */
async function onboarding(): Promise<void> {
  const { id, trigger } = await hand.automation();
  const step = (type: string, name: string, config = {}, more = {}) =>
    hand.step(id, type, config, { name, autoConnect: false, ...more });
  const asks = await step('CONDITION', 'Pro?', { field: 'data.plan', operator: 'equals', value: 'pro' });
  const greets = await step('UPDATE_CONTACT', 'Greet', { updates: { greeted: true, plan: null } });
  const checks = await step('CONDITION', 'Greeted?', { field: 'data.greeted', operator: 'equals', value: true });
  const templateId = await hand.template();
  const mails = await step('SEND_EMAIL', 'Welcome', {}, { templateId });
  const delays = await step('DELAY', 'Two days', { amount: 2, unit: 'days' });
  const waits = await step('WAIT_FOR_EVENT', 'Order', { eventName: 'order.placed', timeout: 3600 });
  const calls = await step('WEBHOOK', 'CRM', { url: 'https://crm.example.com/{{ total }}', method: 'PUT' });
  const exits = await step('EXIT', 'Too late', { reason: 'no_order' });
  await hand.connect(id, trigger, asks);
  await hand.connect(id, asks, greets, { condition: { branch: 'yes' } });
  await hand.connect(id, greets, checks);
  await hand.connect(id, checks, mails, { condition: { branch: 'yes' } });
  await hand.connect(id, mails, delays);
  await hand.connect(id, delays, waits);
  await hand.connect(id, waits, calls, { waitOutcome: 'EVENT' });
  await hand.connect(id, waits, exits, { waitOutcome: 'TIMEOUT' });
  workflow = id;
  const { steps } = await hand.done('GET', `/workflows/${id}`);
  names = new Map(steps.map((one: { id: string; name: string }) => [one.id, one.name]));
}

const tried = (body: object) => hand.call('POST', `/workflows/${workflow}/test-run`, body);
/** Everything that a run could leave. */
const traces = () =>
  database.db.rows(`select (select count(*)::int from automation_runs) as runs, (select count(*)::int from emails) as emails,
    (select count(*)::int from events) as events, (select count(*)::int from outbox) as calls,
    (select jsonb_agg(data order by id) from contacts) as contacts`);

test('follows a contact to the end, in the time that it would take, and leaves nothing behind', async () => {
  const before = await traces();
  const { status, body } = await tried({ contactId: contacts.pro, waitData: { total: 620 } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ end: 'COMPLETED', reason: null });
  const [first] = body.steps;
  expect(body.steps.map((step: { stepId: string; outcome: string }) => [names.get(step.stepId), step.outcome])).toEqual(
    [first.name, 'Pro?', 'Greet', 'Greeted?', 'Welcome', 'Two days', 'Order', 'CRM'].map((name) => [name, 'COMPLETED']),
  );
  const outputOf = (name: string) => body.steps.find((step: { name: string }) => step.name === name).output;
  expect(outputOf('Pro?')).toMatchObject({ actualValue: 'pro', expectedValue: 'pro', branch: 'yes' });
  expect(outputOf('Greet')).toMatchObject({ newData: { firstName: 'Anna', greeted: true } });
  expect(outputOf('Greet').newData).not.toHaveProperty('plan');
  expect(outputOf('Welcome')).toMatchObject({ subject: 'Hi Anna', recipientEmail: pro });
  expect(outputOf('Order')).toEqual({ eventName: 'order.placed', waitOutcome: 'EVENT' });
  expect(outputOf('CRM')).toEqual({ method: 'PUT', url: 'https://crm.example.com/620' });
  expect(Date.parse(body.endsAt) - Date.parse(first.at)).toBe(2 * 86_400_000);
  expect(await traces()).toEqual(before);
});

test('says until when quiet hours would hold an email, and which emails nobody would get, as the execution does', async () => {
  const project = await database.db.row<{ id: string }>(
    'select id from projects where id = (select project_id from automations where id = $1)',
    [workflow],
  );
  const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const set = (quietHours: object | null, holdout: object | null) =>
    database.db.count('update projects set quiet_hours = $2, holdout = $3 where id = $1', [
      project?.id,
      quietHours && JSON.stringify(quietHours),
      holdout && JSON.stringify(holdout),
    ]);
  const { id } = await hand.automation({ eventName: 'asked.at.night' });
  const mail = await hand.step(id, 'SEND_EMAIL', {}, { templateId: await hand.template() });
  await hand.enable(id);
  const both = async (contactId: string | undefined) => {
    const asked = await hand.done('POST', `/workflows/${id}/test-run`, { contactId });
    const { id: runId } = await hand.done('POST', `/workflows/${id}/executions`, { contactId });
    await advance(advanceDeps(database.db), runId, 0);
    const { output } =
      (await database.db.row<{ output: Record<string, unknown> }>(
        'select output from automation_step_runs where run_id = $1 and step_id = $2',
        [runId, mail],
      )) ?? {};
    const tested = asked.steps.find(({ stepId }: { stepId: string }) => stepId === mail);
    return [tested.outcome, ...[tested.output, output].map((one) => [one?.heldUntil, one?.heldBy, one?.skipped])];
  };
  await set({ from: time(-1), to: time(2), days: null, types: ['MARKETING', 'HEADLESS'] }, null);
  const [outcome, tested, made] = await both(contacts.pro);
  expect([outcome, tested]).toEqual(['COMPLETED', made]);
  expect(tested).toEqual([expect.any(String), 'quietHours', undefined]);
  expect(Date.parse(String((tested as unknown[])[0]))).toBeGreaterThan(Date.now() + 3_600_000);
  expect(await both(contacts.gone)).toEqual(['SKIPPED', ...Array(2).fill([undefined, undefined, 'unsubscribed'])]);
  await set(null, { key: 'all', percent: 100, until: null });
  expect(await both(contacts.free)).toEqual(['SKIPPED', ...Array(2).fill([undefined, undefined, 'holdout'])]);
  await set(null, null);
});

test('waits that time out take their path, an hour later', async () => {
  const { body } = await tried({ contactId: contacts.pro, waits: 'TIMEOUT' });
  expect(body).toMatchObject({ end: 'EXITED', reason: 'no_order' });
  expect(body.steps.at(-1).name).toBe('Too late');
  expect(Date.parse(body.endsAt) - Date.parse(body.steps[0].at)).toBe(2 * 86_400_000 + 3_600_000);
});

test('an event whose data fails the tests of the trigger starts nothing, and one that fails those of a wait does not come', async () => {
  const where = [{ path: 'total', operator: 'greaterThan', value: 100 }];
  const triggerConfig = { eventName: 'order.placed', where };
  const { id } = await hand.automation({ eventName: 'order.placed', triggerConfig });
  await hand.step(id, 'WAIT_FOR_EVENT', { ...triggerConfig, timeout: 60 });
  const walk = async (data: object | null, waitData: object | null) => {
    const asked = { contactId: contacts.pro, data, waitData };
    const { end, steps } = await hand.done('POST', `/workflows/${id}/test-run`, asked);
    return [end, steps.length, steps.at(-1).output.waitOutcome];
  };
  expect(await walk({ total: 100 }, null)).toEqual(['EXITED', 1, undefined]);
  expect(await walk({ total: 101 }, { total: 5 })).toEqual(['COMPLETED', 2, 'TIMEOUT']);
  expect(await walk(null, { total: 500 })).toEqual(['COMPLETED', 2, 'EVENT']);
});

test('an event that both ends the workflow and is waited for ends it, and one that fails the tests of the exit does not', async () => {
  const where = [{ path: 'total', operator: 'greaterThan', value: 100 }];
  const exits = [{ id: 'bought', on: { event: 'order.placed', where }, reason: 'bought' }];
  const { id } = await hand.automation();
  const step = await hand.step(id, 'WAIT_FOR_EVENT', { eventName: 'order.placed', timeout: 60 });
  await hand.done('PATCH', `/workflows/${id}`, { exits });
  const run = (total: number) =>
    hand.done('POST', `/workflows/${id}/test-run`, { contactId: contacts.pro, waitData: { total } });
  const left = await run(101);
  expect(left).toMatchObject({ end: 'EXITED', reason: 'bought' });
  expect(left.steps[1]).toMatchObject({
    stepId: step,
    outcome: 'SKIPPED',
    output: { exit: 'bought', reason: 'bought' },
  });
  expect(await run(100)).toMatchObject({ end: 'COMPLETED', steps: [{}, { output: { waitOutcome: 'EVENT' } }] });
});

test('ends where a condition has no path for a contact', async () => {
  const { body } = await tried({ contactId: contacts.free });
  expect(body.end).toBe('COMPLETED');
  expect(body.steps).toHaveLength(2);
  expect(body.steps[1].output).toMatchObject({ actualValue: 'free', branch: 'no' });
});

test('says that an unsubscribed contact gets no marketing email, and what a template lacks', async () => {
  const { body } = await tried({ contactId: contacts.gone });
  const mail = body.steps.find((step: { name: string }) => step.name === 'Welcome');
  expect(mail).toMatchObject({ outcome: 'SKIPPED', output: { skipped: 'unsubscribed', recipientEmail: gone } });
  await hand.done('PATCH', `/contacts/${contacts.gone}`, { subscribed: true, reason: 'asked by phone' });
  const again = (await tried({ contactId: contacts.gone })).body;
  const sent = again.steps.find((step: { name: string }) => step.name === 'Welcome');
  expect(sent).toMatchObject({ outcome: 'COMPLETED', output: { missing: ['firstName'] } });
});

test('takes a graph that is not saved, names its new steps as the request does, and stops at a step that cannot work', async () => {
  const [trigger] = [...names.keys()];
  const position = { x: 0, y: 0 };
  const steps = [
    { id: trigger, type: 'TRIGGER', name: 'Signed up', position, config: { eventName: 'user.signup' } },
    {
      id: 'asks',
      type: 'CONDITION',
      name: 'Large?',
      position,
      config: { field: 'event.total', operator: 'greaterThan', value: 5 },
    },
    { id: 'mails', type: 'SEND_EMAIL', name: 'Nothing to send', position, config: {} },
  ];
  const transitions = [
    { fromStepId: trigger, toStepId: 'asks' },
    { fromStepId: 'asks', toStepId: 'mails', condition: { branch: 'yes' } },
  ];
  const graph = { steps, transitions };
  const { body } = await tried({ contactId: contacts.pro, data: { total: 7 }, graph });
  expect(body).toMatchObject({ end: 'FAILED', reason: 'The step has no template' });
  expect(body.steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual([trigger, 'asks', 'mails']);
  expect((await tried({ contactId: contacts.pro, data: { total: 3 }, graph })).body.end).toBe('COMPLETED');
  expect((await hand.done('GET', `/workflows/${workflow}`)).steps).toHaveLength(names.size);

  const circle = [...transitions, { fromStepId: 'mails', toStepId: 'asks' }];
  const refused = await tried({ contactId: contacts.pro, graph: { steps, transitions: circle } });
  expect(refused.status).toBe(422);
  expect(refused.body.error.errors[0].field).toBe('graph.transitions');
});

test('asks condition trees of the contact as the steps before left it, and of the data that starts the run', async () => {
  const [trigger] = [...names.keys()];
  const position = { x: 0, y: 0 };
  const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
  const team = { field: 'data.plan', operator: 'equals', value: 'team' };
  const large = { field: 'trigger.total', operator: 'greaterThan', value: 50 };
  const graph = (condition: object) => ({
    steps: [
      { id: trigger, type: 'TRIGGER', name: 'Signed up', position, config: { eventName: 'user.signup' } },
      { id: 'sets', type: 'UPDATE_CONTACT', name: 'Upgrade', position, config: { updates: { plan: 'team' } } },
      { id: 'asks', type: 'CONDITION', name: 'Large team?', position, config: { mode: 'tree', condition } },
    ],
    transitions: [
      { fromStepId: trigger, toStepId: 'sets' },
      { fromStepId: 'sets', toStepId: 'asks' },
    ],
  });
  const branch = async (total: number) => {
    const { body } = await tried({ contactId: contacts.free, data: { total }, graph: graph(all(team, large)) });
    return body.steps.at(-1).output;
  };
  expect(await branch(80)).toEqual({ mode: 'tree', result: true, branch: 'yes' });
  expect(await branch(20)).toEqual({ mode: 'tree', result: false, branch: 'no' });

  // What a tree names is checked with the graph: steps of it, by the names of the request, and segments of the project.
  const path = `/workflows/${workflow}/graph`;
  const sent = (stepId: string) => ({ field: 'email.sent', operator: 'triggered', of: { stepId } });
  const issues = async (condition: object) => {
    const { body } = await hand.call('PUT', path, { ...graph(condition), dryRun: true });
    return body.issues.map(({ field }: { field: string }) => field);
  };
  expect(await issues(all(sent('sets')))).toEqual([]);
  expect(await issues(all(sent(workflow)))).toEqual(['config.condition']);
  // A step of this workflow that the graph leaves out is as unknown.
  const left = [...names].find(([, name]) => name === 'Welcome')?.[0] ?? '';
  expect(await issues(all(sent(left)))).toEqual(['config.condition']);
  expect(await issues(all({ field: `segment.${workflow}`, operator: 'memberOfSegment' }))).toEqual([
    'config.condition',
  ]);
  expect(await issues(all({ ...team, operator: 'like' }))).toEqual(['config.condition']);
});

test('a split sends a contact the way that an execution takes, before it is saved and after', async () => {
  const { id, trigger } = await hand.automation({ name: 'Halves' });
  const position = { x: 0, y: 0 };
  const branches = [
    { id: 'a', percent: 50 },
    { id: 'b', percent: 50 },
  ];
  const config = { branches, holdout: 'b', key: 'welcome' };
  const graph = (stepId: string, of = config) => ({
    steps: [
      { id: trigger, type: 'TRIGGER', name: 'Signed up', position, config: {} },
      { id: stepId, type: 'SPLIT', name: 'Halves', position, config: of },
      { id: 'end', type: 'EXIT', name: 'End', position, config: {} },
    ],
    transitions: [
      { fromStepId: trigger, toStepId: stepId },
      { fromStepId: stepId, toStepId: 'end', branch: 'a' },
    ],
  });
  const outputs = async (body: object) =>
    Promise.all(
      Object.values(contacts).map(async (contactId) => {
        const run = await hand.done('POST', `/workflows/${id}/test-run`, { contactId, ...body });
        return run.steps[1].output;
      }),
    );
  const unsaved = await outputs({ graph: graph('new') });
  expect(await outputs({ graph: graph('new') })).toEqual(unsaved);
  const { ids } = await hand.done('PUT', `/workflows/${id}/graph`, graph('new'));
  expect(await outputs({})).toEqual(unsaved);

  // Executions take the branches of test runs, and these are counted.
  await hand.enable(id);
  for (const contactId of Object.values(contacts))
    await hand.done('POST', `/workflows/${id}/executions`, { contactId });
  const deps = advanceDeps(database.db);
  for (const { id: runId } of await database.db.rows<{ id: string }>(sql`
    select id from automation_runs where automation_id = ${id}`))
    await advance(deps, runId, 0);
  const { steps } = await hand.done('GET', `/workflows/${id}/people`);
  const counted = steps.find(({ stepId }: { stepId: string }) => stepId === ids.new);
  const expected = ['a', 'b'].flatMap((branch) => {
    const count = unsaved.filter((output) => output.branch === branch).length;
    return count === 0 ? [] : [{ branch, count }];
  });
  expect(counted.branches).toEqual(expected);

  const problems = await hand.call('PUT', `/workflows/${id}/graph`, graph(ids.new, { ...config, holdout: 'c' }));
  expect([problems.status, problems.body.error.errors[0].field]).toEqual([422, `steps.${ids.new}.config.holdout`]);
});

test('a wait until a time says the next ones in the zone of the contact, and a date that is missing is waited for', async () => {
  const { id } = await hand.automation({ name: 'In the morning' });
  const config = { time: '09:00', days: [1, 2, 3, 4, 5], fallback: 'Asia/Tokyo' };
  const step = await hand.step(id, 'WAIT_UNTIL', config);
  const run = () => hand.done('POST', `/workflows/${id}/test-run`, { contactId: contacts.free });
  const { output } = (await run()).steps[1];
  expect(output).toMatchObject({ zone: 'Asia/Tokyo', until: output.next[0] });
  expect(output.next.map((at: string) => at.slice(10))).toEqual(Array(3).fill('T00:00:00.000Z'));
  for (const at of output.next) expect([1, 2, 3, 4, 5]).toContain(new Date(at).getUTCDay());

  await hand.done('PATCH', `/workflows/${id}/steps/${step}`, { config: { field: 'data.trial.ends', passed: 'exit' } });
  expect(await run()).toMatchObject({ end: 'WAITING', reason: 'The contact has no date to wait for' });
  await hand.done('PATCH', `/contacts/${contacts.free}`, { data: { trial: { ends: '2020-01-01' } } });
  expect(await run()).toMatchObject({ end: 'EXITED', reason: 'date_passed' });
  expect((await hand.done('GET', '/contacts/fields/data.trial.ends/usage')).usedInWorkflows).toEqual([
    { id, name: 'In the morning' },
  ]);

  // Executions say what they wait for.
  await hand.done('PATCH', `/contacts/${contacts.free}`, { data: { trial: null } });
  await hand.enable(id);
  const execution = await hand.done('POST', `/workflows/${id}/executions`, { contactId: contacts.free });
  await advance(advanceDeps(database.db), execution.id, 0);
  const story = await hand.done('GET', `/workflows/${id}/executions/${execution.id}`);
  expect(story).toMatchObject({ status: 'WAITING', waitingFor: 'a date in data.trial.ends', waitingUntil: null });
});

test('what a condition tree asks for is in use, and beside an operator a condition is ignored', async () => {
  const segment = (await hand.done('POST', '/segments', { name: 'Asked', type: 'STATIC' })).id;
  const { id } = await hand.automation({ name: 'Asking' });
  const condition = {
    logic: 'AND',
    groups: [
      {
        filters: [
          { field: `segment.${segment}`, operator: 'memberOfSegment' },
          { field: 'data.tier', operator: 'exists' },
          { field: 'event.tier.changed', operator: 'triggered' },
        ],
      },
    ],
  };
  const asking = async () => [
    (await hand.done('GET', '/contacts/fields/data.tier/usage')).usedInWorkflows,
    (await hand.done('GET', '/events/tier.changed/usage')).usedInWorkflows,
  ];
  const compared = {
    mode: 'multi',
    field: 'data.plan',
    branches: [{ id: 'pro', operator: 'equals', value: 'pro', condition }],
  };
  const step = await hand.step(id, 'CONDITION', compared);
  expect(await asking()).toEqual([[], []]);
  const tested = await hand.done('POST', `/workflows/${id}/test-run`, { contactId: contacts.free });
  expect(tested.steps.at(-1).output).toMatchObject({ mode: 'multi', field: 'data.plan', branch: 'default' });

  await hand.done('PATCH', `/workflows/${id}/steps/${step}`, { config: { mode: 'tree', condition } });
  expect(await asking()).toEqual([[{ id, name: 'Asking' }], [{ id, name: 'Asking' }]]);
  const refused = await hand.call('DELETE', `/segments/${segment}`);
  expect([refused.status, refused.body.error.message]).toEqual([409, 'Workflows use this segment: "Asking"']);
  await hand.done('DELETE', `/workflows/${id}/steps/${step}`);
  expect((await hand.call('DELETE', `/segments/${segment}`)).status).toBe(204);
});

test('is refused without a contact, for one that is not there, and for a graph without its paths', async () => {
  expect((await tried({})).status).toBe(422);
  expect((await tried({ contactId: workflow })).status).toBe(404);
  expect((await tried({ contactId: contacts.pro, waits: 'NEVER' })).status).toBe(422);
  expect((await tried({ contactId: contacts.pro, graph: { steps: [] } })).status).toBe(422);
});

const asks = (segment: string) => ({
  logic: 'AND',
  groups: [
    {
      filters: [
        { field: 'data.region', operator: 'equals', value: 'north' },
        { field: 'event.region.changed', operator: 'triggered' },
        { field: `segment.${segment}`, operator: 'memberOfSegment' },
      ],
    },
  ],
});
const schedule = { schedule: '0 9 * * 1', timezone: 'Europe/Berlin' };
test.each([
  [
    'whom a schedule enrolls',
    (condition: object) => ({ triggerType: 'SCHEDULE', triggerConfig: { ...schedule, audienceCondition: condition } }),
  ],
  [
    'which new contacts enter',
    (condition: object) => ({ triggerType: 'CONTACT_CREATED', triggerConfig: { audienceCondition: condition } }),
  ],
  ['an exit', (condition: object) => ({ exits: [{ id: 'left', on: { condition }, reason: 'left' }] })],
  ['the goal', (condition: object) => ({ goal: { on: { condition }, withinDays: 3, then: 'count' } })],
])('the field, event and segment that the condition of %s asks for are in use by the workflow', async (_, body) => {
  const segment = (await hand.done('POST', '/segments', { name: `North ${newId()}`, type: 'STATIC' })).id;
  const { id } = await hand.automation({ name: 'Regional' });
  const used = { id, name: 'Regional' };
  const uses = async () => [
    (await hand.done('GET', '/contacts/fields/data.region/usage')).usedInWorkflows,
    (await hand.done('GET', '/events/region.changed/usage')).usedInWorkflows,
  ];
  expect(await uses()).toEqual([[], []]);
  await hand.done('PATCH', `/workflows/${id}`, body(asks(segment)));
  expect(await uses()).toEqual([[used], [used]]);
  const refused = await hand.call('DELETE', `/segments/${segment}`);
  expect([refused.status, refused.body.error.message]).toEqual([409, 'Workflows use this segment: "Regional"']);
  await hand.done('DELETE', `/workflows/${id}`);
  expect(await uses()).toEqual([[], []]);
  expect((await hand.call('DELETE', `/segments/${segment}`)).status).toBe(204);
});
