import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { aCampaign, contacts } from '../../support/campaign-fixtures.ts';
import { frozenBySteps, reviewedBySteps } from '../../support/campaign-steps.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';

// What somebody who came to the audience after its review is told about a send that is bound to the review.
const reviewedOne = 'watcher-1@example.com';
const late = 'late@example.com';

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
  await aContact(database.db, project.id, late);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const launched = async (options: object) =>
  expect((await call('POST', `/campaigns/${id}/send`, { fingerprint, ...options })).status).toBe(200);
const explained = async (contact: string) =>
  (await call('POST', '/explain', { contact, about: { campaignId: id } })).body;
const told = async (contact: string) => {
  const { verdict, decisions } = await explained(contact);
  return [verdict, decisions.find(({ outcome }: { outcome: string }) => outcome === 'stop')?.check];
};
const scheduledFor = () => new Date(Date.now() + 3_600_000).toISOString();

test('a scheduled send leaves them out, also while it is frozen, and after that', async () => {
  await launched({ scheduledFor: scheduledFor() });
  expect(await told(late)).toEqual(['will_not', 'audience.reviewed']);
  expect(await told(reviewedOne)).toEqual(['will', undefined]);
  await launched({});
  expect(await told(late)).toEqual(['will_not', 'audience.reviewed']);
  expect(await told(reviewedOne)).toEqual(['will', undefined]);
  await frozenBySteps(database.db, id);
  expect(await explained(late)).toMatchObject({
    verdict: 'did_not',
    sentence: expect.stringMatching(
      /^The campaign only goes to contacts that were reviewed on .+ UTC, and the contact was not among them\.$/,
    ),
  });
  expect(await told(reviewedOne)).toEqual(['will', undefined]);
});

test('that is still known when the report of the review is no longer kept', async () => {
  await launched({});
  await frozenBySteps(database.db, id);
  await database.db.count('delete from dry_runs where project_id = $1', [project.id]);
  expect(await explained(late)).toMatchObject({
    verdict: 'did_not',
    sentence: 'The campaign only goes to contacts that were reviewed, and the contact was not among them.',
  });
});

test('a send that lets the audience change is explained by the audience alone', async () => {
  await launched({ drift: 0.5, scheduledFor: scheduledFor() });
  expect(await told(late)).toEqual(['will', undefined]);
});

test('a draft that was reviewed is not bound to its review yet', async () => {
  expect(await told(late)).toEqual(['will_not', 'campaign.began']);
});
