import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses, allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;
let other: SegmentHand;
const [anna = '', ben = '', cleo = '', unknown = '', ...more] = addresses(30);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
  other = segmentHand(api, database, await aProject(database, 'Umbrella'));
  for (const email of [anna, ben, cleo]) await own.contact(email);
  await other.contact(anna);
  await other.contact(unknown);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const aStatic = (trackMembership = false) => own.segment({ name: 'Beta Testers', type: 'STATIC', trackMembership });
const add = (id: string, body: unknown) => own.call('POST', `/segments/${id}/members`, body);
const remove = (id: string, body: unknown) => own.call('DELETE', `/segments/${id}/members`, body);
const sorted = (...emails: string[]) => [...emails].sort();

describe('adding members', () => {
  test('members are counted at once, and those that were already there count as added', async () => {
    const { id } = await aStatic();
    expect((await add(id, { emails: [anna, ben] })).body).toEqual({ added: 2, created: 0, notFound: [] });
    expect((await add(id, { emails: [ben, cleo] })).body).toEqual({ added: 2, created: 0, notFound: [] });
    expect(await own.memberCount(id)).toBe(3);
    expect(await own.members(id)).toEqual(sorted(anna, ben, cleo));
  });

  test('spellings of one address are one contact; what matches nothing comes back as it was spelled', async () => {
    const { id } = await aStatic();
    const spelled = unknown.toUpperCase();
    const emails = [` ${anna.toUpperCase()} `, anna, spelled, 'not an address', unknown, ' NOT AN ADDRESS', '', ben];
    expect((await add(id, { emails })).body).toEqual({
      added: 2,
      created: 0,
      notFound: [spelled, 'not an address', ''],
    });
    expect(await own.members(id)).toEqual(sorted(anna, ben));
  });

  test('missing contacts are created on demand and known ones keep their subscription', async () => {
    const { id } = await aStatic();
    const [fresh = '', second = ''] = more;
    const answer = await add(id, { emails: [anna, fresh, 'x@'], createMissing: true, subscribed: false });
    expect(answer.body).toEqual({ added: 2, created: 1, notFound: ['x@'] });
    expect((await add(id, { emails: [second, fresh], createMissing: true })).body).toMatchObject({
      added: 2,
      created: 1,
    });
    const rows = await database.db.rows<{ email: string; subscribed: boolean }>(
      'select email, subscribed from contacts where project_id = $1 and email = any($2)',
      [project.id, [anna, fresh, second]],
    );
    expect(Object.fromEntries(rows.map((row) => [row.email, row.subscribed]))).toEqual({
      [anna]: true,
      [fresh]: false,
      [second]: true,
    });
    const told = await database.db.rows('select from events where project_id = $1', [project.id]);
    expect(told).toEqual([]);
  });

  test('ten requests at once that create and add the same people leave each of them in once', async () => {
    const { id } = await aStatic(true);
    const emails = more.slice(2, 22);
    const answers = await Promise.all(Array.from({ length: 10 }, () => add(id, { emails, createMissing: true })));
    expect(answers.map(({ body }) => body.added)).toEqual(answers.map(() => emails.length));
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(emails.length);
    expect(await own.memberCount(id)).toBe(emails.length);
    expect(await own.told(id)).toEqual(emails.map((email) => `segment.beta-testers.entry ${email}`).sort());
  });
});

describe('removing members', () => {
  test('only memberships that end are counted', async () => {
    const { id } = await aStatic();
    await add(id, { emails: [anna, ben] });
    expect((await remove(id, { emails: [ben.toUpperCase(), ben, cleo, unknown, 'nobody'] })).body).toEqual({
      removed: 1,
    });
    expect((await remove(id, { emails: [ben] })).body).toEqual({ removed: 0 });
    expect(await own.memberCount(id)).toBe(1);
    expect(await own.members(id)).toEqual([anna]);
  });

  test('leaving and coming back is one membership with a new beginning', async () => {
    const { id } = await aStatic();
    const row = () =>
      database.db.row<{ entered: Date; left: Date | null }>(
        `select extract(epoch from entered_at) as entered, exited_at as left from segment_memberships where segment_id = $1`,
        [id],
      );
    await add(id, { emails: [anna] });
    const first = await row();
    expect(first?.left).toBeNull();
    await remove(id, { emails: [anna] });
    expect(await row()).toMatchObject({ entered: first?.entered, left: expect.anything() });
    await add(id, { emails: [anna] });
    const again = await row();
    expect(again?.left).toBeNull();
    expect(Number(again?.entered)).toBeGreaterThan(Number(first?.entered));
  });
});

describe('events', () => {
  test('a tracked segment tells of each real change, once, with its id and name', async () => {
    const { id } = await aStatic(true);
    await add(id, { emails: [anna, ben] });
    await add(id, { emails: [anna] });
    await remove(id, { emails: [anna, cleo] });
    await remove(id, { emails: [anna] });
    await add(id, { emails: [anna] });
    expect(await own.told(id)).toEqual([
      ...sorted(`segment.beta-testers.entry ${anna}`, `segment.beta-testers.entry ${ben}`),
      `segment.beta-testers.exit ${anna}`,
      `segment.beta-testers.entry ${anna}`,
    ]);
    const payload = await database.db.row(
      `select distinct data from events where project_id = $1 and data ->> 'segmentId' = $2`,
      [project.id, id],
    );
    expect(payload).toEqual({ data: { segmentId: id, segmentName: 'Beta Testers' } });
  });

  test('an untracked one tells nothing, and a rename changes later names only', async () => {
    const { id } = await aStatic();
    await add(id, { emails: [anna] });
    expect(await own.told(id)).toEqual([]);
    await own.call('PATCH', `/segments/${id}`, { trackMembership: true, name: 'Alpha' });
    await remove(id, { emails: [anna] });
    await own.call('PATCH', `/segments/${id}`, { name: '¡¿?!' });
    await add(id, { emails: [anna] });
    expect(await own.told(id)).toEqual([`segment.alpha.exit ${anna}`, `segment.${id}.entry ${anna}`]);
  });
});

describe('bad input', () => {
  test.each([
    ['no body', undefined],
    ['no emails', {}],
    ['an empty list', { emails: [] }],
    ['one address instead of a list', { emails: 'anna@example.com' }],
    ['null', { emails: null }],
  ])('%s is a bare 400, for adding and for removing', async (_, body) => {
    const { id } = await aStatic();
    for (const answer of [await add(id, body), await remove(id, body)])
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });

  test('a list with something else than texts, or a flag that is none, is a 422', async () => {
    const { id } = await aStatic();
    const list = await add(id, { emails: [anna, 5] });
    expect([list.status, list.body.error.errors[0].field]).toEqual([422, 'emails.1']);
    const flag = await add(id, { emails: [anna], createMissing: 'yes' });
    expect([flag.status, flag.body.error.errors[0].field]).toEqual([422, 'createMissing']);
    expect(await own.members(id)).toEqual([]);
  });

  test('members of a dynamic segment cannot be set', async () => {
    const { id } = await own.segment({ condition: allOf(dataIs('plan', 'pro')) });
    for (const answer of [await add(id, { emails: [anna] }), await remove(id, { emails: [anna] })])
      expect([answer.status, answer.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('unknown and foreign segments are a 404, and contacts of another project are not found', async () => {
    const foreign = await other.segment({ type: 'STATIC' });
    for (const id of [randomUUID(), 'nonsense', foreign.id])
      for (const answer of [await add(id, { emails: [anna] }), await remove(id, { emails: [anna] })])
        expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await other.members(foreign.id)).toEqual([]);
    const { id } = await aStatic();
    expect((await add(id, { emails: [unknown] })).body).toEqual({ added: 0, created: 0, notFound: [unknown] });
  });
});

test('a deleted contact leaves its segments without an event', async () => {
  const { id } = await aStatic(true);
  const email = more[25] ?? '';
  const contactId = await own.contact(email);
  await add(id, { emails: [email, anna] });
  expect((await own.call('DELETE', `/contacts/${contactId}`)).status).toBe(204);
  expect(await own.members(id)).toEqual([anna]);
  expect((await own.call('GET', `/segments/${id}/contacts`)).body.total).toBe(1);
  expect((await own.call('POST', `/segments/${id}/refresh`)).body).toEqual({ memberCount: 1 });
});
