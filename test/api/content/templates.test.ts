import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const fields = () => ({
  name: 'Trial ending',
  subject: '{{firstName ?? there}}, three days left',
  body: '<p>{{plan}}</p>',
  from: project.sender,
});
const create = (own: Record<string, unknown> = {}) =>
  api.call(project.secretKey, 'POST', '/templates', { ...fields(), ...own });

describe('templates', () => {
  test.each([
    'welcome',
    'receipt',
    'newsletter',
    'invoice',
    'password-reset',
    'trial-expiring',
    'comment-notification',
  ])('the %s template is accepted and comes back to the letter', async (name) => {
    const body = readFileSync(new URL(`../../data/templates/${name}.html`, import.meta.url), 'utf8');
    const created = await create({ name, body });
    expect(created.status).toBe(201);
    expect((await api.call(project.secretKey, 'GET', `/templates/${created.body.id}`)).body).toEqual(created.body);
    expect(created.body).toMatchObject({
      name,
      body,
      type: 'MARKETING',
      description: null,
      fromName: null,
      replyTo: null,
      projectId: project.id,
    });
  });

  test('are changed in part, duplicated, and deleted', async () => {
    const { body: template } = await create({ replyTo: 'help@acme.test', description: 'Old' });
    const changed = await api.call(project.secretKey, 'PATCH', `/templates/${template.id}`, {
      description: null,
      type: 'HEADLESS',
    });
    expect(changed.body).toMatchObject({
      description: null,
      type: 'HEADLESS',
      replyTo: 'help@acme.test',
      name: 'Trial ending',
    });
    expect((await api.call(project.secretKey, 'PATCH', `/templates/${template.id}`, {})).body).toEqual(changed.body);
    const copy = await api.call(project.secretKey, 'POST', `/templates/${template.id}/duplicate`);
    expect([copy.status, copy.body.name, copy.body.type]).toEqual([201, 'Trial ending (Copy)', 'HEADLESS']);
    expect((await api.call(project.secretKey, 'DELETE', `/templates/${template.id}`)).status).toBe(204);
    expect((await api.call(project.secretKey, 'DELETE', `/templates/${template.id}`)).body.error.code).toBe(
      'TEMPLATE_NOT_FOUND',
    );
  });

  test('are listed by page, searched and sorted; what is unknown falls back', async () => {
    const own = await aProject(database);
    for (const name of ['Alpha 100%', 'Beta', 'Gamma'])
      await api.call(own.secretKey, 'POST', '/templates', {
        ...fields(),
        name,
        from: own.sender,
        type: name === 'Beta' ? 'TRANSACTIONAL' : 'MARKETING',
      });
    const list = async (query: string) => (await api.call(own.secretKey, 'GET', `/templates${query}`)).body;
    const names = async (query: string) => (await list(query)).data.map((item: { name: string }) => item.name);
    expect(await names('')).toEqual(['Gamma', 'Beta', 'Alpha 100%']);
    expect(await names('?sort=name&dir=asc')).toEqual(['Alpha 100%', 'Beta', 'Gamma']);
    expect(await names('?sort=nonsense&dir=sideways')).toEqual(['Gamma', 'Beta', 'Alpha 100%']);
    expect(await names('?search=0%25')).toEqual(['Alpha 100%']);
    expect(await names('?type=TRANSACTIONAL')).toEqual(['Beta']);
    expect(await list('?page=2&pageSize=2')).toMatchObject({ page: 2, pageSize: 2, total: 3, totalPages: 2 });
    expect(await list('?page=-1&pageSize=9999')).toMatchObject({ page: 1, pageSize: 100 });
    expect(await list('?page=9')).toMatchObject({ data: [], total: 3 });
    expect((await api.call(own.secretKey, 'GET', '/templates?type=OTHER')).status).toBe(400);
    expect(await list('?search=%00')).toMatchObject({ data: [], total: 0 });
    expect(await names('?search=%20aLPHA%20')).toEqual(['Alpha 100%']);
    expect(await list('?type=&search=&pageSize=x&page=0')).toMatchObject({ page: 1, pageSize: 20, total: 3 });
    for (const name of ['description', 'subject'])
      await api.call(own.secretKey, 'PATCH', `/templates/${(await list('?search=Gamma')).data[0].id}`, {
        [name]: `Delta in the ${name}`,
      });
    expect(await names('?search=delta+in+the+description')).toEqual(['Gamma']);
    expect(await names('?search=delta+in+the+subject')).toEqual(['Gamma']);
  });

  test('several are deleted together or not at all', async () => {
    const ids = [(await create()).body.id, (await create()).body.id];
    const unknown = '0b6f2a54-2a0e-4d0c-9d5f-7b8f0f7b1c11';
    const bulk = (body: unknown) => api.call(project.secretKey, 'POST', '/templates/bulk-update', body);
    expect((await bulk({ ids: [...ids, unknown], delete: true })).status).toBe(404);
    expect((await bulk({ ids })).body).toEqual({ updated: 0 });
    expect((await bulk({ ids: [...ids, ids[0]], delete: true })).body).toEqual({ deleted: 2 });
    expect((await bulk({ ids: [], delete: true })).status).toBe(422);
  });

  test('usage counts the mail made from a template, which keeps its content when the template goes', async () => {
    const { body: template } = await create({ type: 'TRANSACTIONAL' });
    const sent = await api.call(project.secretKey, 'POST', '/v1/send', {
      to: '9.jo@posta.example',
      template: template.id,
    });
    expect(sent.status).toBe(200);
    expect((await api.call(project.secretKey, 'GET', `/templates/${template.id}/usage`)).body).toEqual({
      workflowSteps: 0,
      emailsSent: 1,
      steps: [],
      campaigns: [],
    });
    await api.call(project.secretKey, 'DELETE', `/templates/${template.id}`);
    const row = await database.db.row<{ template_id: string | null }>('select template_id from emails where id = $1', [
      sent.body.data.emails[0].email,
    ]);
    expect(row?.template_id).toBeNull();
  });
});

/** A workflow with a step that sends a template; with `inside`, somebody is on their way through it. */
async function aWorkflow(template: string, inside = false) {
  const [workflow, step, version, contact] = [newId(), newId(), newId(), newId()];
  const sql = (text: string, values: unknown[]) => database.db.count(text, values);
  await sql(`insert into automations (id, project_id, name) values ($1, $2, 'Onboarding')`, [workflow, project.id]);
  await sql(
    `insert into automation_steps (id, automation_id, type, name, position, config, template_id)
     values ($1, $2, 'SEND_EMAIL', 'Welcome mail', '{}', '{}', $3)`,
    [step, workflow, template],
  );
  const node = { id: step, type: 'SEND_EMAIL', name: 'Welcome mail', config: {}, templateId: template };
  await sql(
    `insert into automation_versions (id, automation_id, version, graph, hash) values ($1, $2, 1, $3, '\\x00')`,
    [version, workflow, JSON.stringify({ steps: [node], transitions: [] })],
  );
  if (inside)
    await sql(
      `insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
       values ($1, $2, $3, $4, $5, 1, 'WAITING')`,
      [newId(), project.id, workflow, version, contact],
    );
  return {
    workflow,
    step,
    dropStep: () => sql('delete from automation_steps where id = $1', [step]),
    end: () => sql(`update automation_runs set status = 'COMPLETED' where automation_id = $1`, [workflow]),
  };
}

describe('templates in workflows', () => {
  const remove = (id: string) => api.call(project.secretKey, 'DELETE', `/templates/${id}`);

  test('usage lists the steps that send a template', async () => {
    const { body: template } = await create();
    const { workflow, step } = await aWorkflow(template.id);
    expect((await api.call(project.secretKey, 'GET', `/templates/${template.id}/usage`)).body).toEqual({
      workflowSteps: 1,
      emailsSent: 0,
      steps: [{ id: step, name: 'Welcome mail', type: 'SEND_EMAIL', workflowId: workflow, workflowName: 'Onboarding' }],
      campaigns: [],
    });
  });

  test('a template that a step sends, or will send to somebody inside an older graph, is not deleted', async () => {
    const { body: template } = await create();
    const { dropStep, end } = await aWorkflow(template.id, true);
    await aWorkflow(template.id).then((other) => other.dropStep());
    const used = await remove(template.id);
    expect([used.status, used.body.error.code, used.body.error.details]).toEqual([409, 'CONFLICT', { steps: 1 }]);
    await dropStep();
    expect((await remove(template.id)).body.error.details).toEqual({ steps: 1 });
    await end();
    expect((await remove(template.id)).status).toBe(204);
  });

  test('of several, one that is used keeps all', async () => {
    const ids = [(await create()).body.id as string, (await create()).body.id as string];
    const { dropStep } = await aWorkflow(ids[1] ?? '');
    const bulk = () =>
      api.call(project.secretKey, 'POST', '/templates/bulk-update', {
        ids: ids.map((id) => id.toUpperCase()),
        delete: true,
      });
    const refused = await bulk();
    expect([refused.status, refused.body.error.details]).toEqual([409, { steps: 1 }]);
    expect((await api.call(project.secretKey, 'GET', `/templates/${ids[0]}`)).status).toBe(200);
    await dropStep();
    expect((await bulk()).body).toEqual({ deleted: 2 });
  });

  test('a step that is added while a template is being deleted waits, and finds it gone', async () => {
    const { body: template } = await create();
    const { workflow } = await aWorkflow((await create()).body.id);
    const adding = database.db.transaction(async (sql) => {
      await sql.count(
        `insert into automation_steps (id, automation_id, type, name, position, template_id)
         values ($1, $2, 'SEND_EMAIL', 'Later', '{}', $3)`,
        [newId(), workflow, template.id],
      );
      const removing = remove(template.id);
      await expect
        .poll(
          async () =>
            (await database.db.row(
              `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
            )) !== null,
        )
        .toBe(true);
      return { removing };
    });
    const { removing } = await adding;
    expect((await removing).status).toBe(409);
  });
});

describe('refusals', () => {
  test.each(['name', 'subject', 'body', 'from'])('a missing %s is a bare 400 that names it', async (field) => {
    for (const value of [undefined, null, '']) {
      const answer = await create({ [field]: value });
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(answer.body.error).toContain(field);
    }
  });

  test('a template that does not parse is told the place', async () => {
    const answer = await create({ body: '<p>Hi</p>\n<p>{% if plan %}pro</p>' });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.error.details).toMatchObject({ field: 'body', line: 2 });
    const include = await create({ subject: '{% include "x" %}' });
    expect(include.body.error.details).toMatchObject({ field: 'subject', line: 1 });
  });

  test('required fields are checked in their order, before types, syntax and sender', async () => {
    const all = { name: '', subject: 5, body: '{% if %}', from: 'nobody@stranger.test', type: 'OTHER' };
    expect((await create(all)).body).toEqual({ error: '"name" is required' });
    expect((await create({ ...all, from: null, name: 'Named' })).body).toEqual({ error: '"from" is required' });
    const types = await create({ ...all, name: 'Named' });
    expect([
      types.status,
      types.body.error.errors.map((one: { field: string; code: string }) => [one.field, one.code]),
    ]).toEqual([
      422,
      [
        ['subject', 'invalid_type'],
        ['type', 'invalid_enum_value'],
      ],
    ]);
    const syntax = await create({ ...all, name: 'Named', subject: 'Hello', type: 'MARKETING' });
    expect([syntax.status, syntax.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    const sender = await create({ ...all, name: 'Named', subject: 'Hello', type: 'MARKETING', body: 'Hello' });
    expect([sender.status, sender.body.error.code]).toEqual([403, 'INTERNAL_SERVER_ERROR']);
    const limits = await create({ name: 'x'.repeat(256), from: 'nobody@stranger.test' });
    expect([limits.status, limits.body.error.errors[0]]).toMatchObject([422, { field: 'name', code: 'too_big' }]);
  });

  test('the longest of everything is taken, a subject of several lines too, and its copy keeps whole characters', async () => {
    const { status, body: template } = await create({
      name: `${'x'.repeat(247)}😀${'y'.repeat(6)}`,
      description: 'd'.repeat(2000),
      subject: `{% if plan %}\n{{ plan }}\r\n{% endif %}${'s'.repeat(998 - 37)}`,
      body: 'b'.repeat(2_000_000),
      fromName: 'n'.repeat(100),
    });
    expect([status, template.subject?.length]).toEqual([201, 998]);
    const { body: copy } = await api.call(project.secretKey, 'POST', `/templates/${template.id}/duplicate`);
    expect(copy.name).toBe(`${'x'.repeat(247)} (Copy)`);
    expect({ ...copy, id: '', name: '', createdAt: '', updatedAt: '' }).toEqual({
      ...template,
      id: '',
      name: '',
      createdAt: '',
      updatedAt: '',
    });
  });

  test('a copy needs no sender that is still verified, a change of the sender does', async () => {
    const own = await aProject(database);
    const { body: template } = await api.call(own.secretKey, 'POST', '/templates', { ...fields(), from: own.sender });
    await database.db.count('update domains set verified = false where project_id = $1', [own.id]);
    await expect
      .poll(
        async () => (await api.call(own.secretKey, 'PATCH', `/templates/${template.id}`, { from: own.sender })).status,
      )
      .toBe(403);
    expect((await api.call(own.secretKey, 'PATCH', `/templates/${template.id}`, { name: 'Still' })).status).toBe(200);
    expect((await api.call(own.secretKey, 'POST', `/templates/${template.id}/duplicate`)).status).toBe(201);
  });

  test.each<[string, string, string, number, number]>([
    ['a tag that is not closed', 'body', '<p>\n  {% for x in items %}{{ x }}', 2, 3],
    ['an output that is not closed', 'subject', 'Hello {{ name', 1, 7],
    ['an unknown filter', 'body', '{{ name | shout }}', 1, 1],
    ['an unknown tag', 'body', 'a\nb\n {% shout %}', 3, 2],
    ['a tag that ends nothing', 'body', '{% endif %}', 1, 1],
    ['a file of others', 'body', "{% render 'x' %}", 1, 1],
    ['a layout', 'body', "{% layout 'x' %}", 1, 1],
  ])('%s is told with its line and column, on creation and on change', async (_, field, source, line, column) => {
    const { body: template } = await create();
    for (const answer of [
      await create({ [field]: source }),
      await api.call(project.secretKey, 'PATCH', `/templates/${template.id}`, { [field]: source }),
    ])
      expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([
        400,
        'VALIDATION_ERROR',
        { field, line, column },
      ]);
  });

  test.each<[string, Record<string, unknown>, number, string]>([
    ['an unknown type', { type: 'OTHER' }, 422, 'VALIDATION_ERROR'],
    ['a sender that is no address', { from: 'hello' }, 422, 'VALIDATION_ERROR'],
    ['a sender of a foreign domain', { from: 'hello@stranger.test' }, 403, 'INTERNAL_SERVER_ERROR'],
    ['a line break in the sender name', { fromName: 'A\nB' }, 422, 'VALIDATION_ERROR'],
    ['a name too long', { name: 'x'.repeat(256) }, 422, 'VALIDATION_ERROR'],
    ['a body too long', { body: 'x'.repeat(2_000_001) }, 422, 'VALIDATION_ERROR'],
  ])('%s', async (_, own, status, code) => {
    const answer = await create(own);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test('what a template must have cannot be emptied, and another project sees nothing', async () => {
    const { body: template } = await create();
    for (const field of ['name', 'subject', 'body', 'from'])
      for (const value of ['', null])
        expect(
          (await api.call(project.secretKey, 'PATCH', `/templates/${template.id}`, { [field]: value })).status,
        ).toBe(422);
    const other = await aProject(database);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/duplicate'],
      ['GET', '/usage'],
    ] as const)
      expect(
        (
          await api.call(
            other.secretKey,
            method,
            `/templates/${template.id}${path}`,
            method === 'PATCH' ? {} : undefined,
          )
        ).status,
      ).toBe(404);
    expect((await api.call(project.secretKey, 'GET', '/templates/not-an-id')).body.error.code).toBe(
      'TEMPLATE_NOT_FOUND',
    );
  });
});

describe('previews', () => {
  const preview = (key: string, body: object) => api.call(key, 'POST', '/templates/preview', body);

  test('show what a contact would see, and store and send nothing', async () => {
    const own = await aProject(database);
    const { body: ada } = await api.call(own.secretKey, 'POST', '/contacts', {
      email: 'ada@acme.test',
      data: { firstName: 'Ada <b>', locale: 'de' },
    });
    const shown = await preview(own.secretKey, {
      subject: 'Hi {{firstName}}',
      body: '<p>{{firstName}}, {{email}}</p>',
      contactId: ada.id,
    });
    expect(shown.status).toBe(200);
    expect(shown.body.subject).toBe('Hi Ada <b>');
    expect(shown.body.html).toContain('<p>Ada &lt;b&gt;, ada@acme.test</p>');
    expect(shown.body.html).toContain(`/unsubscribe/${ada.id}`);
    expect(shown.body.text).toContain('ada@acme.test');
    expect(await database.db.rows('select 1 from emails where project_id = $1', [own.id])).toEqual([]);
  });

  test('without a contact leave placeholders as they are written', async () => {
    const own = await aProject(database);
    const shown = await preview(own.secretKey, { subject: 'Hi {{firstName}}', body: '<p>{{plan}}</p>' });
    expect(shown.body).toMatchObject({ subject: 'Hi {{firstName}}', html: expect.stringContaining('{{plan}}') });
  });

  test('are filled in with the values of a request, with a contact beneath them or without one', async () => {
    const own = await aProject(database);
    const { body: ada } = await api.call(own.secretKey, 'POST', '/contacts', {
      email: 'ada@acme.test',
      data: { firstName: 'Ada', plan: 'free' },
    });
    const content = {
      subject: 'Hi {{firstName}}',
      body: '<p>{{plan}} {{markup}} {% for item in items %}[{{item.name}}]{% endfor %}</p>',
    };
    const data = {
      plan: 'pro',
      markup: '<b>bold</b>',
      items: [{ name: 'a' }, { name: 'b' }],
      code: { value: '1', persistent: false },
    };
    const shown = await preview(own.secretKey, { ...content, contactId: ada.id, data });
    expect(shown.body.subject).toBe('Hi Ada');
    expect(shown.body.html).toContain('<p>pro <b>bold</b> [a][b]</p>');
    const alone = await preview(own.secretKey, { subject: '{{firstName}}{{code}}', body: content.body, data });
    expect(alone.body.subject).toBe('1');
    expect(alone.body.html).toContain('<p>pro <b>bold</b> [a][b]</p>');
    const { body: after } = await api.call(own.secretKey, 'GET', `/contacts/${ada.id}`);
    expect(after.data).toEqual({ firstName: 'Ada', plan: 'free' });
    const refused = await preview(own.secretKey, { ...content, data: ['pro'] });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'data']);
  });

  test('name the place of what does not parse, and refuse contacts of others', async () => {
    const own = await aProject(database);
    const other = await aProject(database);
    const faulty = await preview(own.secretKey, { subject: 'Hi', body: '<p>\n{% if plan %}</p>' });
    expect(faulty.status).toBe(400);
    expect(faulty.body.error.details).toMatchObject({ field: 'body', line: 2 });
    const { body: stranger } = await api.call(other.secretKey, 'POST', '/contacts', { email: 'eve@acme.test' });
    const refused = await preview(own.secretKey, { subject: 'Hi', body: '<p></p>', contactId: stranger.id });
    expect([refused.status, refused.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
  });
});
