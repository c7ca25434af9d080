import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

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
    const body = readFileSync(new URL(`../data/templates/${name}.html`, import.meta.url), 'utf8');
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
      expect((await api.call(project.secretKey, 'PATCH', `/templates/${template.id}`, { [field]: '' })).status).toBe(
        422,
      );
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
