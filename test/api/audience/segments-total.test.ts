import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import {
  addresses,
  allOf,
  dataIs,
  type SegmentHand,
  segmentHand,
  type TestCondition,
  type TestFilter,
} from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
const [anna = '', ben = '', cleo = '', dora = ''] = addresses(4);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

interface Tenant extends SegmentHand {
  project: TestProject;
  ids: Record<string, string>;
}
async function tenant(): Promise<Tenant> {
  const project = await aProject(database);
  const hand = segmentHand(api, database, project);
  const ids: Record<string, string> = {};
  for (const email of [anna, ben, cleo]) ids[email] = await hand.contact(email, { plan: 'pro' });
  return { ...hand, project, ids };
}
const purchase: TestFilter = { field: 'event.purchase', operator: 'triggered' };

/** Lists until the total comes from what was counted before: nothing counts as settled for the first two seconds. */
async function listed(own: Tenant, id: string): Promise<number> {
  await own.call('GET', `/segments/${id}/contacts`);
  // As if the count were older: then only a change that is noticed can bring about another one.
  await database.db.count(`update segments set listed_through = now(), listed_at = now() where id = $1`, [id]);
  return (await own.call('GET', `/segments/${id}/contacts`)).body.total;
}
const listAgain = async (own: Tenant, id: string) => (await own.call('GET', `/segments/${id}/contacts`)).body.total;

describe('the total of a list', () => {
  test.each<[string, TestCondition, (own: Tenant) => Promise<unknown>, number, number]>([
    ['changed data', allOf(dataIs('plan', 'pro')), (own) => own.contact(anna, { plan: 'free' }), 3, 2],
    ['a new contact', allOf(dataIs('plan', 'pro')), (own) => own.contact(dora, { plan: 'pro' }), 3, 4],
    ['a deleted contact', allOf(dataIs('plan', 'pro')), (own) => own.call('DELETE', `/contacts/${own.ids[ben]}`), 3, 2],
    [
      'an event',
      allOf(purchase),
      (own) => api.call(own.project.publicKey, 'POST', '/v1/track', { email: anna, event: 'purchase' }),
      0,
      1,
    ],
    [
      'an unsubscription',
      allOf({ field: 'subscribed', operator: 'equals', value: true }),
      (own) => own.call('PATCH', `/contacts/${own.ids[anna]}`, { subscribed: false }),
      3,
      2,
    ],
    [
      'a changed address',
      allOf({ field: 'email', operator: 'equals', value: 'new@example.com' }),
      (own) => own.call('PATCH', `/contacts/${own.ids[anna]}`, { email: 'new@example.com' }),
      0,
      1,
    ],
  ])('follows %s at once', async (_, condition, change, before, after) => {
    const own = await tenant();
    const { id } = await own.segment({ condition });
    expect(await listed(own, id)).toBe(before);
    await change(own);
    expect(await listAgain(own, id)).toBe(after);
    expect(await own.memberCount(id)).toBe(before);
  });

  test('is not counted again while nothing changed', async () => {
    const own = await tenant();
    const { id } = await own.segment({ condition: allOf(dataIs('plan', 'pro')) });
    expect(await listed(own, id)).toBe(3);
    await database.db.count('update segments set listed_count = 41 where id = $1', [id]);
    expect(await listAgain(own, id)).toBe(41);
    await own.call('PATCH', `/segments/${id}`, { condition: allOf(dataIs('plan', 'pro')) });
    expect(await listAgain(own, id)).toBe(3);
  });

  test('follows the members of a static segment and the segments that a condition refers to', async () => {
    const own = await tenant();
    const hand = await own.segment({ type: 'STATIC' });
    const base = await own.segment({ condition: allOf(dataIs('plan', 'pro')) });
    const member = (id: string) => ({ field: `segment.${id}`, operator: 'memberOfSegment' });
    const both = await own.segment({ condition: allOf(member(hand.id), member(base.id)) });
    expect([await listed(own, hand.id), await listed(own, both.id)]).toEqual([0, 0]);
    await own.call('POST', `/segments/${hand.id}/members`, { emails: [anna, ben] });
    expect([await listAgain(own, hand.id), await listAgain(own, both.id)]).toEqual([2, 2]);
    expect([await listed(own, hand.id), await listed(own, both.id)]).toEqual([2, 2]);
    await own.call('DELETE', `/segments/${hand.id}/members`, { emails: [anna] });
    expect([await listAgain(own, hand.id), await listAgain(own, both.id)]).toEqual([1, 1]);
    expect(await listed(own, both.id)).toBe(1);
    await own.call('PATCH', `/segments/${base.id}`, { condition: allOf(dataIs('plan', 'free')) });
    expect(await listAgain(own, both.id)).toBe(0);
  });

  test('lets go of who has left a window of time after some seconds', async () => {
    const own = await tenant();
    await api.call(own.project.publicKey, 'POST', '/v1/track', { email: anna, event: 'purchase' });
    const recent = { ...purchase, operator: 'triggeredWithin', value: 1, unit: 'days' };
    const { id } = await own.segment({ condition: allOf(recent) });
    expect(await listed(own, id)).toBe(1);
    await database.db.count(`update events set created_at = now() - interval '25 hours' where project_id = $1`, [
      own.project.id,
    ]);
    await database.db.count(`update segments set listed_at = now() - interval '11 seconds' where id = $1`, [id]);
    expect(await listAgain(own, id)).toBe(0);
  });
});
