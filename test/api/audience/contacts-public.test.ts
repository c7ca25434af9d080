import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { linkToken } from '../../../src/templates/content/links.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aCampaignMail, flipsOf, optOutsOf } from '../../support/recipients.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let contactId: string;
let t: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
beforeEach(async () => {
  project = await aProject(database);
  const contact = await api.call(project.secretKey, 'POST', '/contacts', {
    email: 'ada@example.com',
    data: { locale: 'de' },
  });
  contactId = contact.body.id;
  t = linkToken(contactId, api.config.LINK_SECRET);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (method: string, path: string) => api.call(null, method, `/contacts/public/${path}`);
const flips = () => flipsOf(database, contactId);
const mailOf = (recipient: string, campaignId?: string) => aCampaignMail(database, project.id, recipient, campaignId);
const optOuts = (campaign: string) => optOutsOf(database, campaign);

test('a signed link shows the contact, an unsigned one masks the address', async () => {
  expect((await call('GET', `${contactId}?t=${t}`)).body).toEqual({
    id: contactId,
    email: 'ada@example.com',
    subscribed: true,
    language: 'de',
  });
  for (const query of ['', '?t=', '?t=wrong', `?t=${linkToken(newId(), api.config.LINK_SECRET)}`])
    expect((await call('GET', `${contactId}${query}`)).body).toMatchObject({
      email: 'a…@example.com',
      subscribed: true,
    });
});

test('leaving needs no signature, is told once and counts once for its campaign', async () => {
  const { mail, campaign } = await mailOf(contactId);
  const second = await mailOf(contactId, campaign);
  const left = await call('POST', `${contactId}/unsubscribe?e=${mail}`);
  expect([left.status, left.body]).toEqual([200, { id: contactId, email: 'a…@example.com', subscribed: false }]);
  await call('POST', `${contactId}/unsubscribe?e=${mail}`);
  expect(await flips()).toEqual([{ name: 'contact.unsubscribed', mail }]);
  expect(await optOuts(campaign)).toBe(1);
  expect((await call('POST', `${contactId}/subscribe?t=${t}`)).body).toEqual({
    id: contactId,
    email: 'ada@example.com',
    subscribed: true,
  });
  await call('POST', `${contactId}/unsubscribe?e=${second.mail}&t=${t}`);
  expect((await flips()).map(({ name }) => name)).toEqual([
    'contact.unsubscribed',
    'contact.subscribed',
    'contact.unsubscribed',
  ]);
  expect(await optOuts(campaign)).toBe(1);
});

test('coming back needs the signature', async () => {
  await call('POST', `${contactId}/unsubscribe`);
  for (const query of ['', '?t=wrong']) {
    const refused = await call('POST', `${contactId}/subscribe${query}`);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body.error.suggestion).toContain('`t`');
  }
  expect((await call('GET', contactId)).body.subscribed).toBe(false);
});

test('a mail of somebody else is never blamed', async () => {
  const { body: other } = await api.call(project.secretKey, 'POST', '/contacts', { email: 'grace@example.com' });
  const { mail, campaign } = await mailOf(other.id);
  await call('POST', `${contactId}/unsubscribe?e=${mail}`);
  expect(await flips()).toEqual([{ name: 'contact.unsubscribed', mail: null }]);
  expect(await optOuts(campaign)).toBe(0);
});

test('an unknown id is a 404', async () => {
  for (const [method, path] of [
    ['GET', newId()],
    ['GET', 'nope'],
    ['POST', `${newId()}/unsubscribe`],
    ['POST', `nope/subscribe?t=${t}`],
  ] as const) {
    const answer = await call(method, path);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
  }
});
