import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses, allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

// Who a campaign goes to, as the interface counts and checks it. No worker runs here.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let hand: SegmentHand;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  hand = segmentHand(api, database, project);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const content = () => ({
  name: 'Spring sale',
  subject: 'Hi {{firstName ?? there}}',
  body: '<p>Everything must go.</p>',
  from: project.sender,
});
const create = (changes: object) => call('POST', '/campaigns', { ...content(), ...changes });
const unsubscribe = (email: string) =>
  database.db.count('update contacts set subscribed = false where project_id = $1 and email = $2', [project.id, email]);
const isPro = allOf(dataIs('plan', 'pro'));

describe('an audience', () => {
  test('ALL is everybody who is subscribed; a transactional campaign goes to the others too', async () => {
    const [one, two, three] = addresses(3) as [string, string, string];
    for (const email of [one, two, three]) await hand.contact(email);
    await unsubscribe(two);
    const sizes = await Promise.all(
      ['MARKETING', 'HEADLESS', 'TRANSACTIONAL'].map((type) => create({ audienceType: 'ALL', type })),
    );
    expect(sizes.map(({ body }) => body.data.totalRecipients)).toEqual([2, 2, 3]);
  });

  test('FILTERED is whom the condition matches among them, and a filter on subscription never widens it', async () => {
    const [one, two, three] = addresses(3) as [string, string, string];
    await hand.contact(one, { plan: 'pro' });
    await hand.contact(two, { plan: 'pro' });
    await hand.contact(three, { plan: 'free' });
    await unsubscribe(two);
    const filtered = (audienceCondition: object, type = 'MARKETING') =>
      create({ audienceType: 'FILTERED', audienceCondition, type }).then(({ body }) => body.data.totalRecipients);
    expect(await filtered(isPro)).toBe(1);
    expect(await filtered(isPro, 'TRANSACTIONAL')).toBe(2);
    const gone = allOf({ field: 'subscribed', operator: 'equals', value: false });
    expect(await filtered(gone)).toBe(0);
    expect(await filtered(gone, 'TRANSACTIONAL')).toBe(1);
  });

  test('SEGMENT asks a dynamic segment live, even a tracked one, and a static one for its members', async () => {
    const [one, two] = addresses(2) as [string, string];
    const dynamic = await hand.segment({ name: 'Pros', condition: isPro, trackMembership: true });
    const fixed = await hand.segment({ name: 'Friends', type: 'STATIC' });
    await hand.contact(one, { plan: 'pro' });
    await hand.contact(two, { plan: 'free' });
    await call('POST', `/segments/${fixed.id}/members`, { emails: [one, two] });
    // Nothing has computed the memberships of the tracked one.
    expect(await hand.members(dynamic.id)).toEqual([]);
    const size = async (segmentId: string) =>
      (await create({ audienceType: 'SEGMENT', segmentId })).body.data.totalRecipients;
    expect(await size(dynamic.id)).toBe(1);
    expect(await size(fixed.id)).toBe(2);
    await unsubscribe(two);
    expect(await size(fixed.id)).toBe(1);
    await call('DELETE', `/segments/${fixed.id}/members`, { emails: [one] });
    expect(await size(fixed.id)).toBe(0);
  });

  test('of another kind than the segment or condition that came with it stores and ignores them', async () => {
    const [one] = addresses(1) as [string];
    await hand.contact(one);
    const answer = await create({ audienceType: 'ALL', segmentId: newId(), audienceCondition: isPro });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({ audienceType: 'ALL', audienceCondition: isPro, totalRecipients: 1 });
  });

  test('is counted anew when a draft gets another one or another type, and only then', async () => {
    const [one, two] = addresses(2) as [string, string];
    await hand.contact(one, { plan: 'pro' });
    const draft = await create({ audienceType: 'ALL' });
    const { id } = draft.body.data;
    await hand.contact(two, { plan: 'free' });
    const put = (body: object) => call('PUT', `/campaigns/${id}`, body).then((answer) => answer.body.data);
    expect(await put({ name: 'Renamed' })).toMatchObject({ name: 'Renamed', totalRecipients: 1 });
    expect(await put({ audienceType: 'ALL' })).toMatchObject({ totalRecipients: 2 });
    expect(await put({ audienceType: 'FILTERED', audienceCondition: isPro })).toMatchObject({ totalRecipients: 1 });
    expect(await put({ audienceCondition: allOf(dataIs('plan', 'free')) })).toMatchObject({ totalRecipients: 1 });
    await unsubscribe(two);
    expect(await put({ type: 'HEADLESS' })).toMatchObject({ totalRecipients: 0 });
    expect(await put({ audienceCondition: null })).toMatchObject({ audienceCondition: null, totalRecipients: 0 });
  });
});

describe('a new campaign is refused', () => {
  test.each([
    ['SEGMENT without a segment', { audienceType: 'SEGMENT' }, 400],
    ['FILTERED without a condition', { audienceType: 'FILTERED' }, 400],
    ['a segment that there is not', { audienceType: 'SEGMENT', segmentId: newId() }, 404],
    ['a condition that is a list', { audienceType: 'FILTERED', audienceCondition: [] }, 422],
    ['a condition without groups', { audienceType: 'FILTERED', audienceCondition: { logic: 'AND' } }, 422],
    ['a condition of another logic', { audienceType: 'FILTERED', audienceCondition: { ...isPro, logic: 'XOR' } }, 422],
    [
      'a filter without a field',
      { audienceType: 'FILTERED', audienceCondition: allOf({ operator: 'equals', value: 1 }) },
      422,
    ],
    [
      'a filter on something that there is not',
      { audienceType: 'FILTERED', audienceCondition: allOf({ field: 'weather', operator: 'equals', value: 'rain' }) },
      400,
    ],
    [
      'an operator that there is not',
      { audienceType: 'FILTERED', audienceCondition: allOf({ field: 'data.plan', operator: 'like', value: 'p' }) },
      400,
    ],
  ])('for %s', async (_, changes, status) => {
    const answer = await create(changes);
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.body.error.errors[0].field).toMatch(/^audienceCondition/);
    expect((await call('GET', '/campaigns')).body.total).toBe(0);
  });

  test('for a condition of more levels than any tree may have, without being walked to its end', async () => {
    const levels = 20_000;
    const tree = `${'{"logic":"AND","groups":[{"filters":[],"conditions":'.repeat(levels)}null${'}]}'.repeat(levels)}`;
    const rest = JSON.stringify({ ...content(), audienceType: 'FILTERED' }).slice(0, -1);
    const answer = await api.call(project.secretKey, 'POST', '/campaigns', `${rest},"audienceCondition":${tree}}`, {
      'Content-Type': 'application/json',
    });
    expect(answer.status).toBe(400);
  });

  test('for a segment of another project, as its audience or in its condition', async () => {
    const other = await aProject(database);
    const foreign = await segmentHand(api, database, other).segment({ name: 'Theirs', condition: isPro });
    expect((await create({ audienceType: 'SEGMENT', segmentId: foreign.id })).status).toBe(404);
    const member = { field: `segment.${foreign.id}`, operator: 'memberOf' };
    const answer = await create({ audienceType: 'FILTERED', audienceCondition: allOf(member) });
    expect(answer.status).toBe(400);
  });

  test('in the order schema, companion, template, sender, segment', async () => {
    const broken = { body: '{% if %}', from: 'hello@nowhere.test' };
    expect((await create({ ...broken, audienceType: 'SEGMENT', name: '' })).status).toBe(422);
    expect((await create({ ...broken, audienceType: 'SEGMENT' })).body.error.code).toBe('BAD_REQUEST');
    const withSegment = { audienceType: 'SEGMENT', segmentId: newId() };
    expect((await create({ ...broken, ...withSegment })).body.error.code).toBe('VALIDATION_ERROR');
    expect((await create({ from: 'hello@nowhere.test', ...withSegment })).status).toBe(403);
    expect((await create(withSegment)).status).toBe(404);
  });
});

describe('a segment that a campaign goes to', () => {
  test('stands in the campaign where it is read, and not where it is written', async () => {
    const segment = await hand.segment({ name: 'Pros', condition: isPro });
    const created = await create({ audienceType: 'SEGMENT', segmentId: segment.id });
    expect(created.body.data).not.toHaveProperty('segment');
    const { id } = created.body.data;
    expect((await call('GET', `/campaigns/${id}`)).body.data.segment).toEqual(segment);
    expect((await call('GET', '/campaigns')).body.data[0].segment).toEqual(segment);
  });

  test.each(['SCHEDULED', 'SENDING'])('cannot be deleted while it is %s', async (status) => {
    const [one] = addresses(1) as [string];
    await hand.contact(one, { plan: 'pro' });
    const segment = await hand.segment({ name: 'Pros', condition: isPro });
    const { id } = (await create({ audienceType: 'SEGMENT', segmentId: segment.id })).body.data;
    const scheduledFor = status === 'SCHEDULED' ? new Date(Date.now() + 3_600_000).toISOString() : null;
    const sent = await call('POST', `/campaigns/${id}/send`, { scheduledFor });
    expect(sent.body.data).toMatchObject({ status, segment: { id: segment.id } });
    expect((await call('DELETE', `/segments/${segment.id}`)).status).toBe(409);
  });

  test('and is gone leaves copies of the campaign without an audience, which cannot be sent', async () => {
    const [one] = addresses(1) as [string];
    await hand.contact(one, { plan: 'pro' });
    const segment = await hand.segment({ name: 'Pros', condition: isPro });
    const { id } = (await create({ audienceType: 'SEGMENT', segmentId: segment.id })).body.data;
    await database.db.count(`update campaigns set status = 'SENT' where id = $1`, [id]);
    expect((await call('DELETE', `/segments/${segment.id}`)).status).toBe(204);
    expect((await call('GET', `/campaigns/${id}`)).body.data).toMatchObject({ segmentId: segment.id, segment: null });
    const copy = await call('POST', `/campaigns/${id}/duplicate`);
    expect(copy.status).toBe(201);
    expect(copy.body.data).toMatchObject({ segmentId: segment.id, totalRecipients: 0 });
    const sent = await call('POST', `/campaigns/${copy.body.data.id}/send`);
    expect(sent.status).toBe(400);
    expect(sent.body.error.message).toMatch(/audience/);
    expect((await call('GET', `/campaigns/${copy.body.data.id}`)).body.data.status).toBe('DRAFT');
  });

  test('cannot be deleted while a campaign is on its way to a condition that asks for its members', async () => {
    const [one, two] = addresses(2) as [string, string];
    await hand.contact(one, { plan: 'pro' });
    await hand.contact(two, { plan: 'free' });
    const segment = await hand.segment({ name: 'Pros', condition: isPro });
    const others = { field: `segment.${segment.id.toUpperCase()}`, operator: 'notMemberOfSegment' };
    const audienceCondition = { logic: 'AND', groups: [{ filters: [others] }] };
    const { id } = (await create({ audienceType: 'FILTERED', audienceCondition })).body.data;
    await call('POST', `/campaigns/${id}/send`, { scheduledFor: '2999-01-01T00:00:00Z' });
    const refused = await call('DELETE', `/segments/${segment.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error.details).toEqual({ campaigns: 1 });
    await call('POST', `/campaigns/${id}/cancel`);
    expect((await call('DELETE', `/segments/${segment.id}`)).status).toBe(204);
  });

  test('is not deleted by one who asks at the moment in which a campaign takes it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const segment = await hand.segment({ name: `Pros ${round}`, condition: isPro });
      const [created, deleted] = await Promise.all([
        create({ audienceType: 'SEGMENT', segmentId: segment.id }),
        call('DELETE', `/segments/${segment.id}`),
      ]);
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([created.status, deleted.status]);
    }
  });
});
