import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstIdAt, newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, queueMail } from '../../support/delivery-fixtures.ts';
import { countMail } from '../../support/mail-counts.ts';

let database: TestDatabase;
let api: TestApi;
// A fixed day, so that windows of days can be named.
let now = new Date('2026-11-15T13:30:00.000Z');
beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, {}, { clock: () => now });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const get = async (project: TestProject, path: string) => (await api.call(project.secretKey, 'GET', path)).body;

/** Inserts a mail that was created at an instant, with what became of it. */
async function mailed(project: TestProject, created: string, facts: Record<string, string> = {}) {
  const contactId = await aContact(database.db, project.id, `reader-${newId().slice(-8)}@example.com`);
  const id = `${firstIdAt(new Date(created)).slice(0, 15)}${newId().slice(15)}`;
  await queueMail(database.db, project, contactId, 'reader@example.com', { id });
  const sets = Object.keys(facts).map((column, place) => `${column} = $${place + 3}`);
  await database.db.count(`update emails set ${['created_at = $2', ...sets].join(', ')} where id = $1`, [
    id,
    created,
    ...Object.values(facts),
  ]);
  await countMail(database.db, project.id);
}

describe('GET /analytics/timeseries', () => {
  test('has one element for each day, zeros included, and counts for the day a mail was created on', async () => {
    const project = await aProject(database);
    // Opened on the next day, which its own day gets.
    await mailed(project, '2026-11-13T23:59:59.999Z', {
      opened_at: '2026-11-14T08:00:00Z',
      delivered_at: '2026-11-14T00:00:01Z',
    });
    await mailed(project, '2026-11-14T00:00:00.000Z', { bounced_at: '2026-11-14T00:00:05Z' });
    await mailed(project, '2026-11-14T12:00:00.000Z', {
      opened_at: '2026-11-14T13:00:00Z',
      clicked_at: '2026-11-14T13:01:00Z',
    });
    await mailed(project, '2026-11-14T12:00:00.000Z', { status: 'SUPPRESSED' });
    await mailed(project, '2026-11-14T12:00:00.000Z', { source_type: 'INBOUND' });
    await mailed(project, '2026-11-15T13:00:00.000Z');
    expect(await get(project, '/analytics/timeseries?startDate=2026-11-12')).toEqual([
      { date: '2026-11-12T00:00:00.000Z', emails: 0, opens: 0, clicks: 0, bounces: 0, delivered: 0 },
      { date: '2026-11-13T00:00:00.000Z', emails: 1, opens: 1, clicks: 0, bounces: 0, delivered: 1 },
      { date: '2026-11-14T00:00:00.000Z', emails: 2, opens: 1, clicks: 1, bounces: 1, delivered: 0 },
      { date: '2026-11-15T00:00:00.000Z', emails: 1, opens: 0, clicks: 0, bounces: 0, delivered: 0 },
    ]);
  });

  test('begins 30 days ago, at most 90, and ends today', async () => {
    const project = await aProject(database);
    const dates = async (query: string) => {
      const series: { date: string }[] = await get(project, `/analytics/timeseries${query}`);
      return [series.length, series[0]?.date.slice(0, 10), series.at(-1)?.date.slice(0, 10)];
    };
    expect(await dates('')).toEqual([31, '2026-10-16', '2026-11-15']);
    expect(await dates('?startDate=2020-01-01')).toEqual([91, '2026-08-17', '2026-11-15']);
    expect(await dates('?startDate=2026-11-14&endDate=9999-12-31')).toEqual([2, '2026-11-14', '2026-11-15']);
    expect(await dates('?startDate=2026-11-01&endDate=2026-11-01')).toEqual([1, '2026-11-01', '2026-11-01']);
    expect(await dates('?startDate=2020-01-01&endDate=2020-02-01')).toEqual([0, undefined, undefined]);
    expect(await dates('?startDate=2026-11-14&endDate=%2B275760-09-13T00:00:00.000Z')).toEqual([
      2,
      '2026-11-14',
      '2026-11-15',
    ]);
  });
});

async function aCampaign(
  project: TestProject,
  status: string,
  sentAt: string | null,
  counts: number[] = [],
  createdAt = '2026-11-01',
) {
  const id = newId();
  await database.db.count(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, sent_at, created_at,
       sent_count, opened_count, clicked_count)
     values ($1, $2, 'Herons', $3, '', $4, 'ALL', $5, $6, $7, $8, $9, $10)`,
    [
      id,
      project.id,
      `Herons ${counts[0] ?? ''}`,
      project.sender,
      status,
      sentAt,
      createdAt,
      counts[0] ?? 0,
      counts[1] ?? 0,
      counts[2] ?? 0,
    ],
  );
  return id;
}

test('GET /projects/{id}/overview has in one answer what its parts return one by one', async () => {
  const project = await aProject(database);
  const overview = () => get(project, `/projects/${project.id}/overview`);
  expect(await overview()).toMatchObject({ hasSent: false, campaigns: [], totals: { totalEmailsSent: 0 } });
  // Of half a year ago: in no figure of the page, but the project has sent.
  await mailed(project, '2026-05-01T12:00:00.000Z');
  expect(await overview()).toMatchObject({ hasSent: true, totals: { totalEmailsSent: 0 } });
  await mailed(project, '2026-11-14T12:00:00.000Z', { opened_at: '2026-11-14T13:00:00Z' });
  const found = await overview();
  expect(found).toEqual({
    setup: (await get(project, `/projects/${project.id}/setup-state`)).data,
    hasSent: true,
    running: await get(project, '/activity/running'),
    totals: await get(project, '/activity/stats?startDate=2026-10-17'),
    days: await get(project, '/analytics/timeseries?startDate=2026-09-17'),
    reputation: (await get(project, `/projects/${project.id}/security`)).data,
    campaigns: [],
    recent: (await get(project, '/activity?limit=30')).data,
    upcoming: (await get(project, '/activity/upcoming?limit=8')).activities,
  });
  expect([found.days.length, found.totals.totalEmailsSent, found.recent.length]).toEqual([60, 1, expect.any(Number)]);
});

describe('campaigns', () => {
  test('GET /analytics/top-campaigns lists sent ones of the window by opens, with rates in percent', async () => {
    const project = await aProject(database);
    const few = await aCampaign(project, 'SENT', '2026-11-02', [30, 10, 1]);
    const many = await aCampaign(project, 'SENT', '2026-11-03', [700, 41, 7]);
    await aCampaign(project, 'SENT', '2026-09-01', [9000, 9000, 9000]);
    await aCampaign(project, 'SENDING', '2026-11-04', [500, 400, 300]);
    const none = await aCampaign(project, 'SENT', '2026-11-05');
    expect(await get(project, '/analytics/top-campaigns')).toEqual([
      {
        id: many,
        subject: 'Herons 700',
        sentCount: 700,
        openedCount: 41,
        clickedCount: 7,
        openRate: (41 / 700) * 100,
        clickRate: 1,
      },
      {
        id: few,
        subject: 'Herons 30',
        sentCount: 30,
        openedCount: 10,
        clickedCount: 1,
        openRate: (10 / 30) * 100,
        clickRate: (1 / 30) * 100,
      },
      { id: none, subject: 'Herons ', sentCount: 0, openedCount: 0, clickedCount: 0, openRate: 0, clickRate: 0 },
    ]);
    expect(await get(project, '/analytics/top-campaigns?limit=1')).toHaveLength(1);
    expect(await get(project, '/analytics/top-campaigns?startDate=2026-08-01&endDate=2026-10-01')).toHaveLength(1);
  });

  test('GET /analytics/campaign-stats weighs averages by mail and rounds them to one decimal', async () => {
    const project = await aProject(database);
    await aCampaign(project, 'SENT', '2026-11-02', [30, 10, 1]);
    await aCampaign(project, 'SENT', '2026-11-03', [700, 41, 7]);
    await aCampaign(project, 'DRAFT', null);
    await aCampaign(project, 'SCHEDULED', null);
    await aCampaign(project, 'CANCELLED', '2026-11-03', [10, 10, 10]);
    await aCampaign(project, 'DRAFT', null, [], '2026-06-01');
    await aCampaign(project, 'SENT', '2026-11-04', [270, 0, 0], '2026-06-01');
    // 51 of 1000 opened, 8 of 1000 clicked.
    expect(await get(project, '/analytics/campaign-stats')).toEqual({
      total: 5,
      active: 2,
      completed: 3,
      averageOpenRate: 5.1,
      averageClickRate: 0.8,
    });
    const other = await aProject(database);
    expect(await get(other, '/analytics/campaign-stats')).toEqual({
      total: 0,
      active: 0,
      completed: 0,
      averageOpenRate: 0,
      averageClickRate: 0,
    });
  });
});

describe('GET /analytics/top-events', () => {
  test('lists the most frequent first, with the change against the equally long time before', async () => {
    const project = await aProject(database);
    const happened = (name: string, at: string, times: number) =>
      database.db.count(
        `insert into events (id, project_id, name, created_at) select uuidv7(), $1, $2, $3 from generate_series(1, $4::int)`,
        [project.id, name, at, times],
      );
    await happened('signed_up', '2026-11-14T10:00:00Z', 7);
    await happened('signed_up', '2026-11-12T10:00:00Z', 6);
    await happened('email.open', '2026-11-14T10:00:00Z', 3);
    await happened('email.open', '2026-11-12T10:00:00Z', 9);
    await happened('first', '2026-11-14T10:00:00Z', 2);
    await happened('gone', '2026-11-12T10:00:00Z', 50);
    // Both ends belong to the window, and the time before ends where it begins.
    await happened('edge', '2026-11-13T00:00:00Z', 1);
    await happened('edge', '2026-11-14T23:59:59.999Z', 1);
    const query = 'startDate=2026-11-13T00:00:00Z&endDate=2026-11-14T23:59:59.999Z';
    expect(await get(project, `/analytics/top-events?${query}`)).toEqual([
      { name: 'signed_up', count: 7, trend: 17 },
      { name: 'email.open', count: 3, trend: -67 },
      { name: 'edge', count: 2, trend: 100 },
      { name: 'first', count: 2, trend: 100 },
    ]);
    expect(await get(project, `/analytics/top-events?${query}&limit=2`)).toHaveLength(2);
  });

  test('without dates the window is the last 30 days', async () => {
    now = new Date();
    const project = await aProject(database);
    await api.call(project.publicKey, 'POST', '/v1/track', { email: 'bob@example.com', event: 'heron seen' });
    expect(await get(project, '/analytics/top-events')).toEqual([{ name: 'heron seen', count: 1, trend: 100 }]);
  });
});
