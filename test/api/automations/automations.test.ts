// biome-ignore-all lint/suspicious/noThenProperty: the field of goals.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let other: AutomationHand;
const [anna = '', ben = ''] = addresses(2);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = automationHand(api, project);
  other = automationHand(api, await aProject(database, 'Umbrella'));
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const delay = { amount: 2, unit: 'days' };
const plan = { field: 'data.plan', operator: 'equals', value: 'pro' };

describe('workflows', () => {
  test('are created disabled with their TRIGGER step, whatever the body says', async () => {
    const answer = await own.call('POST', '/workflows', {
      name: 'Onboarding',
      eventName: '  user.signup ',
      enabled: true,
      unknown: 1,
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: project.id,
      name: 'Onboarding',
      description: null,
      enabled: false,
      triggerType: 'EVENT',
      triggerConfig: { eventName: 'user.signup' },
      allowReentry: false,
      pausedAt: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const { steps, transitions, issues } = await own.done('GET', `/workflows/${answer.body.id}`);
    expect(steps).toMatchObject([
      {
        type: 'TRIGGER',
        name: 'Trigger: user.signup',
        config: { eventName: 'user.signup' },
        position: { x: 100, y: 100 },
        template: null,
        outgoingTransitions: [],
        incomingTransitions: [],
      },
    ]);
    expect([transitions, issues]).toEqual([[], []]);
  });

  test.each([
    ['no name', { eventName: 'x' }],
    ['an empty name', { name: '', eventName: 'x' }],
    ['no event', { name: 'x' }],
    ['a blank event', { name: 'x', eventName: '  ' }],
  ])('%s is a bare 400', async (_, body) => {
    const answer = await own.call('POST', '/workflows', body);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });

  test.each([
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name', 'too_big'],
    ['a number as event', { eventName: 5 }, 'eventName', 'invalid_type'],
    ['a word as allowReentry', { allowReentry: 'yes' }, 'allowReentry', 'invalid_type'],
  ])('%s is a 422 that names the field', async (_, body, field, code) => {
    const answer = await own.call('POST', '/workflows', { name: 'x', eventName: 'x', ...body });
    expect([answer.status, answer.body.error.errors?.[0]]).toMatchObject([422, { field, code }]);
  });

  test.each([
    ['MANUAL', { triggerType: 'MANUAL' }, null, 'Trigger: manual'],
    [
      'SCHEDULE',
      { triggerType: 'SCHEDULE', triggerConfig: { schedule: '0 9 * * *' } },
      { schedule: '0 9 * * *' },
      'Trigger: schedule',
    ],
    ['EVENT in full', { triggerType: 'EVENT', triggerConfig: { eventName: ' a ' } }, { eventName: 'a' }, 'Trigger: a'],
  ])('are created with the trigger %s', async (_, body, triggerConfig, name) => {
    const made = await own.call('POST', '/workflows', { name: 'Onboarding', ...body });
    expect(made).toMatchObject({ status: 201, body: { triggerType: body.triggerType, triggerConfig } });
    const { steps } = await own.done('GET', `/workflows/${made.body.id}`);
    expect(steps).toMatchObject([{ type: 'TRIGGER', name }]);
  });

  test('are not created with a trigger that is none, or with two events', async () => {
    const odd = await own.call('POST', '/workflows', { name: 'x', eventName: 'x', triggerType: 'NEVER' });
    expect([odd.status, odd.body.error?.errors]).toMatchObject([422, [{ field: 'triggerType' }]]);
    const two = { name: 'x', eventName: 'x', triggerConfig: { eventName: 'y' } };
    const answer = await own.call('POST', '/workflows', two);
    expect([answer.status, answer.body.error?.errors]).toMatchObject([422, [{ field: 'triggerConfig.eventName' }]]);
    const none = await own.call('POST', '/workflows', { name: 'x', triggerConfig: { eventName: ' ' } });
    expect([none.status, Object.keys(none.body)]).toEqual([400, ['error']]);
  });

  test.each(['GET', 'PATCH', 'DELETE'])('%s of an unknown, malformed or foreign id is a 404', async (method) => {
    const foreign = await other.automation();
    for (const id of [randomUUID(), 'nonsense', foreign.id]) {
      const answer = await own.call(method, `/workflows/${id}`, method === 'PATCH' ? { name: 'Mine' } : undefined);
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'WORKFLOW_NOT_FOUND']);
    }
  });

  test('are made for every event name, also where the name of their trigger has to be cut', async () => {
    const eventName = `${'a'.repeat(245)}🪿`;
    const made = await own.call('POST', '/workflows', { name: 'Geese', eventName });
    expect(made).toMatchObject({ status: 201, body: { triggerConfig: { eventName } } });
  });

  test('are listed by number and by cursor, searched, filtered and sorted, with their counts', async () => {
    const hand = automationHand(api, await aProject(database, 'Lists'));
    const ids: string[] = [];
    for (const name of ['Alpha', 'Beta', 'Gamma 100%']) ids.push((await hand.automation({ name })).id);
    const [alpha = '', beta = '', gamma = ''] = ids;
    const step = await hand.step(beta, 'DELAY', delay);
    await hand.enable(gamma);
    const list = async (query: string) =>
      (await hand.done('GET', `/workflows?${query}`)).data.map((one: { id: string }) => one.id);
    expect(await hand.done('GET', '/workflows?pageSize=2')).toMatchObject({
      total: 3,
      page: 1,
      pageSize: 2,
      totalPages: 2,
      hasMore: true,
      data: [
        { id: gamma, _count: { steps: 1, executions: 0 } },
        { id: beta, _count: { steps: 2, executions: 0 } },
      ],
    });
    expect(await list('sort=name&dir=asc')).toEqual([alpha, beta, gamma]);
    expect(await list('sort=steps')).toEqual([beta, gamma, alpha]);
    expect(await list('search=100%25')).toEqual([gamma]);
    expect(await list('status=active')).toEqual([gamma]);
    expect(await list('status=disabled&dir=asc')).toEqual([alpha, beta]);
    expect(await list(`stepId=${step}`)).toEqual([beta]);
    expect(await list(`stepId=${step}&status=active`)).toEqual([]);
    expect(await list(`stepId=${randomUUID()}`)).toEqual([]);
    expect((await other.done('GET', `/workflows?stepId=${step}`)).data).toEqual([]);
    expect((await hand.call('GET', '/workflows?stepId=nonsense')).status).toBe(400);
    expect(await list('status=whatever&sort=nonsense&page=-1')).toEqual([gamma, beta, alpha]);
    for (const sort of ['name', 'steps', 'updatedAt', 'createdAt']) {
      const whole = await list(`sort=${sort}`);
      const paged: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await hand.done('GET', `/workflows?limit=1&sort=${sort}&cursor=${cursor}`);
        paged.push(...page.data.map((one: { id: string }) => one.id));
        cursor = page.cursor;
        expect(page.hasMore).toBe(cursor !== null);
      }
      expect(paged).toEqual(whole);
    }
    const forged = (place: string, sort: string) =>
      Buffer.from(JSON.stringify([place, randomUUID(), sort, 'desc'])).toString('base64url');
    for (const cursor of ['nonsense', forged('soon', 'createdAt'), forged('many', 'steps'), forged('a\0', 'name')])
      expect((await hand.call('GET', `/workflows?cursor=${cursor}`)).status).toBe(400);
  });

  test('a copy has the whole graph with new ids, and is disabled', async () => {
    const { id } = await own.automation({ name: 'x'.repeat(255), description: 'd', allowReentry: true });
    const condition = await own.step(id, 'CONDITION', plan);
    const exit = await own.step(id, 'EXIT', {}, { autoConnect: false });
    await own.connect(id, condition, exit, { branch: 'yes' });
    await own.enable(id);
    const copy = await own.done('POST', `/workflows/${id}/duplicate`);
    expect(copy).toMatchObject({
      name: `${'x'.repeat(248)} (Copy)`,
      description: 'd',
      allowReentry: true,
      enabled: false,
    });
    expect(await own.ways(copy.id)).toEqual(await own.ways(id));
    const [before, after] = [await own.done('GET', `/workflows/${id}`), await own.done('GET', `/workflows/${copy.id}`)];
    expect(after.steps.map(({ config }: { config: unknown }) => config)).toEqual(
      before.steps.map(({ config }: { config: unknown }) => config),
    );
    const old = new Set([...before.steps, ...before.transitions].map((one) => one.id));
    expect([...after.steps, ...after.transitions].filter((one) => old.has(one.id))).toEqual([]);
  });

  test('one is paused and resumed, and asking twice changes nothing more', async () => {
    const { id } = await own.automation();
    const [paused, again] = [
      await own.done('POST', `/workflows/${id}/pause`),
      await own.done('POST', `/workflows/${id}/pause`),
    ];
    expect(paused.pausedAt).toMatch(/Z$/);
    expect(again).toEqual(paused);
    expect((await own.done('GET', '/workflows')).data.find((one: { id: string }) => one.id === id).pausedAt).toBe(
      paused.pausedAt,
    );
    const refused = await own.call('POST', `/workflows/${id}/resume`, { spreadMinutes: -1 });
    expect([refused.status, refused.body.error.errors?.[0]?.field]).toEqual([422, 'spreadMinutes']);
    expect((await own.done('POST', `/workflows/${id}/resume`, {})).pausedAt).toBeNull();
    expect((await own.done('POST', `/workflows/${id}/resume`, { spreadMinutes: 5 })).pausedAt).toBeNull();
    expect((await own.done('GET', `/workflows/${id}`)).pausedAt).toBeNull();
  });

  test('several are deleted all or none', async () => {
    const [one, two] = [await own.automation(), await own.automation()];
    expect(
      (await own.call('POST', '/workflows/bulk-update', { ids: [one.id, randomUUID()], delete: true })).status,
    ).toBe(404);
    expect(await own.done('POST', '/workflows/bulk-update', { ids: [one.id] })).toEqual({ updated: 0 });
    const body = { ids: [one.id, two.id, one.id], delete: true };
    expect(await own.done('POST', '/workflows/bulk-update', body)).toEqual({ deleted: 2 });
    expect((await own.call('GET', `/workflows/${one.id}`)).status).toBe(404);
    expect((await own.call('POST', '/workflows/bulk-update', { ids: [] })).status).toBe(422);
  });

  test('tell what conditions can ask for', async () => {
    const hand = automationHand(api, await aProject(database, 'Fields'));
    await hand.contact(anna, { plan: 'pro', score: 5 });
    for (const [event, data] of [
      ['order.paid', { total: 5, plan: 'x' }],
      ['page.viewed', { path: '/' }],
    ] as const)
      await hand.done('POST', '/events/track', { name: event, contactId: await hand.contact(anna), data });
    const all = await hand.done('GET', '/workflows/fields');
    expect(all.fields).toEqual([...all.fields].sort());
    expect(all.typedFields).toEqual(
      expect.arrayContaining([
        { field: 'contact.data.plan', type: 'string', category: 'Custom Data' },
        { field: 'contact.data.score', type: 'number', category: 'Custom Data' },
        { field: 'contact.subscribed', type: 'boolean', category: 'Contact Fields' },
        { field: 'event.path', type: 'string', category: 'Event Data' },
        { field: 'event.total', type: 'string', category: 'Event Data' },
      ]),
    );
    expect(all.count).toBe(all.fields.length);
    const some = (await hand.done('GET', '/workflows/fields?eventName=order.paid')).fields;
    expect(some.filter((field: string) => field.startsWith('event.'))).toEqual(['event.plan', 'event.total']);
  });
});

describe('changing a workflow', () => {
  test('a new event name is taken over by the TRIGGER step', async () => {
    const { id } = await own.automation();
    const body = { triggerConfig: { eventName: 'trial.started' }, description: 'new', name: 'Trial' };
    expect(await own.done('PATCH', `/workflows/${id}`, body)).toMatchObject(body);
    const { steps } = await own.done('GET', `/workflows/${id}`);
    expect(steps[0]).toMatchObject({ name: 'Trigger: trial.started', config: { eventName: 'trial.started' } });
    expect(await own.done('PATCH', `/workflows/${id}`, { description: null })).toMatchObject({
      description: null,
      name: 'Trial',
    });
  });

  test('EVENT without an event name is a 422', async () => {
    const { id } = await own.automation();
    for (const body of [{ triggerConfig: null }, { triggerConfig: {} }, { triggerConfig: { eventName: ' ' } }]) {
      const answer = await own.call('PATCH', `/workflows/${id}`, body);
      expect([answer.status, answer.body.error.errors?.[0].field]).toEqual([422, 'triggerConfig.eventName']);
    }
    expect((await own.call('PATCH', `/workflows/${id}`, { triggerType: 'NEVER' })).body.error.errors).toMatchObject([
      { field: 'triggerType', code: 'invalid_enum_value' },
    ]);
    await own.done('PATCH', `/workflows/${id}`, { triggerType: 'MANUAL', triggerConfig: null });
    expect((await own.call('PATCH', `/workflows/${id}`, { triggerType: 'EVENT' })).status).toBe(422);
  });

  test('a workflow with nothing but a TRIGGER can be enabled', async () => {
    const { id } = await own.automation();
    expect(await own.done('PATCH', `/workflows/${id}`, { enabled: true })).toMatchObject({ enabled: true });
    expect(await own.done('PATCH', `/workflows/${id}`, { enabled: false })).toMatchObject({ enabled: false });
  });

  test('enabling an incomplete graph is a 422 with an entry for each problem that names the step and the field', async () => {
    const { id } = await own.automation();
    const mail = await own.step(id, 'SEND_EMAIL', {}, { name: 'Welcome mail' });
    const wait = await own.step(id, 'DELAY', { amount: -1, unit: 'weeks' }, { name: 'Wait' });
    const hook = await own.step(id, 'WEBHOOK', { url: 'ftp://x', headers: { 'bad name': 'x' } }, { name: 'Tell CRM' });
    const unreachable = await own.step(id, 'DELAY', {}, { autoConnect: false });
    const answer = await own.call('PATCH', `/workflows/${id}`, { enabled: true });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    const { errors } = answer.body.error;
    expect(errors.map(({ field }: { field: string }) => field)).toEqual([
      `steps.${mail}.templateId`,
      `steps.${wait}.config.amount`,
      `steps.${wait}.config.unit`,
      `steps.${hook}.config.url`,
      `steps.${hook}.config.url`,
      `steps.${hook}.config.headers`,
    ]);
    expect(errors[1].message).toContain('Wait');
    const { issues, enabled } = await own.done('GET', `/workflows/${id}`);
    expect(enabled).toBe(false);
    expect(issues).toHaveLength(6);
    expect(issues[0]).toEqual({ stepId: mail, field: 'templateId', message: expect.stringContaining('Welcome mail') });
    expect(issues.some(({ stepId }: { stepId: string }) => stepId === unreachable)).toBe(false);
  });

  test('tests of the data of events are checked with the graph, and by the place of what is wrong', async () => {
    const where = (...tests: unknown[]) => ({ eventName: 'order.paid', where: tests });
    const good = { path: 'order.total', operator: 'greaterThan', value: 100 };
    const { id } = await own.automation({ eventName: 'order.paid', triggerConfig: where(good) });
    expect((await own.done('GET', `/workflows/${id}`)).steps[0].config).toEqual(where(good));
    const wait = await own.step(id, 'WAIT_FOR_EVENT', {
      ...where({ path: 'x', operator: 'like' }),
      countsFrom: 'never',
    });
    await own.call('PATCH', `/workflows/${id}`, { triggerConfig: where(good, { path: '', operator: 'exists' }) });
    const refused = await own.call('PATCH', `/workflows/${id}`, { enabled: true });
    expect(refused.status).toBe(422);
    expect(refused.body.error.errors).toMatchObject([
      { field: 'triggerConfig.where.1.path', message: '"path" must be a non-empty string' },
      { field: expect.stringMatching(/config.where.1.path$/) },
      { field: `steps.${wait}.config.where.0.operator`, message: expect.stringContaining('"operator" must be one of') },
      { field: `steps.${wait}.config.countsFrom` },
    ]);
    await own.call('PATCH', `/workflows/${id}/steps/${wait}`, { config: { ...where(good), countsFrom: 'entry' } });
    expect((await own.call('PATCH', `/workflows/${id}`, { triggerConfig: where(good), enabled: true })).status).toBe(
      200,
    );
    const six = await own.call('PATCH', `/workflows/${id}`, { triggerConfig: where(...Array(6).fill(good)) });
    expect(six.body.error.errors).toMatchObject([
      { field: 'triggerConfig.where', message: '"where" must be an array of 1 to 5 tests of the event\'s data' },
    ]);
    const plain = await own.automation({
      eventName: 'order.paid',
      triggerConfig: { eventName: 'order.paid', where: null },
    });
    expect((await own.done('GET', `/workflows/${plain.id}`)).steps[0].config).toEqual({ eventName: 'order.paid' });
  });

  test('exits are part of the graph: saved, pinned and compared with it, checked with it, and a use of what they name', async () => {
    const { id } = await own.automation();
    const bare = await own.done('GET', `/workflows/${id}`);
    expect(bare.exits).toEqual([]);
    const exit = { id: 'bought', on: { event: 'order.paid' }, reason: 'bought' };
    const change = (exits: unknown) => own.call('PATCH', `/workflows/${id}`, { exits });
    const refused = [
      [{ ...exit, on: { event: 'a', leavesSegment: randomUUID() } }, 'exits.0.on'],
      [{ ...exit, on: {} }, 'exits.0.on'],
      [{ ...exit, on: { event: 'a', where: [{ path: 'x', operator: 'like' }] } }, 'exits.0.on.where.0.operator'],
      [{ ...exit, reason: '' }, 'exits.0.reason'],
    ] as const;
    for (const [wrong, field] of refused) expect((await change([wrong])).body.error.errors).toMatchObject([{ field }]);
    expect((await change([exit, exit])).status).toBe(422);
    await own.done('PATCH', `/workflows/${id}`, { exits: [exit] });
    const { steps, transitions, exits, issues } = await own.done('GET', `/workflows/${id}`);
    expect([exits, issues]).toEqual([[exit], []]);
    const graph = { steps, transitions, dryRun: false };
    const kept = await own.done('PUT', `/workflows/${id}/graph`, graph);
    expect([kept.workflow.exits, kept.changes.steps]).toEqual([[exit], []]);
    await own.done('PATCH', `/workflows/${id}`, { triggerConfig: { eventName: 'user.renamed' } });
    expect((await own.done('GET', `/workflows/${id}`)).exits).toEqual([exit]);
    const lost = { ...exit, on: { leavesSegment: randomUUID() } };
    const put = await own.done('PUT', `/workflows/${id}/graph`, { ...graph, exits: [lost] });
    expect(put.changes.steps).toMatchObject([{ type: 'TRIGGER', change: 'changed', fields: ['config'] }]);
    expect(put.workflow.issues).toMatchObject([
      { field: 'config.exits.0.on.leavesSegment', message: expect.stringContaining('tracks its membership') },
    ]);
    await own.done('PUT', `/workflows/${id}/graph`, { ...graph, exits: null });
    expect((await own.done('GET', `/workflows/${id}`)).steps[0].config).toEqual({ eventName: 'user.renamed' });
  });

  test('a goal is part of the graph: saved, pinned, hashed and compared with it, checked with it, and a use of what it names', async () => {
    const { id } = await own.automation();
    const bare = await own.done('GET', `/workflows/${id}`);
    expect(bare.goal).toBeNull();
    const goal = { on: { event: 'order.paid' }, withinDays: 14, then: 'count' };
    const change = (given: unknown) => own.call('PATCH', `/workflows/${id}`, { goal: given });
    const onTrigger = { logic: 'AND', groups: [{ filters: [{ field: 'trigger.plan', operator: 'exists' }] }] };
    const refused = [
      [{ ...goal, on: { event: 'a', leavesSegment: randomUUID() } }, 'goal.on'],
      [{ ...goal, on: { condition: onTrigger } }, 'goal.on.condition'],
      [{ ...goal, on: { event: 'a', where: [{ path: 'x', operator: 'like' }] } }, 'goal.on.where.0.operator'],
      [{ ...goal, withinDays: 366 }, 'goal.withinDays'],
      [{ ...goal, withinDays: 0 }, 'goal.withinDays'],
      [{ ...goal, then: 'stop' }, 'goal.then'],
    ] as const;
    for (const [wrong, field] of refused) expect((await change(wrong)).body.error.errors).toMatchObject([{ field }]);
    await own.done('PATCH', `/workflows/${id}`, { goal });
    const { steps, transitions, ...saved } = await own.done('GET', `/workflows/${id}`);
    expect([saved.goal, saved.issues]).toEqual([goal, []]);
    const graph = { steps, transitions, dryRun: false };
    const kept = await own.done('PUT', `/workflows/${id}/graph`, graph);
    expect([kept.workflow.goal, kept.changes.steps]).toEqual([goal, []]);
    await own.done('PATCH', `/workflows/${id}`, { exits: [{ id: 'a', on: { event: 'b' }, reason: 'c' }] });
    await own.done('PATCH', `/workflows/${id}`, { triggerConfig: { eventName: 'user.renamed' } });
    expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({ goal, exits: [{ id: 'a' }] });
    await own.done('PATCH', `/workflows/${id}`, { exits: null });
    const lost = { ...goal, on: { leavesSegment: randomUUID() } };
    const put = await own.done('PUT', `/workflows/${id}/graph`, { ...graph, goal: lost });
    expect(put.changes.steps).toMatchObject([{ type: 'TRIGGER', change: 'changed', fields: ['config'] }]);
    expect(put.workflow.issues).toMatchObject([
      { field: 'config.goal.on.leavesSegment', message: expect.stringContaining('tracks its membership') },
    ]);
    const segment = await own.done('POST', '/segments', { name: 'Trial', type: 'STATIC', trackMembership: true });
    const member = { field: `segment.${segment.id}`, operator: 'memberOfSegment' };
    for (const on of [
      { leavesSegment: segment.id },
      { condition: { logic: 'AND', groups: [{ filters: [member] }] } },
    ]) {
      await own.done('PATCH', `/workflows/${id}`, { goal: { ...goal, on } });
      expect((await own.call('DELETE', `/segments/${segment.id}`)).status).toBe(409);
    }
    await own.done('PUT', `/workflows/${id}/graph`, { ...graph, goal: null });
    expect((await own.done('GET', `/workflows/${id}`)).steps[0].config).toEqual({ eventName: 'user.renamed' });
    expect(await own.done('GET', `/workflows/${id}/goal?by=version`)).toEqual({
      goal: null,
      ...{ entered: 0, met: 0, metOnEntry: 0, open: 0, rate: null, interval: null, medianSeconds: null, since: null },
      groups: [],
    });
    expect((await own.call('GET', `/workflows/${randomUUID()}/goal`)).status).toBe(404);
  });

  test('what was enabled can be edited into a bad state; enabling it again cannot', async () => {
    const { id } = await own.automation();
    await own.enable(id);
    await own.step(id, 'DELAY', {});
    await own.enable(id);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    expect((await own.call('PATCH', `/workflows/${id}`, { enabled: true })).status).toBe(422);
  });

  test.each([
    ['no cron', {}, 'triggerConfig.schedule'],
    ['a bad cron', { schedule: '61 * * * *', segmentId: randomUUID() }, 'triggerConfig.schedule'],
    ['a cron of six fields', { schedule: '0 0 9 * * *', segmentId: randomUUID() }, 'triggerConfig.schedule'],
    [
      'a bad time zone',
      { schedule: '0 9 * * *', timezone: 'Mars/Base', segmentId: randomUUID() },
      'triggerConfig.timezone',
    ],
    ['no audience', { schedule: '0 9 * * *' }, 'triggerConfig.segmentId'],
    ['an unknown segment', { schedule: '0 9 * * *', segmentId: randomUUID() }, 'triggerConfig.segmentId'],
    [
      'a bad condition',
      { schedule: '0 9 * * *', audienceCondition: { logic: 'XOR', groups: [] } },
      'triggerConfig.audienceCondition',
    ],
  ])('a SCHEDULE with %s cannot be enabled', async (_, triggerConfig, field) => {
    const { id } = await own.automation();
    const answer = await own.call('PATCH', `/workflows/${id}`, {
      triggerType: 'SCHEDULE',
      triggerConfig,
      enabled: true,
    });
    expect([answer.status, answer.body.error.errors?.[0].field]).toEqual([422, field]);
  });
});

describe('steps', () => {
  test('are connected to the newest open end, but never to one behind EXIT or CONDITION', async () => {
    const { id } = await own.automation();
    await own.step(id, 'DELAY', delay, { name: 'A' });
    await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'x' }, { name: 'B' });
    await own.step(id, 'CONDITION', plan, { name: 'C' });
    await own.step(id, 'EXIT', {}, { name: 'D' });
    await own.step(id, 'DELAY', delay, { name: 'E', autoConnect: false });
    await own.step(id, 'EXIT', {}, { name: 'F' });
    expect(await own.ways(id)).toEqual(['A → B', 'B → C', 'E → F', 'Trigger: user.signup → A']);
  });

  test.each(['type', 'name', 'position', 'config'])('a step without %s is a bare 400', async (field) => {
    const { id } = await own.automation();
    const body = { type: 'EXIT', name: 'x', position: { x: 0, y: 0 }, config: {}, [field]: undefined };
    const answer = await own.call('POST', `/workflows/${id}/steps`, body);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringContaining(field) }]);
  });

  test.each([
    ['an unknown step type', { type: 'SMS' }, 'type', 'invalid_enum_value'],
    ['a config that is no object', { config: 'x' }, 'config', 'invalid_type'],
    ['a config of 300 KiB', { config: { x: 'x'.repeat(300_000) } }, 'config', 'too_big'],
    ['a position without y', { position: { x: 1 } }, 'position.y', 'invalid_type'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name', 'too_big'],
  ])('%s is a 422 that names the field', async (_, body, field, code) => {
    const { id } = await own.automation();
    const whole = { type: 'EXIT', name: 'x', position: { x: 0, y: 0 }, config: {}, ...body };
    const answer = await own.call('POST', `/workflows/${id}/steps`, whole);
    expect([answer.status, answer.body.error.errors?.[0]]).toMatchObject([422, { field, code }]);
  });

  test('a second TRIGGER is a 400, and the config of the first is not changed here', async () => {
    const { id, trigger } = await own.automation();
    const body = { type: 'TRIGGER', name: 'x', position: { x: 0, y: 0 }, config: {} };
    expect((await own.call('POST', `/workflows/${id}/steps`, body)).status).toBe(400);
    expect((await own.call('PATCH', `/workflows/${id}/steps/${trigger}`, { config: {} })).status).toBe(400);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${trigger}`)).status).toBe(400);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${trigger}?splice=true`)).status).toBe(400);
    const moved = { name: 'Start', position: { x: 1, y: 2 } };
    expect(await own.done('PATCH', `/workflows/${id}/steps/${trigger}`, moved)).toMatchObject(moved);
  });

  test('config and templateId of a mail name one template', async () => {
    const { id } = await own.automation();
    const [one, two] = [await own.template('One'), await own.template('Two')];
    const step = await own.step(id, 'SEND_EMAIL', { templateId: one, keep: 1 });
    const read = async () => (await own.done('GET', `/workflows/${id}`)).steps[1];
    expect(await read()).toMatchObject({
      templateId: one,
      template: { id: one, name: 'One' },
      config: { templateId: one, keep: 1 },
    });
    const path = `/workflows/${id}/steps/${step}`;
    expect(await own.done('PATCH', path, { templateId: two })).toMatchObject({
      templateId: two,
      config: { templateId: two },
    });
    expect(await own.done('PATCH', path, { config: {} })).toMatchObject({
      templateId: two,
      config: { templateId: two },
    });
    expect(await own.done('PATCH', path, { config: { templateId: one } })).toMatchObject({ templateId: one });
    expect(await own.done('PATCH', path, { config: { templateId: one }, templateId: two })).toMatchObject({
      templateId: two,
      config: { templateId: two },
    });
    expect(await own.done('PATCH', path, { templateId: null })).toMatchObject({ templateId: null, config: {} });
    const foreign = await other.template();
    for (const templateId of [foreign, randomUUID(), 'nonsense']) {
      expect((await own.call('PATCH', path, { templateId })).body.error.code).toBe('TEMPLATE_NOT_FOUND');
      expect((await own.call('PATCH', path, { config: { templateId } })).status).toBe(404);
    }
  });

  test('a webhook whose template does not parse is a 400 with its place', async () => {
    const { id } = await own.automation();
    const config = { url: 'https://hooks.acme.test/x', body: { who: ['{{ email', 'x'] } };
    const body = { type: 'WEBHOOK', name: 'x', position: { x: 0, y: 0 }, config };
    const answer = await own.call('POST', `/workflows/${id}/steps`, body);
    expect([answer.status, answer.body.error.code, answer.body.error.details]).toMatchObject([
      400,
      'VALIDATION_ERROR',
      { field: 'config.body.who.0', line: 1 },
    ]);
  });

  test('a step of another workflow is a 404', async () => {
    const [one, two] = [await own.automation(), await own.automation()];
    for (const stepId of [two.trigger, randomUUID(), 'nonsense']) {
      const answer = await own.call('PATCH', `/workflows/${one.id}/steps/${stepId}`, { name: 'Mine' });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect((await own.call('DELETE', `/workflows/${one.id}/steps/${stepId}`)).status).toBe(404);
    }
  });

  test('deleting one takes everything behind it, even what another path leads to', async () => {
    const { id, trigger } = await own.automation();
    const condition = await own.step(id, 'CONDITION', plan, { name: 'C' });
    const yes = await own.step(id, 'DELAY', delay, { name: 'Y', autoConnect: false });
    const no = await own.step(id, 'DELAY', delay, { name: 'N', autoConnect: false });
    const end = await own.step(id, 'EXIT', {}, { name: 'E', autoConnect: false });
    await own.connect(id, condition, yes, { branch: 'yes' });
    await own.connect(id, condition, no, { branch: 'no' });
    await own.connect(id, yes, end);
    await own.connect(id, no, end);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${condition}?splice=true`)).status).toBe(400);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${yes}`)).status).toBe(204);
    expect(await own.ways(id)).toEqual(['C → N (no)', 'Trigger: user.signup → C']);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${condition}?splice=1`)).status).toBe(204);
    expect((await own.done('GET', `/workflows/${id}`)).steps.map((step: { id: string }) => step.id)).toEqual([trigger]);
  });

  test.each(['', '?splice=true'])('deleting one%s is the same by an ID in capitals', async (query) => {
    const { id } = await own.automation();
    const first = await own.step(id, 'DELAY', delay, { name: 'F' });
    await own.step(id, 'EXIT', {}, { name: 'E' });
    expect((await own.call('DELETE', `/workflows/${id}/steps/${first.toUpperCase()}${query}`)).status).toBe(204);
    const names = (await own.done('GET', `/workflows/${id}`)).steps.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Trigger: user.signup', ...(query ? ['E'] : [])]);
    expect(await own.ways(id)).toEqual(query ? ['Trigger: user.signup → E'] : []);
  });

  test('splice lets what leads to a step lead to what follows it', async () => {
    const { id } = await own.automation();
    const condition = await own.step(id, 'CONDITION', plan, { name: 'C' });
    const middle = await own.step(id, 'DELAY', delay, { name: 'M', autoConnect: false });
    const end = await own.step(id, 'EXIT', {}, { name: 'E' });
    await own.connect(id, condition, middle, { branch: 'yes' });
    await own.connect(id, condition, middle, { branch: 'no' });
    expect((await own.call('DELETE', `/workflows/${id}/steps/${middle}?splice=true`)).status).toBe(204);
    expect(await own.ways(id)).toEqual(['C → E (no)', 'C → E (yes)', 'Trigger: user.signup → C']);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${end}?splice=true`)).status).toBe(204);
    expect(await own.ways(id)).toEqual(['Trigger: user.signup → C']);
  });

  test('a wait that leads to two steps cannot be spliced, one that leads to one can', async () => {
    const { id } = await own.automation();
    const wait = await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'x', timeout: 60 }, { name: 'W' });
    const [one, two] = [
      await own.step(id, 'EXIT', {}, { name: '1', autoConnect: false }),
      await own.step(id, 'EXIT', {}, { name: '2', autoConnect: false }),
    ];
    await own.connect(id, wait, one, { waitOutcome: 'EVENT' });
    const timeout = await own.connect(id, wait, two, { waitOutcome: 'TIMEOUT' });
    expect((await own.call('DELETE', `/workflows/${id}/steps/${wait}?splice=true`)).status).toBe(400);
    await own.done('DELETE', `/workflows/${id}/transitions/${timeout}`);
    expect((await own.call('DELETE', `/workflows/${id}/steps/${wait}?splice=true`)).status).toBe(204);
    expect(await own.ways(id)).toEqual(['Trigger: user.signup → 1']);
  });
});

describe('transitions', () => {
  test('out of a condition carry their branch, in either form', async () => {
    const { id } = await own.automation();
    const condition = await own.step(id, 'CONDITION', plan);
    const [one, two] = [
      await own.step(id, 'EXIT', {}, { autoConnect: false }),
      await own.step(id, 'EXIT', {}, { autoConnect: false }),
    ];
    const path = `/workflows/${id}/transitions`;
    expect(
      await own.done('POST', path, { fromStepId: condition, toStepId: one, condition: { branch: 'yes' } }),
    ).toMatchObject({
      condition: { branch: 'yes' },
      branch: 'yes',
      waitOutcome: null,
      priority: 0,
    });
    const both = { fromStepId: condition, toStepId: two, condition: { branch: 'no' }, branch: 'yes' };
    expect((await own.call('POST', path, both)).status).toBe(422);
    expect(await own.done('POST', path, { ...both, branch: 'no', priority: 3 })).toMatchObject({
      branch: 'no',
      priority: 3,
    });
    expect((await own.call('POST', path, { ...both, branch: 'no' })).status).toBe(400);
    expect((await own.call('POST', path, { fromStepId: condition, toStepId: two, branch: 'maybe' })).status).toBe(400);
    expect((await own.call('POST', path, { fromStepId: condition, toStepId: two, priority: -1 })).status).toBe(422);
    expect((await own.call('POST', path, { fromStepId: condition, toStepId: two })).status).toBe(201);
  });

  test('out of a condition with many branches name one of them or "default"', async () => {
    const { id } = await own.automation();
    const branches = [{ id: 'big', operator: 'greaterThan', value: 500 }];
    const condition = await own.step(id, 'CONDITION', { mode: 'multi', field: 'event.total', branches });
    const exit = await own.step(id, 'EXIT', {}, { autoConnect: false });
    const answer = await own.call('POST', `/workflows/${id}/transitions`, {
      fromStepId: condition,
      toStepId: exit,
      branch: 'yes',
    });
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('CONDITION')]);
    await own.connect(id, condition, exit, { branch: 'big' });
    await own.connect(id, condition, exit, { branch: 'default' });
    await own.enable(id);
  });

  test('out of a wait carry its outcome, in either form', async () => {
    const { id } = await own.automation();
    const wait = await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'x', timeout: 60 });
    const endless = await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'x' }, { autoConnect: false });
    const exit = await own.step(id, 'EXIT', {}, { autoConnect: false });
    const refuse = async (body: object) =>
      (await own.call('POST', `/workflows/${id}/transitions`, { toStepId: exit, ...body })).status;
    expect(await refuse({ fromStepId: endless, waitOutcome: 'TIMEOUT' })).toBe(400);
    expect(await refuse({ fromStepId: wait, branch: 'yes' })).toBe(400);
    expect(await refuse({ fromStepId: wait, waitOutcome: 'NEVER' })).toBe(422);
    const created = await own.done('POST', `/workflows/${id}/transitions`, {
      fromStepId: wait,
      toStepId: exit,
      condition: { branch: 'timeout' },
    });
    expect(created).toMatchObject({ waitOutcome: 'TIMEOUT', branch: null, condition: null });
    expect(await refuse({ fromStepId: wait, waitOutcome: 'TIMEOUT' })).toBe(400);
    await own.connect(id, wait, exit, { waitOutcome: 'EVENT' });
    expect(await refuse({ fromStepId: wait, waitOutcome: 'EVENT' })).toBe(400);
    await own.connect(id, endless, exit);
    expect(await refuse({ fromStepId: endless, waitOutcome: 'EVENT' })).toBe(400);
  });

  test('of a step without branches: one, and plain', async () => {
    const { id } = await own.automation();
    const wait = await own.step(id, 'DELAY', delay, { name: 'Wait a bit' });
    const [one, two] = [
      await own.step(id, 'EXIT', {}, { autoConnect: false }),
      await own.step(id, 'EXIT', {}, { autoConnect: false }),
    ];
    const send = (body: object) => own.call('POST', `/workflows/${id}/transitions`, body);
    const branched = await send({ fromStepId: wait, toStepId: one, branch: 'yes' });
    expect([branched.status, branched.body.error.message]).toEqual([400, expect.stringContaining('Wait a bit')]);
    expect((await send({ fromStepId: wait, toStepId: one, waitOutcome: 'EVENT' })).status).toBe(400);
    await own.connect(id, wait, one);
    expect((await send({ fromStepId: wait, toStepId: two })).status).toBe(400);
    expect((await send({ fromStepId: one, toStepId: two })).body.error.message).toContain('EXIT');
  });

  test('into the TRIGGER, to the step itself, in a cycle and across workflows are refused', async () => {
    const [{ id, trigger }, elsewhere] = [await own.automation(), await own.automation()];
    const one = await own.step(id, 'DELAY', delay, { name: 'One' });
    const two = await own.step(id, 'DELAY', delay, { name: 'Two' });
    const send = async (fromStepId: unknown, toStepId: unknown) => {
      const { status, body } = await own.call('POST', `/workflows/${id}/transitions`, { fromStepId, toStepId });
      return [status, body.error?.message ?? body.error];
    };
    expect(await send(two, one)).toEqual([400, expect.stringMatching(/One.*Two.*cycle/)]);
    expect(await send(two, two)).toEqual([400, expect.stringContaining('Two')]);
    expect((await send(two, trigger))[0]).toBe(400);
    expect((await send(two, elsewhere.trigger))[0]).toBe(404);
    expect((await send(elsewhere.trigger, two))[0]).toBe(404);
    expect((await send('nonsense', two))[0]).toBe(404);
    expect(await send(undefined, two)).toEqual([400, '"fromStepId" is required']);
    expect(await send(two, '')).toEqual([400, '"toStepId" is required']);
    expect((await own.call('DELETE', `/workflows/${id}/transitions/${randomUUID()}`)).status).toBe(404);
  });

  test('a step is put between two: the first keeps its condition, a condition leads on by its first branch', async () => {
    const { id } = await own.automation();
    const condition = await own.step(id, 'CONDITION', plan, { name: 'C' });
    const exit = await own.step(id, 'EXIT', {}, { name: 'E', autoConnect: false, position: { x: 300, y: 400 } });
    const way = await own.connect(id, condition, exit, { branch: 'no' });
    const path = `/workflows/${id}/transitions/${way}/insert-step`;
    const inserted = await own.done('POST', path, { type: 'DELAY', name: 'D', config: delay });
    expect(inserted).toMatchObject({ type: 'DELAY', position: { x: 200, y: 300 } });
    expect(await own.ways(id)).toEqual(['C → D (no)', 'D → E', 'Trigger: user.signup → C']);
    const multi = { mode: 'multi', field: 'data.plan', branches: [{ id: 'a', operator: 'exists' }] };
    await own.done('POST', path, { type: 'CONDITION', name: 'M', config: multi, position: { x: 1, y: 1 } });
    expect(await own.ways(id)).toEqual(['C → M (no)', 'D → E', 'M → D (default)', 'Trigger: user.signup → C']);
    for (const type of ['TRIGGER', 'EXIT'])
      expect((await own.call('POST', path, { type, name: 'x', config: {} })).status).toBe(400);
    expect((await own.call('POST', path, { type: 'DELAY', name: 'x' })).body).toEqual({
      error: '"config" is required',
    });
    expect(
      (await own.call('POST', path.replace(way, randomUUID()), { type: 'DELAY', name: 'x', config: {} })).status,
    ).toBe(404);
  });
});

describe('what relies on what', () => {
  test('a template that a step uses cannot be deleted, and its usage names the step', async () => {
    const { id } = await own.automation({ name: 'Welcome series' });
    const template = await own.template();
    const step = await own.step(id, 'SEND_EMAIL', { templateId: template }, { name: 'First mail' });
    expect(await own.done('GET', `/templates/${template}/usage`)).toMatchObject({
      workflowSteps: 1,
      steps: [{ id: step, name: 'First mail', type: 'SEND_EMAIL', workflowId: id, workflowName: 'Welcome series' }],
    });
    const refused = await own.call('DELETE', `/templates/${template}`);
    expect([refused.status, refused.body.error.details]).toEqual([409, { steps: 1 }]);
    const bulk = { ids: [template, await own.template()], delete: true };
    expect((await own.call('POST', '/templates/bulk-update', bulk)).status).toBe(409);
    await own.done('DELETE', `/workflows/${id}/steps/${step}`);
    await own.done('DELETE', `/templates/${template}`);
  });

  test('a segment that a schedule lets in cannot be deleted', async () => {
    const segment = await own.done('POST', '/segments', { name: 'Beta', type: 'STATIC' });
    const { id } = await own.automation();
    const triggerConfig = { schedule: '0 9 * * MON', segmentId: segment.id };
    await own.done('PATCH', `/workflows/${id}`, { triggerType: 'SCHEDULE', triggerConfig });
    expect((await own.call('DELETE', `/segments/${segment.id}`)).status).toBe(409);
    await own.done('DELETE', `/workflows/${id}`);
    await own.done('DELETE', `/segments/${segment.id}`);
  });

  test('events and fields tell which workflows use them, and cannot be deleted meanwhile', async () => {
    const hand = automationHand(api, await aProject(database, 'Uses'));
    const { id } = await hand.automation({ name: 'Paid', eventName: 'trial.started' });
    await hand.step(id, 'WAIT_FOR_EVENT', { eventName: 'order.paid' });
    await hand.step(id, 'UPDATE_CONTACT', { updates: { stage: 'paid' } });
    await hand.step(id, 'CONDITION', { field: 'contact.data.plan', operator: 'exists' });
    const contactId = await hand.contact(ben, { plan: 'x', stage: 'y' });
    for (const name of ['trial.started', 'order.paid']) {
      await hand.done('POST', '/events/track', { name, contactId });
      expect(await hand.done('GET', `/events/${name}/usage`)).toMatchObject({
        usedInWorkflows: [{ id, name: 'Paid' }],
        canDelete: false,
      });
      expect((await hand.call('DELETE', `/events/${name}`)).status).toBe(400);
    }
    for (const field of ['data.plan', 'data.stage'])
      expect(await hand.done('GET', `/contacts/fields/${field}/usage`)).toMatchObject({
        usedInWorkflows: [{ id, name: 'Paid' }],
        canDelete: false,
      });
    expect((await hand.done('GET', '/contacts/fields/email/usage')).usedInWorkflows).toEqual([]);
  });
});
