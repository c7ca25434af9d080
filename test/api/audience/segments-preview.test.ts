import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses, allOf, anyOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;
let other: SegmentHand;
const people = addresses(13);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
  other = segmentHand(api, database, await aProject(database, 'Umbrella'));
  for (const [index, email] of people.entries()) await own.contact(email, { plan: index < 12 ? 'pro' : 'free' });
  await other.contact(people[0] ?? '', { plan: 'pro' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const preview = (condition: unknown) => own.call('POST', '/segments/preview', { condition });

test('a condition shows how many it finds and the ten newest of them, as the segment of it would', async () => {
  const condition = allOf(dataIs('plan', 'pro'));
  const { status, body } = await preview(condition);
  expect(status).toBe(200);
  expect(body.total).toBe(12);
  expect(body.contacts.map(({ email }: { email: string }) => email)).toEqual(people.slice(2, 12).reverse());
  const { id } = await own.segment({ condition });
  const listed = await own.call('GET', `/segments/${id}/contacts?pageSize=10`);
  expect(body).toEqual({ total: listed.body.total, contacts: listed.body.data });
});

test('a limit asks for fewer of the newest, or for the count alone', async () => {
  const condition = allOf(dataIs('plan', 'pro'));
  const limited = async (limit: unknown) => own.call('POST', '/segments/preview', { condition, limit });
  const three = (await limited(3)).body;
  expect(three).toMatchObject({ total: 12 });
  expect(three.contacts.map(({ email }: { email: string }) => email)).toEqual(people.slice(9, 12).reverse());
  expect((await limited(0)).body).toEqual({ total: 12, contacts: [] });
  for (const wrong of [-1, 11, 1.5, '3']) expect((await limited(wrong)).status).toBe(422);
});

test('a preview stores nothing', async () => {
  const before = await own.call('GET', '/segments');
  await preview(allOf(dataIs('plan', 'free')));
  expect((await own.call('GET', '/segments')).body).toEqual(before.body);
});

test('a condition may refer to segments of the project, not to those of others', async () => {
  const mine = await own.segment({ condition: allOf(dataIs('plan', 'free')) });
  const theirs = await other.segment({ condition: allOf(dataIs('plan', 'pro')) });
  const member = (id: string) => allOf({ field: `segment.${id}`, operator: 'memberOfSegment' });
  expect((await preview(member(mine.id))).body).toMatchObject({ total: 1, contacts: [{ email: people[12] }] });
  const refused = await preview(member(theirs.id));
  expect(refused).toMatchObject({ status: 400, body: { error: { details: { path: 'groups.0.filters.0.field' } } } });
});

test.each([
  ['an operator of another field', 'groups.1.filters.0.operator', { field: 'email', operator: 'within', value: 1 }],
  ['a missing value', 'groups.1.filters.0.value', { field: 'email', operator: 'contains' }],
  ['a missing unit', 'groups.1.filters.0.unit', { field: 'event.purchase', operator: 'triggeredWithin', value: 1 }],
  ['a field that there is none of', 'groups.1.filters.0.field', { field: 'phone', operator: 'equals', value: 1 }],
])('%s is a 400 that names its place', async (_, path, filter) => {
  const { status, body } = await preview(anyOf(dataIs('plan', 'pro'), filter));
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'BAD_REQUEST', details: { path } });
});

test.each([undefined, null, 'all', 3, []])('a condition that is no object (%j) is a 400', async (condition) => {
  expect(await preview(condition)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
});

test('a list of segments tells the count of each', async () => {
  const hand = segmentHand(api, database, await aProject(database, 'Initech'));
  await hand.contact(people[0] ?? '', { plan: 'pro' });
  await hand.contact(people[1] ?? '', { plan: 'pro' });
  await hand.segment({ name: 'Pro', condition: allOf(dataIs('plan', 'pro')) });
  await hand.segment({ name: 'Nobody', condition: allOf(dataIs('plan', 'none')) });
  const { body } = await hand.call('GET', '/segments');
  expect(body).toMatchObject([
    { name: 'Nobody', memberCount: 0 },
    { name: 'Pro', memberCount: 2 },
  ]);
});
