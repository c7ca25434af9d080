import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (project: TestProject, method: string, path: string, body?: unknown) =>
  api.call(project.secretKey, method, path, body);
const aRule = async (project: TestProject, kind: string, pattern: string, more = {}) =>
  (await call(project, 'POST', '/suppressions', { name: `${kind} ${pattern}`, kind, pattern, ...more })).body;
const send = async (project: TestProject, to: string[], more = {}): Promise<string[]> => {
  const body = { to, from: project.sender, subject: 'Hello {{name}}', body: '<p>Code {{code}}</p>', ...more };
  const answer = await call(project, 'POST', '/v1/send', body);
  expect(answer.status).toBe(200);
  return answer.body.data.emails.map((item: { email: string }) => item.email);
};
const rowOf = (id: string) =>
  database.db.row<{ status: string; suppression: { ruleId: string } | null; queued: boolean }>(
    `select status, suppression, exists (select from email_queue q where q.email_id = e.id) as queued from emails e where id = $1`,
    [id],
  );

describe('rules', () => {
  test('are created, listed oldest first, and replaced as a whole', async () => {
    const project = await aProject(database);
    const created = await call(project, 'POST', '/suppressions', {
      name: 'QA',
      kind: 'DOMAIN',
      pattern: ' QA.Acme.TEST ',
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'QA',
      kind: 'DOMAIN',
      pattern: 'qa.acme.test',
      enabled: true,
      projectId: project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const second = await aRule(project, 'PREFIX', 'test-', { enabled: false });
    expect((await call(project, 'GET', '/suppressions')).body).toEqual([created.body, second]);
    const put = await call(project, 'PUT', `/suppressions/${created.body.id}`, { ...second, pattern: 'LOAD-' });
    expect([put.status, put.body]).toEqual([200, { success: true }]);
    const [first] = (await call(project, 'GET', '/suppressions')).body;
    expect(first).toMatchObject({ id: created.body.id, kind: 'PREFIX', pattern: 'load-', enabled: false });
  });

  test('are deleted for good: mail goes out again, and what was caught stays and still says by which rule', async () => {
    const project = await aProject(database);
    const rule = await aRule(project, 'DOMAIN', 'qa.acme.test');
    const kept = await aRule(project, 'PREFIX', 'load-');
    const [caught = ''] = await send(project, ['anna@qa.acme.test']);
    const removed = await call(project, 'DELETE', `/suppressions/${rule.id}`);
    expect(removed.status).toBe(204);
    expect((await call(project, 'GET', '/suppressions')).body).toEqual([kept]);
    const [out = ''] = await send(project, ['anna@qa.acme.test']);
    expect(await rowOf(out)).toMatchObject({ status: 'PENDING', suppression: null, queued: true });
    expect(await rowOf(caught)).toMatchObject({ status: 'SUPPRESSED', queued: false });
    expect((await call(project, 'GET', `/suppressions/emails/${caught}`)).body.suppression).toMatchObject({
      ruleId: rule.id,
      pattern: 'qa.acme.test',
    });
    const again = await call(project, 'DELETE', `/suppressions/${rule.id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  test('make room when one of a hundred is deleted', async () => {
    const project = await aProject(database);
    await database.db.count(
      `insert into suppression_rules (id, project_id, name, kind, pattern)
       select uuidv7(), $1, 'Rule ' || n, 'PREFIX', 'load-' || n || '-' from generate_series(1, 100) n`,
      [project.id],
    );
    const another = { name: 'One more', kind: 'PREFIX', pattern: 'soak-' };
    expect((await call(project, 'POST', '/suppressions', another)).status).toBe(400);
    const [first] = (await call(project, 'GET', '/suppressions')).body;
    expect((await call(project, 'DELETE', `/suppressions/${first.id}`)).status).toBe(204);
    expect((await call(project, 'POST', '/suppressions', another)).status).toBe(201);
  });

  test('belong to their project', async () => {
    const [own, other] = [await aProject(database), await aProject(database, 'Umbrella')];
    const rule = await aRule(other, 'WILDCARD', '*@acme.test');
    expect((await call(own, 'GET', '/suppressions')).body).toEqual([]);
    for (const id of [rule.id, randomUUID(), 'nonsense']) {
      const answer = await call(own, 'PUT', `/suppressions/${id}`, { name: 'x', kind: 'DOMAIN', pattern: 'x.test' });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect((await call(other, 'GET', '/suppressions')).body).toEqual([rule]);
    expect((await call(own, 'POST', '/suppressions/preview', { address: 'a@acme.test' })).body.suppressed).toBe(false);
    const [email = ''] = await send(own, ['a@acme.test']);
    expect(await rowOf(email)).toMatchObject({ status: 'PENDING', queued: true });
  });

  test.each([
    ['an unknown key', { name: 'x', kind: 'DOMAIN', pattern: 'x.test', scope: 'all' }, 'scope'],
    ['an address that is none', { name: 'x', kind: 'ADDRESS', pattern: 'qa' }, 'pattern'],
    ['a domain with an @', { name: 'x', kind: 'DOMAIN', pattern: '@acme.test' }, 'pattern'],
    ['a prefix with an @', { name: 'x', kind: 'PREFIX', pattern: 'qa@' }, 'pattern'],
    ['a wildcard without an @', { name: 'x', kind: 'WILDCARD', pattern: '*acme.test' }, 'pattern'],
    ['an empty pattern', { name: 'x', kind: 'SUFFIX', pattern: '' }, 'pattern'],
    ['a blank pattern', { name: 'x', kind: 'SUFFIX', pattern: '   ' }, 'pattern'],
    ['a pattern of 255 characters', { name: 'x', kind: 'PREFIX', pattern: 'x'.repeat(255) }, 'pattern'],
  ])('%s is a 400 that names the key', async (_, body, field) => {
    const project = await aProject(database);
    const { id } = await aRule(project, 'DOMAIN', 'kept.test');
    for (const answer of [
      await call(project, 'POST', '/suppressions', body),
      await call(project, 'PUT', `/suppressions/${id}`, body),
    ])
      expect([answer.status, answer.body.error?.code, answer.body.error?.details]).toEqual([
        400,
        'BAD_REQUEST',
        { field },
      ]);
    expect((await call(project, 'GET', '/suppressions')).body).toMatchObject([{ pattern: 'kept.test' }]);
  });

  test.each([
    ['no name', { kind: 'DOMAIN', pattern: 'x.test' }, 'name'],
    ['a name of 101 characters', { name: 'x'.repeat(101), kind: 'DOMAIN', pattern: 'x.test' }, 'name'],
    ['an unknown kind', { name: 'x', kind: 'REGEX', pattern: 'x.test' }, 'kind'],
    ['no pattern', { name: 'x', kind: 'DOMAIN' }, 'pattern'],
  ])('%s is a 422', async (_, body, field) => {
    const answer = await call(await aProject(database), 'POST', '/suppressions', body);
    expect([answer.status, answer.body.error.errors?.[0].field]).toEqual([422, field]);
  });

  test('a hundred fit, also when two arrive at once for the last place', async () => {
    const project = await aProject(database);
    const create = (number: number) =>
      call(project, 'POST', '/suppressions', { name: `Rule ${number}`, kind: 'PREFIX', pattern: `load-${number}-` });
    for (let number = 0; number < 99; number++) expect((await create(number)).status).toBe(201);
    const last = await Promise.all([create(99), create(100), create(101)]);
    expect(last.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect((await call(project, 'GET', '/suppressions')).body).toHaveLength(100);
  });
});

test('a preview says which rule would catch an address', async () => {
  const project = await aProject(database);
  await aRule(project, 'DOMAIN', 'acme.test', { enabled: false });
  const prefix = await aRule(project, 'PREFIX', 'qa');
  await aRule(project, 'WILDCARD', '*@acme.test');
  const preview = async (address: unknown) => call(project, 'POST', '/suppressions/preview', { address });
  expect((await preview('QA.7@Acme.test')).body).toEqual({
    suppressed: true,
    match: {
      ruleId: prefix.id,
      name: prefix.name,
      kind: 'PREFIX',
      pattern: 'qa',
      recipient: 'qa.7@acme.test',
      matchedAt: expect.stringMatching(/Z$/),
    },
  });
  expect((await preview('anna@example.com')).body).toEqual({ suppressed: false, match: null });
  expect((await preview('nobody')).status).toBe(422);
  expect((await preview(undefined)).status).toBe(422);
});

describe('mail', () => {
  test('to an address that a rule matches is accepted and kept, but not queued', async () => {
    const project = await aProject(database);
    const rule = await aRule(project, 'DOMAIN', 'acme.test');
    const [caught = '', free = ''] = await send(project, ['Anna@ACME.test', 'anna@example.com']);
    expect(await rowOf(caught)).toEqual({
      status: 'SUPPRESSED',
      queued: false,
      suppression: {
        ruleId: rule.id,
        name: rule.name,
        kind: 'DOMAIN',
        pattern: 'acme.test',
        recipient: 'anna@acme.test',
        matchedAt: expect.stringMatching(/Z$/),
      },
    });
    expect(await rowOf(free)).toEqual({ status: 'PENDING', queued: true, suppression: null });
    const contacts = (await call(project, 'GET', '/contacts')).body;
    expect(contacts.total).toBe(2);
  });

  test('a rule that was turned off or on counts for the next message, in every process', async () => {
    const project = await aProject(database);
    await using second = await testApi(database);
    const body = { name: 'QA', kind: 'ADDRESS', pattern: 'qa@acme.test' };
    const rule = await aRule(project, body.kind, body.pattern, { enabled: false });
    const elsewhere = () =>
      second.call(project.secretKey, 'POST', '/v1/send', {
        to: 'qa@acme.test',
        from: project.sender,
        subject: 's',
        body: 'b',
      });
    const statusOf = async (id: string) => (await rowOf(id))?.status;
    expect(await statusOf((await send(project, ['qa@acme.test']))[0] ?? '')).toBe('PENDING');
    expect(await statusOf((await elsewhere()).body.data.emails[0].email)).toBe('PENDING');
    await call(project, 'PUT', `/suppressions/${rule.id}`, body);
    expect(await statusOf((await send(project, ['qa@acme.test']))[0] ?? '')).toBe('SUPPRESSED');
    await expect.poll(async () => statusOf((await elsewhere()).body.data.emails[0].email)).toBe('SUPPRESSED');
    await call(project, 'PUT', `/suppressions/${rule.id}`, { ...body, enabled: false });
    expect(await statusOf((await send(project, ['qa@acme.test']))[0] ?? '')).toBe('PENDING');
  });

  test('that was caught is listed newest first, page by page, and shown as it would have been sent', async () => {
    const project = await aProject(database);
    const rule = await aRule(project, 'DOMAIN', 'acme.test');
    const data = { name: 'Anna', code: { value: '4711', persistent: false } };
    const ids: string[] = [];
    for (let number = 0; number < 5; number++) ids.push(...(await send(project, [`qa${number}@acme.test`], { data })));
    await send(project, ['anna@example.com']);
    const page = async (query: string) => (await call(project, 'GET', `/suppressions/emails?${query}`)).body;
    const first = await page('limit=2');
    expect(first.emails[0]).toEqual({
      id: ids[4],
      createdAt: expect.stringMatching(/Z$/),
      recipientAddress: 'qa4@acme.test',
      subject: 'Hello {{name}}',
      renderedSubject: 'Hello Anna',
      suppression: expect.objectContaining({ ruleId: rule.id }),
      status: 'SUPPRESSED',
    });
    const rest = await page(`limit=2&cursor=${first.nextCursor}`);
    const last = await page(`limit=2&cursor=${rest.nextCursor}`);
    const listed = [first, rest, last].flatMap(({ emails }) => emails.map(({ id }: { id: string }) => id));
    expect(listed).toEqual(ids.toReversed());
    expect(last.nextCursor).toBeNull();
    expect((await page('')).emails).toHaveLength(5);
    const forged = Buffer.from(JSON.stringify(['2026-02-31T00:00:00Z', ids[0]])).toString('base64url');
    for (const cursor of ['nonsense', forged])
      expect((await call(project, 'GET', `/suppressions/emails?cursor=${cursor}`)).status).toBe(400);

    const whole = (await call(project, 'GET', `/suppressions/emails/${ids[0]}`)).body;
    expect(whole).toMatchObject({
      id: ids[0],
      projectId: project.id,
      status: 'SUPPRESSED',
      subject: 'Hello Anna',
      from: project.sender,
      sourceType: 'TRANSACTIONAL',
      messageId: null,
      sentAt: null,
      opens: 0,
      suppression: { ruleId: rule.id, recipient: 'qa0@acme.test' },
    });
    expect(whole.body).toContain('<p>Code 4711</p>');
  });

  test('that was caught is seen by its own project only, and mail that was not is no part of the list', async () => {
    const [own, other] = [await aProject(database), await aProject(database, 'Umbrella')];
    await aRule(other, 'DOMAIN', 'acme.test');
    const [foreign = ''] = await send(other, ['qa@acme.test']);
    const [sent = ''] = await send(own, ['qa@acme.test']);
    expect((await call(own, 'GET', '/suppressions/emails')).body).toEqual({ emails: [], nextCursor: null });
    for (const id of [foreign, sent, randomUUID(), 'nonsense']) {
      const answer = await call(own, 'GET', `/suppressions/emails/${id}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
  });
});
