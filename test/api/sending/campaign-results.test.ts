import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MailEffect } from '../../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aSentMail, type SentMail } from '../../support/sent-mail.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let mail: SentMail;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  mail = await aSentMail(database.db, { project, campaign: true });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const results = (id: string, key = project.secretKey) => api.call(key, 'GET', `/campaigns/${id}/results`);
const report = (effect: MailEffect, at: string) =>
  applyNotification(
    database.db,
    'test',
    { emailId: mail.id, projectId: project.id },
    {
      key: newId(),
      emailId: mail.id,
      projectId: project.id,
      messageId: mail.messageId,
      recipient: mail.email,
      at,
      effect,
    },
    false,
  );

test('reports are counted by the hour in which they happened, a recipient once in each, and clicks by link', async () => {
  await report({ kind: 'delivery' }, '2026-11-01T10:59:59.999Z');
  await report({ kind: 'open' }, '2026-11-01T11:00:00.000Z');
  await report({ kind: 'open' }, '2026-11-01T13:00:00.000Z');
  await report({ kind: 'click', link: 'https://acme.test/tides' }, '2026-11-01T13:30:00.000Z');
  await report({ kind: 'click', link: 'https://acme.test/tides' }, '2026-11-01T14:30:00.000Z');
  await report({ kind: 'click', link: 'https://acme.test/shop' }, '2026-11-01T14:31:00.000Z');
  const { status, body } = await results(mail.campaignId ?? '');
  expect(status).toBe(200);
  const none = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0 };
  expect(body.data).toEqual({
    hours: [
      { ...none, hour: '2026-11-01T10:00:00.000Z', delivered: 1 },
      { ...none, hour: '2026-11-01T11:00:00.000Z', opened: 1 },
      { ...none, hour: '2026-11-01T13:00:00.000Z', clicked: 1 },
    ],
    links: [
      { link: 'https://acme.test/tides', clicks: 2, recipients: 1 },
      { link: 'https://acme.test/shop', clicks: 1, recipients: 1 },
    ],
    earlier: [],
  });
});

test('links beyond the first two hundred are counted together', async () => {
  const other = await aSentMail(database.db, { project, campaign: true });
  mail = other;
  await database.db.count(
    `insert into campaign_links (campaign_id, send_seq, link, clicks, recipients)
     select $1, 1, 'https://acme.test/' || n, 1, 1 from generate_series(1, 200) n`,
    [other.campaignId],
  );
  await report({ kind: 'click', link: 'https://acme.test/one-more' }, '2026-11-01T10:00:00.000Z');
  await report({ kind: 'click', link: 'https://acme.test/7' }, '2026-11-01T10:00:00.000Z');
  const { links } = (await results(other.campaignId ?? '')).body.data;
  expect(links).toHaveLength(201);
  expect(links[0]).toEqual({ link: 'https://acme.test/7', clicks: 2, recipients: 2 });
  expect(links).toContainEqual({ link: '', clicks: 1, recipients: 1 });
});

test('the five campaigns sent before it stand beside it, the latest first, and none of another project', async () => {
  const fresh = await aProject(database);
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    const { campaignId } = await aSentMail(database.db, { project: fresh, campaign: true });
    ids.push(campaignId ?? '');
    await database.db.count(
      `update campaigns set sent_at = now() + $2 * interval '1 hour', sent_count = 200, opened_count = 50 where id = $1`,
      [campaignId, n],
    );
  }
  const { earlier } = (await results(ids[5] ?? '', fresh.secretKey)).body.data;
  expect(earlier.map(({ id }: { id: string }) => id)).toEqual([4, 3, 2, 1, 0].map((n) => ids[n]));
  expect(earlier[0]).toMatchObject({ name: 'Spring', sentCount: 200, openRate: 25, clickRate: 0 });
  expect((await results(ids[5] ?? '')).status).toBe(404);
});
