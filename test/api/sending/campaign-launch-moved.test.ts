import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { aCampaign, contacts } from '../../support/campaign-fixtures.ts';
import { frozenBySteps, reviewedBySteps } from '../../support/campaign-steps.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';
import { aPerson, joins } from '../../support/people.ts';

// A scheduled campaign that was reviewed, and is moved to another time by a request that names no review.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let id: string;
let fingerprint: string;

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
  await contacts(database.db, project.id, 10);
  id = await aCampaign(database.db, project);
  fingerprint = (await reviewedBySteps(database.db, api, project, id)).fingerprint;
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const send = (options: object) => call('POST', `/campaigns/${id}/send`, options);
const scheduled = async (options: object = {}) =>
  expect((await send({ fingerprint, scheduledFor: inHours(1), ...options })).status).toBe(200);

test('goes to those who were reviewed, and to nobody who joined since', async () => {
  await scheduled();
  expect((await send({ scheduledFor: inHours(2) })).body.data.status).toBe('SCHEDULED');
  await aContact(database.db, project.id, 'late@example.com');
  expect((await send({})).body.data.status).toBe('SENDING');
  expect(await frozenBySteps(database.db, id)).toEqual({ PENDING: 10 });
});

test('keeps how far its audience may change', async () => {
  await scheduled({ drift: 'fewer' });
  await aContact(database.db, project.id, 'late@example.com');
  const { status, body } = await send({ scheduledFor: inHours(2) });
  expect([status, body.error.code, body.error.details.joined]).toEqual([409, 'REVIEW_STALE', 1]);
});

test('is refused when it was changed since, until it is sent without the review', async () => {
  await scheduled();
  expect((await call('PUT', `/campaigns/${id}`, { subject: 'New' })).status).toBe(200);
  const { status, body } = await send({ scheduledFor: inHours(2) });
  expect([status, body.error.details.changed]).toEqual([409, ['subject']]);
  await aContact(database.db, project.id, 'late@example.com');
  expect((await send({ fingerprint: null, scheduledFor: inHours(2) })).status).toBe(200);
  expect((await send({})).status).toBe(200);
  expect(await frozenBySteps(database.db, id)).toEqual({ PENDING: 11 });
});

test('needs a review of its own where an admin must approve it', async () => {
  await scheduled();
  await database.db.count('update projects set approval_above = 5 where id = $1', [project.id]);
  const member = await aPerson(database.db, api.config);
  await joins(database.db, project.id, member, 'MEMBER');
  const headers = { ...member.session, 'X-Project-Id': project.id };
  const moved = await api.call(null, 'POST', `/campaigns/${id}/send`, { scheduledFor: inHours(2) }, headers);
  expect([moved.status, moved.body.error.code]).toEqual([409, 'REVIEW_NEEDED']);
});

test('that was taken back is a draft without a review', async () => {
  await scheduled();
  expect((await call('POST', `/campaigns/${id}/cancel`)).status).toBe(200);
  expect((await call('PUT', `/campaigns/${id}`, { subject: 'New' })).status).toBe(200);
  expect((await send({})).status).toBe(200);
});
