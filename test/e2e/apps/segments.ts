import assert from 'node:assert/strict';
import { address, all, fernpost } from './app.ts';

// Groups of contacts: by a condition, and by hand.
const plan = `plan-${crypto.randomUUID().slice(0, 8)}`;
const [pro, free] = [address('pro'), address('free')];
for (const [email, data] of [
  [pro, { plan }],
  [free, { plan: 'free' }],
] as const)
  await fernpost.contacts.upsert({ email, subscribed: true, data });

const condition = {
  logic: 'AND' as const,
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals' as const, value: plan }] }],
};
assert.equal((await fernpost.call('previewSegment', { body: { condition } })).total, 1);
const dynamic = await fernpost.call('createSegment', { body: { name: plan, condition } });
const members = async (id: string) =>
  (await all(fernpost.all('listSegmentContacts', { path: { id } }))).map(({ email }) => email);
assert.deepEqual(await members(dynamic.id), [pro]);

const testers = await fernpost.call('createSegment', { body: { name: `Testers of ${plan}`, type: 'STATIC' } });
await fernpost.call('addSegmentMembers', { path: { id: testers.id }, body: { emails: [free] } });
assert.deepEqual(await members(testers.id), [free]);
