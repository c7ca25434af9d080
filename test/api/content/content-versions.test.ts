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

const kinds = [
  { path: '/templates', method: 'PATCH', own: {}, action: 'template.restored' },
  { path: '/campaigns', method: 'PUT', own: { audienceType: 'ALL' }, action: 'campaign.restored' },
];
const call = (method: string, path: string, body?: object, headers = {}) =>
  api.call(project.secretKey, method, path, body, headers);
const dataOf = ({ body }: { body: { data?: unknown } }) => (body.data ?? body) as Record<string, never>;
const numbers = (versions: readonly { version: number }[]) => versions.map(({ version }) => version);

describe.each(kinds)('versions of $path', ({ path, method, own, action }) => {
  const create = async () => {
    const message = { name: 'Terns', subject: 'Terns', body: '<p>Terns</p>', from: project.sender };
    return String(dataOf(await call('POST', path, { ...message, ...own })).id);
  };
  const save = (id: string, body: object) => call(method, `${path}/${id}`, body);
  const versionsOf = async (id: string) =>
    (await call('GET', `${path}/${id}/versions`)).body.data as { version: number; restoredFrom: number | null }[];
  const restore = (id: string, version: number, ifMatch?: string) =>
    call('POST', `${path}/${id}/versions/${version}/restore`, undefined, ifMatch ? { 'If-Match': ifMatch } : {});

  test('each save that changes something makes one, with its author', async () => {
    const id = await create();
    await save(id, { subject: 'Arctic terns' });
    await save(id, { subject: 'Arctic terns' });
    const versions = await versionsOf(id);
    expect(versions).toEqual([
      expect.objectContaining({ version: 2, subject: 'Arctic terns', author: { kind: 'key', id: null, name: null } }),
      expect.objectContaining({ version: 1, subject: 'Terns', restoredFrom: null }),
    ]);
    const first = await call('GET', `${path}/${id}/versions/1`);
    expect(dataOf(first)).toMatchObject({ version: 1, subject: 'Terns', body: '<p>Terns</p>', document: null });
    for (const unknown of ['3', '0', 'x'])
      expect((await call('GET', `${path}/${id}/versions/${unknown}`)).status).toBe(404);
  });

  test('a restored one becomes the newest, where nobody else was faster', async () => {
    const id = await create();
    await save(id, { subject: 'Arctic terns', body: '<p>Arctic terns</p>' });
    const stale = await restore(id, 1, '"1"');
    expect([stale.status, stale.headers.get('etag')]).toEqual([412, '"2"']);
    const restored = await restore(id, 1, '"2"');
    expect([restored.status, restored.headers.get('etag')]).toEqual([200, '"3"']);
    expect(dataOf(restored)).toMatchObject({ subject: 'Terns', body: '<p>Terns</p>', revision: 3 });
    expect((await versionsOf(id))[0]).toMatchObject({ version: 3, restoredFrom: 1, subject: 'Terns' });
    const log = await call('GET', `/projects/${project.id}/audit-log?target=${id}`);
    expect(log.body.data).toEqual([expect.objectContaining({ action, after: { version: 1 } })]);
    expect((await restore(id, 9)).status).toBe(404);
  });

  test('blocks are compiled with the brand kit of today, and HTML comes back as it was', async () => {
    const id = await create();
    const document = { version: 1, content: [{ type: 'button', attrs: { label: 'Go', href: 'https://acme.test' } }] };
    await save(id, { document });
    await save(id, { body: '<p>By hand</p>' });
    await call('PUT', '/brand', { primaryColor: '#aa0011' });
    const seen = dataOf(await call('GET', `${path}/${id}/versions/2`));
    expect(seen.body).toContain('#aa0011');
    expect(dataOf(await restore(id, 2))).toMatchObject({ body: seen.body, document: { version: 1 } });
    expect(dataOf(await restore(id, 3))).toMatchObject({ body: '<p>By hand</p>', document: null });
  });

  test('what was saved before versions were kept is the first', async () => {
    const id = await create();
    await database.db.count('delete from content_versions where item_id = $1', [id]);
    await save(id, { subject: 'Arctic terns' });
    expect(await versionsOf(id)).toMatchObject([
      { version: 2, subject: 'Arctic terns' },
      { version: 1, subject: 'Terns', author: null },
    ]);
  });

  test('of more than 100, the oldest goes that its author replaced within ten minutes, and then the oldest', async () => {
    const id = await create();
    // The 51st was saved five minutes after the 50th, all others an hour and more after the one before.
    await database.db.count(
      `insert into content_versions (project_id, item_id, version, author_kind, content, created_at)
       select project_id, item_id, n, 'key', content || jsonb_build_object('name', n::text),
         now() - make_interval(hours => 101 - n, mins => case when n = 50 then -55 else 0 end)
       from content_versions, generate_series(2, 100) as n where item_id = $1`,
      [id],
    );
    await database.db.count(
      `update content_versions set created_at = created_at - interval '200 hours' where item_id = $1 and version = 1`,
      [id],
    );
    await save(id, { subject: 'The 101st' });
    const kept = numbers(await versionsOf(id));
    expect([kept.length, kept.includes(50), kept.at(-1)]).toEqual([100, false, 1]);
    await save(id, { subject: 'The 102nd' });
    expect(numbers(await versionsOf(id))).toEqual(expect.not.arrayContaining([101]));
    await database.db.count(
      `update content_versions set created_at = created_at - interval '11 minutes' where item_id = $1`,
      [id],
    );
    await save(id, { subject: 'The 103rd' });
    const last = numbers(await versionsOf(id));
    expect([last.length, last[0], last.at(-1)]).toEqual([100, 103, 2]);
  });

  test('go with it', async () => {
    const id = await create();
    await call('DELETE', `${path}/${id}`);
    const other = await create();
    await call('POST', `${path}/bulk-update`, { ids: [other], delete: true });
    expect(
      await database.db.rows('select from content_versions where item_id = any($1::uuid[])', [[id, other]]),
    ).toEqual([]);
  });
});

test('a copy begins a history of its own', async () => {
  const message = { name: 'Terns', subject: 'Terns', body: '<p>Terns</p>', from: project.sender };
  const { id } = dataOf(await call('POST', '/templates', message));
  const copy = dataOf(await call('POST', `/templates/${id}/duplicate`));
  expect((await call('GET', `/templates/${copy.id}/versions`)).body.data).toMatchObject([
    { version: 1, name: 'Terns (Copy)' },
  ]);
});

test('a campaign that is being sent keeps its content', async () => {
  const message = { name: 'Terns', subject: 'Terns', body: '<p>Terns</p>', from: project.sender, audienceType: 'ALL' };
  const { id } = dataOf(await call('POST', '/campaigns', message));
  await call('PUT', `/campaigns/${id}`, { subject: 'Arctic terns' });
  await database.db.count(`update campaigns set status = 'SENT' where id = $1`, [id]);
  const refused = await call('POST', `/campaigns/${id}/versions/1/restore`);
  expect([refused.status, refused.body.error?.message]).toEqual([400, 'A campaign that is SENT cannot be changed']);
});
