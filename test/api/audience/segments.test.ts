import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { aTemplate } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses, allOf, anyOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;
let other: SegmentHand;
const [anna = '', ben = '', cleo = '', dora = ''] = addresses(4);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
  other = segmentHand(api, database, await aProject(database, 'Umbrella'));
  await own.contact(anna, { plan: 'pro', score: 90 });
  await own.contact(ben, { plan: 'pro', score: 10 });
  await own.contact(cleo, { plan: 'free', score: 50 });
  await own.contact(dora);
  await other.contact(anna, { plan: 'pro' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const pro = allOf(dataIs('plan', 'pro'));
const member = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' });
const notMember = (id: string) => ({ field: `segment.${id}`, operator: 'notMemberOfSegment' });
const emailsOf = async (id: string, query = '') =>
  (await own.call('GET', `/segments/${id}/contacts${query}`)).body.data.map(({ email }: { email: string }) => email);

describe('creating and reading', () => {
  test('a dynamic segment is counted at once and answered whole', async () => {
    const answer = await own.call('POST', '/segments', { name: 'Pro users', condition: pro, unknown: 1 });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pro users',
      description: null,
      type: 'DYNAMIC',
      condition: pro,
      trackMembership: false,
      memberCount: 2,
      revision: 1,
      projectId: project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await own.call('GET', `/segments/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('a static segment ignores a condition and begins empty', async () => {
    const body = { name: 'Beta testers', description: 'by hand', type: 'STATIC', condition: 'whatever' };
    expect(await own.segment(body)).toMatchObject({
      description: 'by hand',
      type: 'STATIC',
      condition: null,
      memberCount: 0,
    });
  });

  test('creating a tracked segment makes no members and tells nothing', async () => {
    const { id, memberCount } = await own.segment({ condition: pro, trackMembership: true });
    expect(memberCount).toBe(2);
    expect(await own.members(id)).toEqual([]);
    expect(await own.told(id)).toEqual([]);
  });

  test('segments are listed newest first, whatever the query says', async () => {
    const [one, two] = [
      await own.segment({ name: 'One', condition: pro }),
      await own.segment({ name: 'One', condition: pro }),
    ];
    const list = (await own.call('GET', '/segments?limit=1&page=2')).body;
    expect(list.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([two.id, one.id]);
    expect(list.length).toBeGreaterThan(2);
  });

  test.each([
    ['no name', { condition: pro }],
    ['an empty name', { name: '', condition: pro }],
    ['no condition', { name: 'x' }],
    ['a condition that is no object', { name: 'x', condition: 'plan = pro' }],
    ['a list as condition', { name: 'x', type: 'DYNAMIC', condition: [pro] }],
    ['null as condition', { name: 'x', condition: null }],
  ])('%s is a bare 400', async (_, body) => {
    const answer = await own.call('POST', '/segments', body);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });

  test.each([
    ['a name of 101 characters', { name: 'x'.repeat(101), condition: pro }, 'name', 'too_big'],
    [
      'a description of 501 characters',
      { name: 'x', description: 'd'.repeat(501), condition: pro },
      'description',
      'too_big',
    ],
    ['an unknown type', { name: 'x', type: 'SMART', condition: pro }, 'type', 'invalid_enum_value'],
    ['a number as name', { name: 5, condition: pro }, 'name', 'invalid_type'],
    [
      'a word as trackMembership',
      { name: 'x', condition: pro, trackMembership: 'yes' },
      'trackMembership',
      'invalid_type',
    ],
  ])('%s is a 422 that names the field', async (_, body, field, code) => {
    const answer = await own.call('POST', '/segments', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toMatchObject([{ field, code }]);
  });

  test.each([
    ['an unknown operator', allOf({ field: 'data.plan', operator: 'like', value: 'p' }), 'groups.0.filters.0.operator'],
    [
      'a value of the wrong kind',
      allOf({ field: 'subscribed', operator: 'equals', value: 5 }),
      'groups.0.filters.0.value',
    ],
    [
      'a window without a unit',
      allOf({ field: 'event.purchase', operator: 'triggeredWithin', value: 3 }),
      'groups.0.filters.0.unit',
    ],
    ['an empty group', { logic: 'AND', groups: [{ filters: [] }] }, 'groups.0'],
    ['a foreign logic', { logic: 'XOR', groups: [{ filters: [dataIs('plan', 'pro')] }] }, 'logic'],
    ['an unknown segment', allOf(member(randomUUID())), 'groups.0.filters.0.field'],
    ['an id that is none', allOf(dataIs('a', 1), member('beta')), 'groups.0.filters.1.field'],
    ['eleven levels', nestedTo(11), `${'groups.0.conditions.'.repeat(9)}groups.0.conditions`],
  ])('%s is refused with the place in the tree', async (_, condition, path) => {
    const answer = await own.call('POST', '/segments', { name: 'x', condition });
    expect([answer.status, answer.body.error?.code, answer.body.error?.details?.path]).toEqual([
      400,
      'BAD_REQUEST',
      path,
    ]);
  });

  test('a tree of ten levels is taken', async () => {
    expect(await own.segment({ condition: nestedTo(10) })).toMatchObject({ memberCount: 2 });
  });
});

describe('changing and deleting', () => {
  test('parts that are absent stay, null clears, the type never changes', async () => {
    const { id } = await own.segment({ name: 'Before', description: 'old', condition: pro });
    const changed = await own.call('PATCH', `/segments/${id}`, { name: 'After', type: 'STATIC' });
    expect(changed.body).toMatchObject({
      name: 'After',
      description: 'old',
      type: 'DYNAMIC',
      condition: pro,
      memberCount: 2,
    });
    const cleared = await own.call('PATCH', `/segments/${id}`, { description: null });
    expect(cleared.body).toMatchObject({ name: 'After', description: null });
    expect((await own.call('PATCH', `/segments/${id}`, {})).body).toEqual(cleared.body);
  });

  test('a new condition is counted at once, without events', async () => {
    const { id } = await own.segment({ condition: pro, trackMembership: true });
    await own.call('POST', `/segments/${id}/compute`);
    const before = await own.told(id);
    expect(before).toHaveLength(2);
    const condition = allOf({ field: 'data.plan', operator: 'exists' });
    expect((await own.call('PATCH', `/segments/${id}`, { condition })).body).toMatchObject({
      condition,
      memberCount: 3,
    });
    expect(await own.told(id)).toEqual(before);
  });

  test('a static segment ignores a condition', async () => {
    const { id } = await own.segment({ type: 'STATIC' });
    const answer = await own.call('PATCH', `/segments/${id}`, { condition: { logic: 'nonsense' } });
    expect([answer.status, answer.body.condition]).toEqual([200, null]);
  });

  test('what is refused changes nothing', async () => {
    const segment = await own.segment({ condition: pro });
    const path = `/segments/${segment.id}`;
    const bare = await own.call('PATCH', path, { name: 'New', condition: null });
    expect([bare.status, Object.keys(bare.body)]).toEqual([400, ['error']]);
    const tree = await own.call('PATCH', path, { name: 'New', condition: { logic: 'AND', groups: [] } });
    expect([tree.status, tree.body.error.details.path]).toEqual([400, 'groups']);
    expect((await own.call('PATCH', path, { name: '' })).body.error.errors).toMatchObject([{ code: 'too_small' }]);
    expect((await own.call('PATCH', path, { name: 'x'.repeat(101) })).status).toBe(422);
    expect((await own.call('GET', path)).body).toEqual(segment);
  });

  test('a deleted segment is gone with its memberships; its events stay', async () => {
    const { id } = await own.segment({ name: 'Short lived', condition: pro, trackMembership: true });
    await own.call('POST', `/segments/${id}/compute`);
    const answer = await own.call('DELETE', `/segments/${id}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect((await own.call('GET', `/segments/${id}`)).status).toBe(404);
    expect((await own.call('DELETE', `/segments/${id}`)).status).toBe(404);
    expect(await own.members(id)).toEqual([]);
    expect(await own.told(id)).toHaveLength(2);
  });

  test('a segment with campaigns that are not over cannot be deleted', async () => {
    const { id } = await own.segment({ condition: pro });
    const statuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'];
    for (const status of statuses)
      await database.db.count(
        `insert into campaigns (id, project_id, name, subject, body, "from", status, audience_type, segment_id)
         values ($1, $2, 'Spring', 's', 'b', $3, $4, 'SEGMENT', $5)`,
        [randomUUID(), project.id, project.sender, status, id],
      );
    const refused = await own.call('DELETE', `/segments/${id}`);
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
      409,
      'CONFLICT',
      { campaigns: 3 },
    ]);
    await database.db.count(`update campaigns set status = 'SENT' where segment_id = $1`, [id]);
    expect((await own.call('DELETE', `/segments/${id}`)).status).toBe(204);
  });

  test.each(['GET', 'PATCH', 'DELETE'])(
    '%s of an unknown id, of one that is none and of a foreign segment is a 404',
    async (method) => {
      const foreign = await other.segment({ condition: pro });
      for (const id of [randomUUID(), 'nonsense', foreign.id]) {
        const answer = await own.call(method, `/segments/${id}`, method === 'PATCH' ? { name: 'Mine' } : undefined);
        expect([answer.status, answer.body.error?.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect((await other.call('GET', `/segments/${foreign.id}`)).body).toEqual(foreign);
    },
  );
});

describe('segments that refer to segments', () => {
  test('an untracked one is asked by its condition, a static one by its members', async () => {
    const base = await own.segment({ condition: pro });
    const hand = await own.segment({ type: 'STATIC' });
    await own.call('POST', `/segments/${hand.id}/members`, { emails: [ben, cleo] });
    expect(await own.segment({ condition: allOf(member(base.id), member(hand.id)) })).toMatchObject({ memberCount: 1 });
    expect(await own.segment({ condition: anyOf(member(base.id), member(hand.id)) })).toMatchObject({ memberCount: 3 });
    expect(await own.segment({ condition: allOf(notMember(base.id)) })).toMatchObject({ memberCount: 2 });
  });

  test('a segment of another project is as unknown as none', async () => {
    const foreign = await other.segment({ condition: pro });
    const answer = await own.call('POST', '/segments', { name: 'x', condition: allOf(member(foreign.id)) });
    expect([answer.status, answer.body.error.details.path]).toEqual([400, 'groups.0.filters.0.field']);
  });

  test('a segment cannot refer to itself, nor into a circle', async () => {
    const one = await own.segment({ condition: pro });
    const two = await own.segment({ condition: allOf(member(one.id)) });
    const three = await own.segment({ condition: allOf(notMember(two.id)) });
    for (const id of [one.id, two.id, three.id]) {
      const answer = await own.call('PATCH', `/segments/${one.id}`, { condition: allOf(member(id)) });
      expect([answer.status, answer.body.error.details.path]).toEqual([400, 'groups.0.filters.0.field']);
    }
    expect((await own.call('GET', `/segments/${one.id}`)).body.condition).toEqual(pro);
  });

  test('of two edits at once that would close a circle one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [await own.segment({ condition: pro }), await own.segment({ condition: pro })];
      const answers = await Promise.all([
        own.call('PATCH', `/segments/${one.id}`, { condition: allOf(member(two.id)) }),
        own.call('PATCH', `/segments/${two.id}`, { condition: allOf(member(one.id)) }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });

  test('a segment that is gone has no members: nobody is in it, everybody is not', async () => {
    const gone = await own.segment({ condition: pro });
    const inside = await own.segment({ condition: allOf(member(gone.id)) });
    const outside = await own.segment({ condition: allOf(notMember(gone.id)) });
    expect([inside.memberCount, outside.memberCount]).toEqual([2, 2]);
    expect((await own.call('DELETE', `/segments/${gone.id}`)).status).toBe(204);
    expect((await own.call('POST', `/segments/${inside.id}/refresh`)).body).toEqual({ memberCount: 0 });
    expect((await own.call('POST', `/segments/${outside.id}/refresh`)).body).toEqual({ memberCount: 4 });
    expect(await emailsOf(inside.id)).toEqual([]);
    // The stored condition can still be read, and the rest of the segment be changed.
    const renamed = await own.call('PATCH', `/segments/${inside.id}`, { name: 'Nobody' });
    expect([renamed.status, renamed.body.condition]).toEqual([200, inside.condition]);
  });
});

describe('filters on what contacts did', () => {
  const buyers = (more: object) => allOf({ field: 'event.bought', operator: 'triggered', ...more });
  const count = async (condition: unknown) =>
    (await own.call('POST', '/segments/preview', { condition, limit: 0 })).body.total;

  test('ask for the data of an event and for how often it happened', async () => {
    for (const [email, total] of [
      [anna, 80],
      [anna, 20],
      [ben, 20],
    ] as const)
      await api.call(project.publicKey, 'POST', '/v1/track', { email, event: 'bought', data: { order: { total } } });
    const large = { where: [{ path: 'order.total', operator: 'greaterThan', value: 50 }] };
    expect(await count(buyers({}))).toBe(2);
    expect(await count(buyers(large))).toBe(1);
    expect(await count(buyers({ times: { atLeast: 2 } }))).toBe(1);
    expect(await count(buyers({ times: { atLeast: 0, atMost: 1 } }))).toBe(3);
    expect(await count(buyers({ ...large, times: { atLeast: 2 } }))).toBe(0);
  });

  test('ask for mail of a template; one that the project does not have is refused by its name', async () => {
    const third = await aProject(database, 'Third');
    const [mine, foreign] = [await aTemplate(database.db, project), await aTemplate(database.db, third)];
    const opened = (of: object) => allOf({ field: 'email.opened', operator: 'triggered', of });
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, template_id, opened_at)
       select gen_random_uuid(), project_id, id, email, 'hello@fernpost.test', 'TRANSACTIONAL', 'TRANSACTIONAL', $2, now()
       from contacts where project_id = $1 and email = $3`,
      [project.id, mine, anna],
    );
    expect(await count(opened({ templateId: mine }))).toBe(1);
    for (const source of [{ templateId: foreign }, { campaignId: mine }, { stepId: randomUUID() }]) {
      const [kind] = Object.keys(source);
      const refused = await own.call('POST', '/segments', { name: 'x', condition: opened(source) });
      expect([refused.status, refused.body.error.details.path]).toEqual([400, `groups.0.filters.0.of.${kind}`]);
    }
  });
});

describe('the contacts of a segment', () => {
  test('a dynamic one is evaluated now, newest first, page by page', async () => {
    const { id } = await own.segment({
      condition: allOf({ field: 'data.score', operator: 'greaterThanOrEqual', value: 10 }),
    });
    const first = (await own.call('GET', `/segments/${id}/contacts?pageSize=2`)).body;
    expect(first).toMatchObject({ total: 3, page: 1, pageSize: 2, totalPages: 2 });
    expect(first.data.map(({ email }: { email: string }) => email)).toEqual([cleo, ben]);
    expect(first.data[0]).toMatchObject({ data: { plan: 'free', score: 50 }, projectId: project.id, subscribed: true });
    expect(await emailsOf(id, '?pageSize=2&page=2')).toEqual([anna]);
    expect(await emailsOf(id, '?page=9')).toEqual([]);
    await own.contact(dora, { score: 11 });
    expect(await emailsOf(id)).toEqual([dora, cleo, ben, anna]);
    expect(await own.memberCount(id)).toBe(3);
    await own.contact(dora, { score: null });
  });

  test('page and size outside their limits are clamped', async () => {
    const { id } = await own.segment({ condition: pro });
    const page = async (query: string) => {
      const { body } = await own.call('GET', `/segments/${id}/contacts?${query}`);
      return [body.page, body.pageSize, body.data.length];
    };
    expect(await page('')).toEqual([1, 20, 2]);
    expect(await page('page=0&pageSize=0')).toEqual([1, 20, 2]);
    expect(await page('page=-3&pageSize=101')).toEqual([1, 100, 2]);
    expect(await page('page=x&pageSize=x')).toEqual([1, 20, 2]);
    expect(await page('pageSize=1')).toEqual([1, 1, 1]);
  });

  test('members of a static one come latest joined first', async () => {
    const { id } = await own.segment({ type: 'STATIC' });
    for (const email of [cleo, anna, ben]) await own.call('POST', `/segments/${id}/members`, { emails: [email] });
    await own.call('DELETE', `/segments/${id}/members`, { emails: [anna] });
    expect(await emailsOf(id)).toEqual([ben, cleo]);
    await own.call('POST', `/segments/${id}/members`, { emails: [anna] });
    expect(await emailsOf(id)).toEqual([anna, ben, cleo]);
    expect((await own.call('GET', `/segments/${id}/contacts?pageSize=2&page=2`)).body).toMatchObject({
      total: 3,
      totalPages: 2,
    });
  });

  test('those of a foreign segment are not shown', async () => {
    const foreign = await other.segment({ condition: pro });
    expect((await own.call('GET', `/segments/${foreign.id}/contacts`)).status).toBe(404);
  });
});

function nestedTo(levels: number): unknown {
  let condition: unknown = pro;
  for (let level = 1; level < levels; level++)
    condition = { logic: 'AND', groups: [{ filters: [], conditions: condition }] };
  return condition;
}
