import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;
let other: SegmentHand;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
  other = segmentHand(api, database, await aProject(database, 'Umbrella'));
  for (const plan of ['pro', 'pro', 'pro', 'free']) await own.contact(`${plan}-${Math.random()}@example.org`, { plan });
  await database.db.count(
    `update contacts set subscribed = false where id = (select id from contacts where project_id = $1 and data->>'plan' = 'pro' limit 1)`,
    [project.id],
  );
  await other.contact('somebody@example.org', { plan: 'pro' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const counted = (audience: object) => own.call('POST', '/campaigns/audience', audience);

test.each([
  ['everybody', { audienceType: 'ALL' }, { recipients: 3, unsubscribed: 1 }],
  [
    'everybody for a transactional campaign',
    { audienceType: 'ALL', type: 'TRANSACTIONAL' },
    { recipients: 4, unsubscribed: 0 },
  ],
  [
    'those of a condition',
    { audienceType: 'FILTERED', audienceCondition: allOf(dataIs('plan', 'pro')) },
    { recipients: 2, unsubscribed: 1 },
  ],
])('counts %s, as a campaign with that audience does', async (_, audience, data) => {
  const { status, body } = await counted(audience);
  expect([status, body]).toEqual([200, { success: true, data }]);
  const campaign = { name: 'N', subject: 'S', body: '<p>B</p>', from: project.sender, ...audience };
  expect((await own.call('POST', '/campaigns', campaign)).body.data.totalRecipients).toBe(data.recipients);
});

test('counts the members of a segment of the project only', async () => {
  const mine = await own.segment({ condition: allOf(dataIs('plan', 'free')) });
  const theirs = await other.segment({ condition: allOf(dataIs('plan', 'pro')) });
  expect((await counted({ audienceType: 'SEGMENT', segmentId: mine.id })).body.data.recipients).toBe(1);
  expect((await counted({ audienceType: 'SEGMENT', segmentId: theirs.id })).status).toBe(404);
});

test.each([
  [{ audienceType: 'SEGMENT' }, 400],
  [{ audienceType: 'FILTERED' }, 400],
  [{ audienceType: 'FILTERED', audienceCondition: { logic: 'AND', groups: [] } }, 422],
  [{ audienceType: 'SOME' }, 422],
])('refuses %j with %i', async (audience, status) => {
  expect((await counted(audience)).status).toBe(status);
});
