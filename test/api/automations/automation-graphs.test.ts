import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins } from '../../support/people.ts';
import { addresses } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let other: AutomationHand;
const [anna = '', ben = '', clara = ''] = addresses(3);

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

const withTag = (method: string, path: string, body: unknown, ifMatch: string) =>
  api.call(project.secretKey, method, path, body, { 'If-Match': ifMatch });

/** TRIGGER → Wait (30 days) → Done. */
async function waiting() {
  const { id, trigger } = await own.automation();
  const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' }, { name: 'Wait a month' });
  const done = await own.step(id, 'EXIT', {}, { name: 'Done', position: { x: 100, y: 400 } });
  return { id, trigger, wait, done };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by the assertions.
type Graph = any;

/** The graph as it is, as a request has it. */
async function graphOf(id: string): Promise<Graph> {
  const { steps, transitions } = await own.done('GET', `/workflows/${id}`);
  return {
    steps: steps.map(({ id: step, type, name, position, config, templateId }: Graph) => ({
      id: step,
      type,
      name,
      position,
      config,
      templateId,
    })),
    transitions: transitions.map(({ fromStepId, toStepId, branch, waitOutcome, priority }: Graph) => ({
      fromStepId,
      toStepId,
      branch,
      waitOutcome,
      priority,
    })),
  };
}

describe('two who edit one workflow', () => {
  test('see its revision as ETag, and get another one with every edit', async () => {
    const { id, wait, done, trigger } = await waiting();
    const read = await own.call('GET', `/workflows/${id}`);
    const revision: number = read.body.revision;
    expect(read.headers.get('etag')).toBe(`"${revision}"`);
    const edits: [string, string, unknown?][] = [
      ['PATCH', `/workflows/${id}`, { name: 'Renamed' }],
      ['PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Wait' }],
      [
        'POST',
        `/workflows/${id}/steps`,
        { type: 'EXIT', name: 'x', position: { x: 0, y: 0 }, config: {}, autoConnect: false },
      ],
      ['DELETE', `/workflows/${id}/steps/${done}`],
      ['POST', `/workflows/${id}/transitions`, null],
    ];
    let tag = `"${revision}"`;
    let newest = '';
    for (const [method, path, body] of edits) {
      const given = body === null ? { fromStepId: wait, toStepId: newest } : body;
      const answer = await withTag(method, path, given, tag);
      expect([path, answer.status < 300]).toEqual([path, true]);
      expect(answer.headers.get('etag')).not.toBe(tag);
      tag = answer.headers.get('etag') ?? '';
      newest = answer.body?.id ?? newest;
    }
    const { transitions } = await own.done('GET', `/workflows/${id}`);
    const way = transitions.find(({ fromStepId }: Graph) => fromStepId === trigger).id;
    const step = { type: 'DELAY', name: 'Between', config: { amount: 1, unit: 'days' } };
    const inserted = await withTag('POST', `/workflows/${id}/transitions/${way}/insert-step`, step, tag);
    expect(inserted.status).toBe(201);
    const removed = await withTag(
      'DELETE',
      `/workflows/${id}/transitions/${way}`,
      undefined,
      inserted.headers.get('etag') ?? '',
    );
    expect([removed.status, removed.headers.get('etag')]).toEqual([204, `"${revision + 7}"`]);
  });

  test('are told who was faster and when, by a 412 that changes nothing', async () => {
    const { id, wait } = await waiting();
    const person = await aPerson(database.db, api.config);
    await joins(database.db, project.id, person, 'MEMBER');
    const { revision } = await own.done('GET', `/workflows/${id}`);
    const byPerson = await api.call(
      null,
      'PATCH',
      `/workflows/${id}/steps/${wait}`,
      { name: 'Theirs' },
      {
        ...person.session,
        'X-Project-Id': project.id,
      },
    );
    expect(byPerson.status).toBe(200);
    const before = await graphOf(id);
    const stale = `"${revision}"`;
    for (const [method, path, body] of [
      ['PATCH', `/workflows/${id}`, { enabled: true }],
      ['PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Mine' }],
      ['DELETE', `/workflows/${id}/steps/${wait}`, undefined],
      ['PUT', `/workflows/${id}/graph`, before],
      ['PUT', `/workflows/${id}/graph`, { ...before, dryRun: true }],
      ['DELETE', `/workflows/${id}`, undefined],
    ] as const) {
      const refused = await withTag(method, path, body, stale);
      expect([path, refused.status]).toEqual([path, 412]);
      expect(refused.body.error).toMatchObject({
        code: 'PRECONDITION_FAILED',
        statusCode: 412,
        message: expect.stringContaining(person.email),
        details: {
          resource: 'workflow',
          id,
          revision: revision + 1,
          changedAt: expect.stringMatching(/Z$/),
          changedBy: { kind: 'user', id: person.id, email: person.email },
        },
      });
      expect(refused.headers.get('etag')).toBe(`"${revision + 1}"`);
    }
    expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({
      revision: revision + 1,
      enabled: false,
      editedBy: { kind: 'user', email: person.email },
    });
    expect(await graphOf(id)).toEqual(before);
  });

  test('of two edits that were made of the same revision at the same time exactly one is made', async () => {
    const { id, wait } = await waiting();
    const { revision } = await own.done('GET', `/workflows/${id}`);
    const names = ['one', 'two', 'three', 'four', 'five'];
    const answers = await Promise.all(
      names.map((name) => withTag('PATCH', `/workflows/${id}/steps/${wait}`, { name }, `"${revision}"`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
  });

  test('go on as before when they send no If-Match, or any', async () => {
    const { id, wait } = await waiting();
    expect((await own.call('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'One' })).status).toBe(200);
    expect((await withTag('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Two' }, '*')).status).toBe(200);
    const { revision } = await own.done('GET', `/workflows/${id}`);
    // A proxy that compresses makes tags weak; a client may know several.
    const listed = `"1", W/"${revision}"`;
    expect((await withTag('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Three' }, listed)).status).toBe(200);
    const broken = await withTag('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'Four' }, 'seven');
    expect([broken.status, broken.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('PUT /workflows/{id}/graph', () => {
  test('makes a whole graph in one request: steps stay who they are, new ones get ids, one revision', async () => {
    const { id, trigger, wait, done } = await waiting();
    const graph = await graphOf(id);
    const { revision, transitions: before } = await own.done('GET', `/workflows/${id}`);
    const body = {
      steps: [
        ...graph.steps.filter((step: Graph) => step.id !== done),
        {
          id: 'ask',
          type: 'WAIT_FOR_EVENT',
          name: 'An order?',
          position: { x: 0, y: 300 },
          config: { eventName: 'order.paid', timeout: 60 },
        },
        { id: 'thanks', type: 'EXIT', name: 'Thanks', position: { x: 0, y: 400 }, config: { reason: 'paid' } },
      ],
      transitions: [
        { fromStepId: trigger, toStepId: wait },
        { fromStepId: wait, toStepId: 'ask' },
        { fromStepId: 'ask', toStepId: 'thanks', waitOutcome: 'EVENT' },
      ],
    };
    const answer = await own.call('PUT', `/workflows/${id}/graph`, body);
    expect(answer.status).toBe(200);
    const { ids, changes, workflow, migration, dryRun } = answer.body;
    expect([dryRun, migration, workflow.revision, answer.headers.get('etag')]).toEqual([
      false,
      null,
      revision + 1,
      `"${revision + 1}"`,
    ]);
    expect(Object.keys(ids).sort()).toEqual(['ask', 'thanks']);
    expect(changes.steps).toEqual([
      { id: ids.ask, name: 'An order?', type: 'WAIT_FOR_EVENT', change: 'added', fields: [] },
      { id: ids.thanks, name: 'Thanks', type: 'EXIT', change: 'added', fields: [] },
      { id: done, name: 'Done', type: 'EXIT', change: 'removed', fields: [] },
    ]);
    expect(await own.ways(id)).toEqual([
      'An order? → Thanks (EVENT)',
      'Trigger: user.signup → Wait a month',
      'Wait a month → An order?',
    ]);
    const kept = before.find(({ fromStepId }: Graph) => fromStepId === trigger).id;
    expect(workflow.transitions.map((way: Graph) => way.id)).toContain(kept);
    expect(await own.done('GET', `/workflows/${id}`)).toEqual(workflow);
  });

  test('brings a step back that was deleted, with the id it had', async () => {
    const { id, done } = await waiting();
    const graph = await graphOf(id);
    await own.done('DELETE', `/workflows/${id}/steps/${done}`);
    const { workflow, ids } = await own.done('PUT', `/workflows/${id}/graph`, graph);
    expect(ids).toEqual({});
    expect(workflow.steps.map((step: Graph) => step.id)).toContain(done);
  });

  test('with dryRun says what would change, what is wrong and whom it meets, and changes nothing', async () => {
    const { id, wait, done } = await waiting();
    await own.enable(id);
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact(anna) });
    const before = await own.done('GET', `/workflows/${id}`);
    const graph = await graphOf(id);
    const steps = graph.steps.map((step: Graph) =>
      step.id === wait
        ? { ...step, config: { amount: -1, unit: 'days' } }
        : step.id === done
          ? { ...step, position: { x: 9, y: 9 } }
          : step,
    );
    const told = await own.done('PUT', `/workflows/${id}/graph`, { ...graph, steps, dryRun: true });
    expect(told).toMatchObject({
      dryRun: true,
      revision: before.revision,
      ids: {},
      changes: {
        steps: [
          { id: wait, change: 'changed', fields: ['config'] },
          { id: done, change: 'moved', fields: [] },
        ],
        transitions: [],
      },
      issues: [{ stepId: wait, field: 'config.amount' }],
      people: { people: 1, toVersion: 2, rules: [{ action: 'finish', people: 1 }] },
    });
    expect(await own.done('GET', `/workflows/${id}`)).toEqual(before);
    const same = await own.done('PUT', `/workflows/${id}/graph`, { ...graph, dryRun: true });
    expect(same).toMatchObject({ changes: { steps: [], transitions: [] }, people: { toVersion: 1, people: 0 } });
  });

  test('publishes an edit of an enabled workflow with people inside, and moves them by the plan it brings', async () => {
    const { id, trigger, wait } = await waiting();
    await own.enable(id);
    const contactId = await own.contact(ben);
    const run = await own.done('POST', `/workflows/${id}/executions`, { contactId });
    const graph = await graphOf(id);
    const body = {
      steps: [
        ...graph.steps.map((step: Graph) =>
          step.id === wait ? { ...step, config: { amount: 1, unit: 'days' } } : step,
        ),
        { id: 'new', type: 'EXIT', name: 'New end', position: { x: 1, y: 1 }, config: {} },
      ],
      transitions: [
        { fromStepId: trigger, toStepId: wait },
        { fromStepId: wait, toStepId: 'new' },
      ],
      migrate: { plan: [{ stepId: trigger, action: 'moveNow', toStepId: 'new' }] },
    };
    const preview = await own.done('PUT', `/workflows/${id}/graph`, { ...body, dryRun: true });
    expect(preview.people.rules).toMatchObject([{ stepId: trigger, action: 'moveNow', people: 1 }]);
    const answer = await own.done('PUT', `/workflows/${id}/graph`, body);
    expect(answer).toMatchObject({
      workflow: { enabled: true },
      migration: { state: 'waiting', expected: 1, toVersion: 2 },
    });
    const job = await own.done('GET', `/workflows/${id}/migrations/${answer.migration.id}`);
    expect(job).toMatchObject({ workflowId: id, expected: 1 });
    // Nobody is touched before the job comes to them, and who enters now is in the new version.
    expect(await own.done('GET', `/workflows/${id}/executions/${run.id}`)).toMatchObject({ version: 1 });
    const late = await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact(clara) });
    expect(await own.done('GET', `/workflows/${id}/executions/${late.id}`)).toMatchObject({ version: 2 });
  });

  test('saves nothing when the plan cannot work', async () => {
    const { id, trigger } = await waiting();
    await own.enable(id);
    const graph = await graphOf(id);
    const body = { ...graph, steps: graph.steps.map((step: Graph) => ({ ...step, name: `${step.name}!` })) };
    const refused = await own.call('PUT', `/workflows/${id}/graph`, {
      ...body,
      migrate: { plan: [{ stepId: trigger, action: 'moveNow', toStepId: 'nowhere' }] },
    });
    expect(refused.status).toBe(422);
    expect(refused.body.error.errors).toMatchObject([{ field: 'migrate.plan.0.toStepId' }]);
    expect(await graphOf(id)).toEqual(graph);
  });

  test('takes an unfinished graph while the workflow is disabled, and refuses it with the step and field while people enter', async () => {
    const { id, wait } = await waiting();
    const graph = await graphOf(id);
    const unfinished = {
      ...graph,
      steps: graph.steps.map((step: Graph) => (step.id === wait ? { ...step, config: {} } : step)),
    };
    const { workflow } = await own.done('PUT', `/workflows/${id}/graph`, unfinished);
    expect(workflow.issues).toMatchObject([{ stepId: wait }, { stepId: wait }]);
    await own.done('PUT', `/workflows/${id}/graph`, graph);
    await own.enable(id);
    const refused = await own.call('PUT', `/workflows/${id}/graph`, unfinished);
    expect(refused.status).toBe(422);
    expect(refused.body.error.errors[0]).toMatchObject({
      field: `steps.${wait}.config.amount`,
      message: expect.stringContaining('Wait a month'),
    });
    expect(await graphOf(id)).toEqual(graph);
  });

  test.each<[string, (graph: Graph) => Graph, string]>([
    ['a missing TRIGGER', ({ steps, ...rest }) => ({ ...rest, steps: steps.slice(1), transitions: [] }), 'steps'],
    [
      'a second TRIGGER',
      (graph) => ({ ...graph, steps: [...graph.steps, { ...graph.steps[0], id: 'x' }] }),
      'steps.3.type',
    ],
    [
      'another type of a step',
      (graph) => ({
        ...graph,
        steps: graph.steps.map((step: Graph, n: number) => (n === 1 ? { ...step, type: 'EXIT' } : step)),
      }),
      'steps.1.type',
    ],
    ['one id twice', (graph) => ({ ...graph, steps: [...graph.steps, graph.steps[2]] }), 'steps.3.id'],
    [
      'an unknown type',
      (graph) => ({ ...graph, steps: [...graph.steps, { ...graph.steps[2], id: 'x', type: 'LOOP' }] }),
      'steps.3.type',
    ],
    [
      'a way to nowhere',
      (graph) => ({ ...graph, transitions: [{ fromStepId: graph.steps[1].id, toStepId: 'gone' }] }),
      'transitions.0.toStepId',
    ],
    [
      'a way to a step of another workflow',
      (graph) => ({ ...graph, transitions: [{ fromStepId: graph.steps[1].id, toStepId: randomUUID() }] }),
      'transitions.0.toStepId',
    ],
    [
      'a way to itself',
      (graph) => ({ ...graph, transitions: [{ fromStepId: graph.steps[1].id, toStepId: graph.steps[1].id }] }),
      'transitions.0',
    ],
    [
      'a way into the TRIGGER',
      (graph) => ({ ...graph, transitions: [{ fromStepId: graph.steps[1].id, toStepId: graph.steps[0].id }] }),
      'transitions.0',
    ],
    [
      'a way out of an EXIT',
      (graph) => ({ ...graph, transitions: [{ fromStepId: graph.steps[2].id, toStepId: graph.steps[1].id }] }),
      'transitions.0',
    ],
    [
      'two ways out of a plain step',
      (graph) => ({
        ...graph,
        transitions: [...graph.transitions, { fromStepId: graph.steps[0].id, toStepId: graph.steps[2].id }],
      }),
      'transitions.2',
    ],
    [
      'a branch out of a plain step',
      (graph) => ({
        ...graph,
        transitions: [{ fromStepId: graph.steps[1].id, toStepId: graph.steps[2].id, branch: 'yes' }],
      }),
      'transitions.0',
    ],
    [
      'a template that is none of the project',
      (graph) => ({
        ...graph,
        steps: [
          ...graph.steps,
          {
            ...graph.steps[2],
            id: 'x',
            type: 'SEND_EMAIL',
            templateId: undefined,
            config: { templateId: randomUUID() },
          },
        ],
      }),
      'steps.3.templateId',
    ],
    [
      'a template id that is none',
      (graph) => ({
        ...graph,
        steps: [...graph.steps, { ...graph.steps[2], id: 'x', type: 'SEND_EMAIL', templateId: 'seven' }],
      }),
      'steps.3.templateId',
    ],
    [
      'a webhook whose template does not parse',
      (graph) => ({
        ...graph,
        steps: [
          ...graph.steps,
          { ...graph.steps[2], id: 'x', type: 'WEBHOOK', config: { url: 'https://hooks.test/{{' } },
        ],
      }),
      'steps.3',
    ],
    [
      'a config that is no object',
      (graph) => ({ ...graph, steps: [...graph.steps, { ...graph.steps[2], id: 'x', config: 5 }] }),
      'steps.3.config',
    ],
  ])('%s is a 422 that names its place, and nothing is saved', async (_, change, field) => {
    const { id } = await waiting();
    const graph = await graphOf(id);
    const answer = await own.call('PUT', `/workflows/${id}/graph`, change(graph));
    expect([answer.status, answer.body.error.errors?.[0]?.field]).toEqual([422, field]);
    expect(await graphOf(id)).toEqual(graph);
  });

  test('a circle is a 422 that names a step of it', async () => {
    const { id } = await waiting();
    const graph = await graphOf(id);
    const two = ['a', 'b'].map((step) => ({
      id: step,
      type: 'DELAY',
      name: step,
      position: { x: 0, y: 0 },
      config: {},
    }));
    const answer = await own.call('PUT', `/workflows/${id}/graph`, {
      steps: [...graph.steps, ...two],
      transitions: [
        { fromStepId: 'a', toStepId: 'b' },
        { fromStepId: 'b', toStepId: 'a' },
      ],
    });
    expect(answer.body.error.errors).toEqual([
      { field: 'transitions', message: 'Step "a" leads back to itself', code: 'custom' },
    ]);
  });

  test('is a 404 for a workflow of another project, whose steps cannot be taken either', async () => {
    const { id, wait } = await waiting();
    const graph = await graphOf(id);
    expect((await other.call('PUT', `/workflows/${id}/graph`, graph)).status).toBe(404);
    const foreign = await other.automation();
    const step = { id: wait, type: 'DELAY', name: 'Mine', position: { x: 0, y: 0 }, config: {} };
    const { steps } = await other.done('GET', `/workflows/${foreign.id}`);
    const taken = await other.call('PUT', `/workflows/${foreign.id}/graph`, {
      steps: [...steps, step],
      transitions: [],
    });
    expect([taken.status, taken.body.error.errors[0].field]).toEqual([422, 'steps.1.id']);
    expect(await graphOf(id)).toEqual(graph);
  });
});

describe('the versions of a graph', () => {
  test('stay as they were, with their places, whatever becomes of the workflow', async () => {
    const { id, trigger, wait, done } = await waiting();
    const template = await own.template('Then');
    const mail = await own.step(id, 'SEND_EMAIL', { templateId: template }, { name: 'Mail', autoConnect: false });
    await own.enable(id);
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('first@acme.test') });
    const graph = await graphOf(id);
    const first = await own.done('GET', `/workflows/${id}/versions/1`);
    expect(first).toMatchObject({ version: 1, isCurrent: true });
    expect(first.steps.find((step: Graph) => step.id === mail)).toEqual({
      id: mail,
      type: 'SEND_EMAIL',
      name: 'Mail',
      config: { templateId: template },
      templateId: template,
      note: null,
      position: { x: 100, y: 200 },
      template: { id: template, name: 'Then' },
    });
    // Another arrangement of the same steps is no new version, and is what they are drawn with.
    await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { position: { x: 7, y: 8 } });
    const moved = await own.done('GET', `/workflows/${id}/versions/1`);
    expect(moved.steps.find((step: Graph) => step.id === wait).position).toEqual({ x: 7, y: 8 });
    await own.done('PUT', `/workflows/${id}/graph`, {
      steps: graph.steps.filter((step: Graph) => step.id !== wait),
      transitions: [{ fromStepId: trigger, toStepId: done }],
    });
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('second@acme.test') });
    const then = await own.done('GET', `/workflows/${id}/versions/1`);
    expect(then.isCurrent).toBe(false);
    expect(then.transitions.map(({ fromStepId, toStepId }: Graph) => [fromStepId, toStepId])).toEqual([
      [trigger, wait],
      [wait, done],
    ]);
    expect(then.steps.find((step: Graph) => step.id === wait)).toMatchObject({
      name: 'Wait a month',
      config: { amount: 30, unit: 'days' },
      position: { x: 100, y: 200 },
    });
    const list = await own.done('GET', `/workflows/${id}/versions`);
    expect(list).toMatchObject({
      total: 2,
      data: [
        { version: 2, steps: 3, active: 1, isCurrent: true },
        { version: 1, steps: 4, active: 1, isCurrent: false },
      ],
    });
  });

  test('are told of to their project alone, and a number that is none is a 404', async () => {
    const { id } = await waiting();
    await own.enable(id);
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('third@acme.test') });
    for (const version of ['1', ''])
      expect((await other.call('GET', `/workflows/${id}/versions/${version}`)).status).toBe(404);
    for (const version of ['0', '2', '-1', '1.5', 'x', '9'.repeat(30)])
      expect([version, (await own.call('GET', `/workflows/${id}/versions/${version}`)).status]).toEqual([version, 404]);
  });
});

describe('notes of steps', () => {
  test('are written with a step or a graph, stay where a write does not name them, and change nothing that runs', async () => {
    const { id, wait, done } = await waiting();
    const note = 'Ask Mira before you shorten this 🪶';
    const made = await own.done('POST', `/workflows/${id}/steps`, {
      ...{ type: 'DELAY', name: 'Noted', position: { x: 1, y: 2 }, config: { amount: 1, unit: 'days' } },
      ...{ note, autoConnect: false },
    });
    expect(made.note).toBe(note);
    await own.enable(id);
    const contactId = await own.contact('noted@acme.test');
    await own.done('POST', `/workflows/${id}/executions`, { contactId });
    // A note may be written while contacts are inside, which content may not.
    expect((await own.call('PATCH', `/workflows/${id}/steps/${wait}`, { config: {} })).status).toBe(409);
    expect((await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { note: 'Long' })).note).toBe('Long');
    expect((await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'A month' })).note).toBe('Long');

    const graph = await graphOf(id);
    const told = await own.done('PUT', `/workflows/${id}/graph`, {
      ...graph,
      steps: graph.steps.map((step: Graph) => (step.id === done ? { ...step, note: 'The end' } : step)),
      dryRun: true,
    });
    expect(told.changes.steps).toEqual([{ id: done, name: 'Done', type: 'EXIT', change: 'changed', fields: ['note'] }]);
    await own.done('PUT', `/workflows/${id}/graph`, {
      ...graph,
      steps: graph.steps.map((step: Graph) => (step.id === made.id ? { ...step, note: null } : step)),
    });
    const notes = async (path: string) =>
      Object.fromEntries((await own.done('GET', path)).steps.map((step: Graph) => [step.id, step.note] as const));
    expect(await notes(`/workflows/${id}`)).toMatchObject({ [wait]: 'Long', [done]: null, [made.id]: null });
    // Neither the name of a note nor its text makes another version once the graph runs as before.
    expect(await notes(`/workflows/${id}/versions/1`)).toMatchObject({ [wait]: 'Long' });
    const before = (await own.done('GET', `/workflows/${id}/versions`)).total;
    await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { note: '' });
    expect((await notes(`/workflows/${id}`))[wait]).toBeNull();
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('noted2@acme.test') });
    const after = await own.done('GET', `/workflows/${id}/versions`);
    expect(after.total - before).toBeLessThanOrEqual(1);
    await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { note: 'Anew' });
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('noted3@acme.test') });
    expect((await own.done('GET', `/workflows/${id}/versions`)).total).toBe(after.total);
  });

  test('are kept by a version whose steps are gone, and by a copy of the workflow', async () => {
    const { id, trigger, wait, done } = await waiting();
    await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { note: 'Kept' });
    await own.done('PATCH', `/workflows/${id}/steps/${trigger}`, { note: 'Starts by hand' });
    await own.enable(id);
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact('kept@acme.test') });
    const copy = await own.done('POST', `/workflows/${id}/duplicate`);
    const copied = await own.done('GET', `/workflows/${copy.id}`);
    expect(copied.steps.map((step: Graph) => step.note)).toEqual(['Starts by hand', 'Kept', null]);
    const graph = await graphOf(id);
    await own.done('PUT', `/workflows/${id}/graph`, {
      steps: graph.steps.filter((step: Graph) => step.id !== wait),
      transitions: [{ fromStepId: trigger, toStepId: done }],
    });
    const version = await own.done('GET', `/workflows/${id}/versions/1`);
    expect(version.steps.find((step: Graph) => step.id === wait).note).toBe('Kept');
  });

  test('of more than 2,000 characters are refused', async () => {
    const { id, wait } = await waiting();
    const refused = await own.call('PATCH', `/workflows/${id}/steps/${wait}`, { note: 'x'.repeat(2001) });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'note']);
  });
});

test('everybody who left a step is counted on the way they took: plain ways, waits and webhooks as well', async () => {
  const { id, trigger } = await own.automation();
  const ask = await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 60 }, { name: 'Ask' });
  const tell = await own.step(id, 'WEBHOOK', { url: 'https://hooks.acme.test' }, { name: 'Tell' });
  await own.enable(id);
  const taken: [string, string, string, object | null][] = [
    [trigger, 'TRIGGER', 'COMPLETED', {}],
    [trigger, 'TRIGGER', 'COMPLETED', {}],
    [ask, 'WAIT_FOR_EVENT', 'COMPLETED', { waitOutcome: 'EVENT' }],
    [ask, 'WAIT_FOR_EVENT', 'COMPLETED', { waitOutcome: 'TIMEOUT' }],
    [ask, 'WAIT_FOR_EVENT', 'WAITING', null],
    [tell, 'WEBHOOK', 'COMPLETED', { success: true, statusCode: 200 }],
    [tell, 'WEBHOOK', 'COMPLETED', { success: false, statusCode: 500 }],
    [tell, 'WEBHOOK', 'COMPLETED', { success: false, statusCode: 404 }],
    [tell, 'WEBHOOK', 'RUNNING', null],
    [tell, 'WEBHOOK', 'SKIPPED', { exited: true }],
  ];
  for (const [n, [step, type, status, output]] of taken.entries()) {
    const contactId = await own.contact(`passes-${n}@acme.test`);
    const run = await own.done('POST', `/workflows/${id}/executions`, { contactId });
    await database.db.count(
      `insert into automation_step_runs
         (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, output)
       select $2, id, project_id, contact_id, $3, 900, $4, 'x', $5, $6::jsonb from automation_runs where id = $1`,
      [run.id, randomUUID(), step, type, status, output && JSON.stringify(output)],
    );
  }
  const { steps } = await own.done('GET', `/workflows/${id}/people`);
  const branches = Object.fromEntries(steps.map((step: Graph) => [step.stepId, step.branches]));
  expect(branches).toEqual({
    [trigger]: [{ branch: 'next', count: 2 }],
    [ask]: [
      { branch: 'EVENT', count: 1 },
      { branch: 'TIMEOUT', count: 1 },
    ],
    [tell]: [
      { branch: 'failure', count: 2 },
      { branch: 'success', count: 1 },
    ],
  });
  // Who waits has not dropped off; whose step was skipped has.
  const reached = async (query = '') => {
    const { steps: all } = await own.done('GET', `/workflows/${id}/people${query}`);
    const of = (step: string) => all.find(({ stepId }: Graph) => stepId === step);
    return [ask, tell].map((step) => [of(step).reached, of(step).dropped]);
  };
  expect(await reached()).toEqual([
    [3, 0],
    [5, 1],
  ]);
  await database.db.count(
    `update automation_step_runs set started_at = now() - interval '8 days'
     where step_id = $1 and output ->> 'waitOutcome' = 'EVENT'`,
    [ask],
  );
  const recent = await own.done('GET', `/workflows/${id}/people?days=7`);
  expect(recent.steps.find(({ stepId }: Graph) => stepId === ask)).toMatchObject({
    reached: 2,
    branches: [{ branch: 'TIMEOUT', count: 1 }],
  });
  expect(await reached('?days=9')).toEqual(await reached());
  for (const days of ['0', '367', '-1', 'x', '1.5'])
    expect([days, (await own.call('GET', `/workflows/${id}/people?days=${days}`)).status]).toEqual([days, 422]);
});
