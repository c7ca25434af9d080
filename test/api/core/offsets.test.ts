import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins, sessionOf } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
  project = await aProject(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);

// Postgres reads none of these; JavaScript reads all but the last.
test.each(['2026-11-01T00:00:00+16:00', '2026-11-01T00:00:00-23:59', '2026-11-01T00:00:00+99:00'])(
  '%s is refused wherever a time is taken',
  async (time) => {
    const given = encodeURIComponent(time);
    const contact = await call('POST', '/contacts', { email: 'ada@example.com' });
    const campaign = await call('POST', '/campaigns', {
      name: 'Far',
      subject: 'Far',
      body: '<p>Far</p>',
      from: project.sender,
      audienceType: 'ALL',
    });
    const endpoint = await call('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/hook', events: ['*'] });
    expect([contact.status < 300, campaign.status, endpoint.status]).toEqual([true, 201, 201]);
    const mail = { to: 'ada@example.com', from: project.sender, subject: 'Far', body: '<p>Far</p>' };
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'createdAt', operator: 'greaterThan', value: time }] }],
    };
    const hook = `/webhook-endpoints/${endpoint.body.id}`;
    const requests: [string, string, unknown?][] = [
      ['GET', `${hook}/audit?from=${given}`],
      ['GET', `${hook}/audit?until=${given}`],
      ['POST', `${hook}/replay`, { since: time }],
      ['POST', `${hook}/replay`, { since: '2026-11-01T00:00:00Z', until: time }],
      ['POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/hook', events: ['*'], from: time }],
      ['POST', '/explain', { contact: 'ada@example.com', about: { topic: 'any' }, at: time }],
      ['GET', `/contacts/${contact.body.id}?at=${given}`],
      ['GET', `/activity?startDate=${given}`],
      ['GET', `/activity/stats?endDate=${given}`],
      ['GET', `/analytics/timeseries?startDate=${given}`],
      ['GET', `/analytics/top-events?endDate=${given}`],
      ['GET', `/events/stats?startDate=${given}`],
      ['GET', `/v1/emails?from=${given}`],
      ['GET', `/v1/emails?to=ada@example.com&until=${given}`],
      ['POST', '/emails/export', { from: time }],
      ['POST', '/v1/send', { ...mail, scheduledFor: time }],
      ['POST', `/campaigns/${campaign.body.data.id}/send`, { scheduledFor: time }],
      ['POST', '/segments/preview', { condition }],
      ['PATCH', `/v1/emails/${newId()}`, { scheduledFor: time }],
    ];
    const answers = await Promise.all(requests.map(async ([...request]) => (await call(...request)).status));
    const wrong = requests.flatMap(([method, path], place) => {
      const status = answers[place] ?? 0;
      return status >= 400 && status < 500 ? [] : [`${method} ${path}: ${status}`];
    });
    expect(wrong).toEqual([]);
  },
);

test('a key may not end at such a time', async () => {
  const owner = await aPerson(database.db, api.config, { name: 'lea.kern' });
  await joins(database.db, project.id, owner, 'ADMIN');
  const headers = await sessionOf(api.config, owner.id);
  const path = `/users/@me/projects/${project.id}/api-keys`;
  const body = { name: 'Far', scopes: ['contacts:read'], expiresAt: '2099-01-01T00:00:00+16:00' };
  const { status, body: answer } = await api.call(null, 'POST', path, body, headers);
  expect([status, answer.error.errors[0].field]).toEqual([422, 'expiresAt']);
});
