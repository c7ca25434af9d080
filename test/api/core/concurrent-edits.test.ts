import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  await api?.close();
  await database?.close();
});

const condition = { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] };
const kinds = [
  { path: '/templates', method: 'PATCH', own: {} },
  { path: '/campaigns', method: 'PUT', own: { audienceType: 'ALL' } },
  { path: '/segments', method: 'PATCH', own: { condition } },
];

describe.each(kinds)('edits of $path', ({ path, method, own }) => {
  const message = () => ({ name: 'Terns', subject: 'Terns', body: '<p>Terns</p>', from: project.sender });
  const dataOf = (body: { data?: unknown }) => (body.data ?? body) as { id: string; revision: number; name: string };
  const create = async () =>
    dataOf((await api.call(project.secretKey, 'POST', path, { ...message(), ...own })).body).id;
  const read = (id: string) => api.call(project.secretKey, 'GET', `${path}/${id}`);
  const edit = (id: string, body: object, ifMatch?: string) =>
    api.call(project.secretKey, method, `${path}/${id}`, body, ifMatch === undefined ? {} : { 'If-Match': ifMatch });

  test('are refused with 412 where somebody else was faster, and change nothing', async () => {
    const id = await create();
    const tag = (await read(id)).headers.get('etag') ?? '';
    expect(tag).toBe('"1"');
    const first = await edit(id, { name: 'First' }, tag);
    expect([first.status, first.headers.get('etag'), dataOf(first.body).revision]).toEqual([200, '"2"', 2]);

    const refused = await edit(id, { name: 'Second' }, tag);
    expect([refused.status, refused.headers.get('etag')]).toEqual([412, '"2"']);
    expect(refused.body.error).toMatchObject({ code: 'PRECONDITION_FAILED', details: { id, revision: 2 } });
    expect(dataOf((await read(id)).body)).toMatchObject({ name: 'First', revision: 2 });

    const accepted = await edit(id, { name: 'Second' }, `W/${refused.headers.get('etag')}`);
    expect([accepted.status, accepted.headers.get('etag')]).toEqual([200, '"3"']);
  });

  test('win without If-Match and with *, and keep the tag where nothing changes', async () => {
    const id = await create();
    expect((await edit(id, { name: 'First' })).headers.get('etag')).toBe('"2"');
    expect((await edit(id, { name: 'Second' }, '*')).headers.get('etag')).toBe('"3"');
    expect((await edit(id, { name: 'Second' }, '"2", "3"')).headers.get('etag')).toBe('"3"');
    expect((await edit(id, { name: 'Third' }, 'no tag')).status).toBe(400);
  });

  test('at the same moment with the same tag: one of them is made', async () => {
    const id = await create();
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((name) => edit(id, { name }, '"1"')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412]);
    const winner = answers.find(({ status }) => status === 200);
    expect(dataOf((await read(id)).body)).toMatchObject({ name: dataOf(winner?.body).name, revision: 2 });
  });

  test('at the same moment without a tag: all of them are made, one after another', async () => {
    const id = await create();
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((name) => edit(id, { name })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(dataOf((await read(id)).body).revision).toBe(5);
  });
});

test('what is counted about a segment or a campaign is no edit of it', async () => {
  const segment = await api.call(project.secretKey, 'POST', '/segments', { name: 'By hand', type: 'STATIC' });
  const members = `/segments/${segment.body.id}/members`;
  await api.call(project.secretKey, 'POST', members, { emails: ['ada@acme.test'], createMissing: true });
  const after = (await api.call(project.secretKey, 'GET', `/segments/${segment.body.id}`)).body;
  expect([after.memberCount, after.revision]).toEqual([1, 1]);
});

test('the description of the API names ETag, If-Match and 412 for each of them', async () => {
  const { paths } = (await api.call(null, 'GET', '/openapi.json')).body;
  for (const { path, method } of kinds) {
    const { get, [method.toLowerCase()]: change } = paths[`${path}/{id}`];
    expect(get.responses['200'].headers.ETag).toBeDefined();
    expect(get.responses['412']).toBeUndefined();
    expect(change.responses['200'].headers.ETag).toBeDefined();
    expect(change.responses['412']).toBeDefined();
    expect(change.parameters).toContainEqual({ $ref: '#/components/parameters/IfMatch' });
  }
});
