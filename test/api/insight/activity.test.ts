import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countingRuns } from '../../../src/automations/rows.ts';
import { ensureVersion } from '../../../src/automations/versions.ts';
import { activityTypes } from '../../../src/insight/activity/types.ts';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, queueMail } from '../../support/delivery-fixtures.ts';
import { countMail } from '../../support/mail-counts.ts';
import { liveThrough, seeded } from '../../support/mail-history.ts';

let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { POSTMARK_WEBHOOK_TOKEN: 'battery-staple' });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

interface Item {
  id: string;
  type: string;
  timestamp: string;
  contactEmail?: string;
  contactId?: string;
  metadata: Record<string, unknown>;
}

const get = (project: TestProject, path: string) => api.call(project.secretKey, 'GET', path);

/** All pages of the feed one after the other, as a client walks them. */
async function walk(project: TestProject, query: string, limit: number) {
  const items: Item[] = [];
  const pages: { total: number; hasMore: boolean; cursor?: string; data: Item[] }[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await get(project, `/activity?limit=${limit}${query}${cursor}`);
    expect(status).toBe(200);
    pages.push(body);
    items.push(...body.data);
    expect('cursor' in body).toBe(body.hasMore);
    if (!body.hasMore) return { items, pages };
    cursor = `&cursor=${encodeURIComponent(body.cursor)}`;
  }
}

/** The feed as the contract defines it, made from the tables row by row. */
async function expected(
  project: TestProject,
): Promise<{ id: string; at: string; contactId: string | null; type: string }[]> {
  const parts = [
    `select id::text as id, created_at as at, contact_id, 'event.triggered' as type from events where project_id = $1`,
    ...Object.entries({
      sent: 'sent_at',
      delivered: 'delivered_at',
      opened: 'opened_at',
      clicked: 'clicked_at',
      bounced: 'bounced_at',
      complaint: 'complained_at',
    }).map(
      ([suffix, column]) =>
        `select id || '_${suffix}', ${column}, contact_id, 'email.${suffix}' from emails where project_id = $1 and ${column} is not null`,
    ),
    `select email_id || '_failed', mail_at, contact_id, 'email.failed' from events where project_id = $1 and name = 'email.failed'`,
    `select id || '_suppressed', created_at, contact_id, 'email.suppressed' from emails where project_id = $1 and suppression is not null`,
    `select id || '_started', started_at, contact_id, 'workflow.started' from automation_runs where project_id = $1`,
    `select id || '_completed', completed_at, contact_id, 'workflow.completed' from automation_runs
     where project_id = $1 and completed_at is not null`,
    `select 'campaign_' || id || '_sent', sent_at, null, 'campaign.sent' from campaigns where project_id = $1 and sent_at is not null`,
  ];
  const rows = await database.db.rows<{ id: string; at: string; contactId: string | null; type: string }>(
    `select id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, contact_id as "contactId", type
     from (${parts.join(' union all ')}) item`,
    [project.id],
  );
  return rows.sort((one, other) => (one.at === other.at ? (one.id < other.id ? 1 : -1) : one.at < other.at ? 1 : -1));
}

async function aCampaign(project: TestProject, sentAt: string | null, changes: Record<string, unknown> = {}) {
  const row = {
    id: newId(),
    project_id: project.id,
    name: 'Spring count',
    subject: 'Hello {{firstName}}',
    body: '<p>Dear {{firstName}}, the herons are back.</p>',
    from: project.sender,
    status: sentAt === null ? 'DRAFT' : 'SENT',
    audience_type: 'ALL',
    send_seq: 1,
    sent_at: sentAt,
    ...changes,
  };
  const names = Object.keys(row);
  await database.db.count(
    `insert into campaigns (${names.map((name) => `"${name}"`).join(', ')}) values (${names.map((_, place) => `$${place + 1}`).join(', ')})`,
    Object.values(row),
  );
  return row.id;
}

interface Run {
  started?: string;
  completed?: string | null;
  status?: string;
  exitReason?: string | null;
}

/** Inserts runs of an automation that sends a mail after a delay; answers the automation and the ids of its runs. */
async function aWelcome(project: TestProject, contactIds: readonly string[], run: Run = {}) {
  const { db } = database;
  const templateId = newId();
  await db.count(
    `insert into templates (id, project_id, name, subject, body, "from") values ($1, $2, 'Welcome', 'Hello {{firstName}}', '', $3)`,
    [templateId, project.id, project.sender],
  );
  const automation = await anAutomation(db, project.id, {
    name: 'Welcome',
    steps: {
      pause: ['DELAY', { amount: 2, unit: 'days' }],
      mail: ['SEND_EMAIL', { templateId }],
      rest: ['DELAY', { amount: 1, unit: 'days' }],
      end: ['EXIT'],
    },
  });
  const versionId = await ensureVersion(db, automation.id);
  const runs = contactIds.map(() => newId());
  await db.count(
    `with made as (
       insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status, seq, started_at, completed_at, exit_reason)
       select r.id, $3, $4, $5, r.contact_id, 1, $6, 2, $7::timestamptz, $8::timestamptz, $9 from unnest($1::uuid[], $2::uuid[]) r (id, contact_id)
       returning project_id, started_at, completed_at),
     ended as (${countingRuns('made', 'ended').text})
     ${countingRuns('made', 'started').text}`,
    [
      runs,
      contactIds,
      project.id,
      automation.id,
      versionId,
      run.status ?? 'WAITING',
      run.started ?? new Date().toISOString(),
      run.completed ?? null,
      run.exitReason ?? null,
    ],
  );
  return { automation, runs };
}

/** Lets a run wait in a delay, as the runtime writes it. */
async function delayed(project: TestProject, runId: string, stepId: string, until: string) {
  const id = newId();
  await database.db.count(
    `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, scheduled_for)
     select $1, $2, $3, contact_id, $4, 1, 'DELAY', 'pause', 'SCHEDULED', $5 from automation_runs where id = $2`,
    [id, runId, project.id, stepId, until],
  );
  return id;
}

// From one instant: a test must not end in another minute than it began.
const begun = Date.now();
const minutesAgo = (minutes: number) => new Date(Math.floor(begun / 60_000 - minutes) * 60_000).toISOString();
// Campaigns whose ids make their items stand between UUIDs as text, and instants that many items share.
const instants = [minutesAgo(70), minutesAgo(30), minutesAgo(29), minutesAgo(1)];

async function aBusyProject(seed: number): Promise<TestProject> {
  const project = await aProject(database);
  await liveThrough(database, project, seeded(seed), { steps: 80, instants });
  for (const at of instants) await aCampaign(project, at);
  const known = await database.db.rows<{ id: string }>('select id from contacts where project_id = $1 limit 4', [
    project.id,
  ]);
  const ids = known.map(({ id }) => id);
  // Begun and ended at once: two items of one row at one instant.
  for (const at of instants.slice(0, 2))
    await aWelcome(project, ids, { started: at, completed: at, status: 'COMPLETED' });
  await aWelcome(project, ids, { started: instants[1] as string });
  // Events of one statement have one instant; here they share it with mail as well.
  await database.db.count(
    'update events set created_at = $2 where project_id = $1 and id in (select id from events order by id limit 12)',
    [project.id, instants[1]],
  );
  // Ids on both sides of what a campaign's item begins with.
  const contactId = await aContact(database.db, project.id, 'ringed.plover@example.com');
  for (const start of ['00', 'c9', 'ca', 'cb', 'ff']) {
    const id = `${start}${newId().slice(2)}`;
    await queueMail(database.db, project, contactId, 'ringed.plover@example.com', { id });
    await database.db.count(`update emails set sent_at = $2, opened_at = $2, status = 'OPENED' where id = $1`, [
      id,
      instants[1],
    ]);
    for (const name of ['email.sent', 'email.open'])
      await database.db.count(
        'insert into events (id, project_id, contact_id, email_id, name, created_at, mail_at) values ($1, $2, $3, $4, $5, $6, $6)',
        [`${start}${newId().slice(2)}`, project.id, contactId, id, name, instants[1]],
      );
  }
  return project;
}

describe('GET /activity', () => {
  test.each([
    [11, 1],
    [12, 3],
    [13, 7],
  ])(
    'pages hold every item once, newest first and then by id, through any number of ties (%i, %i at a time)',
    async (seed, limit) => {
      const project = await aBusyProject(seed);
      const all = await expected(project);
      const { items, pages } = await walk(project, '', limit);
      expect(items.map(({ id, timestamp }) => [timestamp, id])).toEqual(all.map(({ id, at }) => [at, id]));
      expect(items.map(({ type }) => type)).toEqual(all.map(({ type }) => type));
      expect(pages[0]?.total).toBe(all.length);
      expect(pages.slice(1).every(({ total }) => total === 0)).toBe(true);
    },
  );

  test('types and contact select items, and the total counts what they select', async () => {
    const project = await aBusyProject(21);
    const all = await expected(project);
    for (const types of [
      ['email.sent'],
      ['email.opened', 'campaign.sent'],
      ['event.triggered', 'email.bounced', 'email.complaint', 'email.failed'],
    ]) {
      const { items, pages } = await walk(project, `&types=${types.join(',')},no.such`, 5);
      const wanted = all.filter(({ type }) => types.includes(type)).map(({ id }) => id);
      expect(items.map(({ id }) => id)).toEqual(wanted);
      expect(pages[0]?.total).toBe(wanted.length);
    }
    const contactId = all.find((item) => item.type === 'email.opened')?.contactId ?? '';
    const { items, pages } = await walk(project, `&contactId=${contactId}`, 2);
    const wanted = all.filter((item) => item.contactId === contactId).map(({ id }) => id);
    expect(items.map(({ id }) => id)).toEqual(wanted);
    expect(pages[0]?.total).toBe(wanted.length);
    expect(items.every((item) => item.contactId === contactId)).toBe(true);
  });

  test.each([
    [24, 1],
    [25, 4],
    [26, 9],
  ])(
    'the feed of each contact holds its own items in the order of the whole feed, all types and some (%i, %i at a time)',
    async (seed, limit) => {
      const project = await aBusyProject(seed);
      const all = await expected(project);
      for (const contactId of new Set(all.map((item) => item.contactId))) {
        if (contactId === null) continue;
        for (const types of [null, ['email.sent', 'email.clicked', 'workflow.completed']]) {
          const wanted = all.filter((item) => item.contactId === contactId && (types?.includes(item.type) ?? true));
          const query = `&contactId=${contactId}${types ? `&types=${types.join(',')}` : ''}`;
          const { items, pages } = await walk(project, query, limit);
          expect(items.map(({ id, timestamp }) => [timestamp, id])).toEqual(wanted.map(({ id, at }) => [at, id]));
          expect(pages[0]?.total).toBe(wanted.length);
        }
      }
    },
  );

  test('types of which none is known select nothing', async () => {
    const project = await aBusyProject(22);
    expect((await get(project, '/activity?types=email.open,nonsense')).body).toEqual({
      data: [],
      hasMore: false,
      total: 0,
    });
  });

  test('dates bound the first page, and a cursor goes back beyond the beginning', async () => {
    const project = await aBusyProject(23);
    const all = await expected(project);
    const [from, until] = [instants[1] as string, instants[2] as string];
    const { body } = await get(project, `/activity?startDate=${from}&endDate=${until}&limit=100`);
    const inside = all.filter(({ at }) => at >= from && at <= until).map(({ id }) => id);
    expect(body.data.map(({ id }: Item) => id)).toEqual(inside.slice(0, 100));
    expect(body.total).toBe(inside.length);
    const first = (await get(project, `/activity?startDate=${instants[3]}&limit=1`)).body;
    const next = (await get(project, `/activity?startDate=${instants[3]}&limit=100&cursor=${first.cursor}`)).body;
    expect(next.data.map(({ id }: Item) => id)).toEqual(all.slice(1, 101).map(({ id }) => id));
  });

  test('nothing older than 30 days is on the first page unless a date asks for it', async () => {
    const project = await aProject(database);
    await aCampaign(project, new Date(Date.now() - 31 * 86_400_000).toISOString());
    await aCampaign(project, new Date(Date.now() - 29 * 86_400_000).toISOString());
    expect((await get(project, '/activity')).body).toMatchObject({ total: 1, hasMore: false });
    expect((await get(project, '/activity?startDate=2001-01-01')).body.total).toBe(2);
  });

  test('items say what the contract shows of them', async () => {
    const project = await aProject(database);
    const contactId = await aContact(database.db, project.id, 'bob@example.com', { data: { firstName: 'Bob' } });
    const campaignId = await aCampaign(project, minutesAgo(3), { total_recipients: 12 });
    const emailId = newId();
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", from_name, subject, source_type, message_class,
         campaign_id, send_seq, status, sent_at)
       values ($1, $2, $3, 'bob@example.com', $4, 'Birdwatch', 'Hello Bob', 'CAMPAIGN', 'MARKETING', $5, 1, 'SENT', $6)`,
      [emailId, project.id, contactId, project.sender, campaignId, minutesAgo(2)],
    );
    await database.db.count(
      `insert into events (id, project_id, contact_id, email_id, name, mail_at) values ($1, $2, $3, $4, 'email.sent', $5)`,
      [newId(), project.id, contactId, emailId, minutesAgo(2)],
    );
    await api.call(project.secretKey, 'POST', '/events/track', { name: 'weather changed', data: { wind: 7 } });
    await api.call(project.publicKey, 'POST', '/v1/track', { email: 'bob@example.com', event: 'heron seen' });

    const { body } = await get(project, '/activity');
    const byType = (type: string, name?: string) =>
      body.data.find((item: Item) => item.type === type && (name === undefined || item.metadata.eventName === name));
    expect(byType('email.sent')).toEqual({
      id: `${emailId}_sent`,
      type: 'email.sent',
      timestamp: minutesAgo(2),
      contactEmail: 'bob@example.com',
      contactId,
      metadata: {
        subject: 'Hello Bob',
        body: expect.stringContaining('Dear Bob, the herons are back.'),
        from: project.sender,
        fromName: 'Birdwatch',
        replyTo: null,
        toName: null,
        sourceType: 'CAMPAIGN',
        campaignName: 'Spring count',
      },
    });
    expect(byType('campaign.sent')).toEqual({
      id: `campaign_${campaignId}_sent`,
      type: 'campaign.sent',
      timestamp: minutesAgo(3),
      metadata: {
        campaignName: 'Spring count',
        subject: 'Hello {{firstName}}',
        totalRecipients: 12,
        segmentName: null,
        audienceType: 'ALL',
      },
    });
    expect(byType('event.triggered', 'heron seen')).toMatchObject({ contactEmail: 'bob@example.com', contactId });
    const weather = byType('event.triggered', 'weather changed');
    expect(weather.metadata).toEqual({ eventName: 'weather changed', eventData: { wind: 7 } });
    expect(Object.keys(weather)).toEqual(['id', 'type', 'timestamp', 'metadata']);
  });

  test('opens, clicks, bounces and complaints carry their numbers and errors', async () => {
    const project = await aBusyProject(24);
    const contactId = await aContact(database.db, project.id, 'refused@example.com');
    const reason = { code: 'refused', number: 300, words: 'no' } as const;
    const failed = await queueMail(database.db, project, contactId, 'refused@example.com', {
      unsent: { status: 'FAILED', reason },
    });
    const story = (await get(project, `/activity?contactId=${contactId}&types=email.failed`)).body;
    expect(story).toMatchObject({
      total: 1,
      data: [
        { id: `${failed}_failed`, type: 'email.failed', metadata: { error: 'Refused by the provider (300): no' } },
      ],
    });
    const { items } = await walk(project, '', 100);
    const kinds = new Set<string>();
    for (const { id, type, metadata } of items) {
      if (!type.startsWith('email.')) continue;
      const mail = await database.db.row<Record<string, unknown>>(
        'select *, mail_reason_text(reason) as error from emails where id = $1',
        [id.slice(0, 36)],
      );
      kinds.add(type);
      expect(metadata.subject).toBe(mail?.subject);
      expect(metadata.body).toBe(mail?.body);
      expect(metadata.totalOpens).toBe(type === 'email.opened' ? mail?.opens : undefined);
      expect(metadata.totalClicks).toBe(type === 'email.clicked' ? mail?.clicks : undefined);
      const hasError = ['email.bounced', 'email.complaint', 'email.failed'].includes(type);
      expect(metadata.error).toBe(hasError ? mail?.error : undefined);
    }
    expect([...kinds].sort()).toEqual([
      'email.bounced',
      'email.clicked',
      'email.complaint',
      'email.delivered',
      'email.failed',
      'email.opened',
      'email.sent',
    ]);
  });

  test('runs of automations begin and end in the feed, and stats and counts know them', async () => {
    const project = await aProject(database);
    const contactId = await aContact(database.db, project.id, 'bob@example.com');
    // Long enough within the last five minutes on any machine, unlike what counts from when this file was loaded.
    const [started, completed] = [2, 1].map((minutes) => new Date(Date.now() - minutes * 60_000).toISOString());
    const { runs } = await aWelcome(project, [contactId], {
      started,
      completed,
      status: 'EXITED',
      exitReason: 'enough',
    });
    const { body } = await get(project, '/activity');
    const shared = { contactEmail: 'bob@example.com', contactId };
    expect(body).toEqual({
      data: [
        {
          id: `${runs[0]}_completed`,
          type: 'workflow.completed',
          timestamp: completed,
          ...shared,
          metadata: { workflowId: expect.any(String), workflowName: 'Welcome', status: 'EXITED', exitReason: 'enough' },
        },
        {
          id: `${runs[0]}_started`,
          type: 'workflow.started',
          timestamp: started,
          ...shared,
          metadata: { workflowId: expect.any(String), workflowName: 'Welcome', status: 'EXITED' },
        },
      ],
      hasMore: false,
      total: 2,
    });
    expect((await get(project, '/activity/stats')).body.totalWorkflowsStarted).toBe(1);
    expect((await get(project, '/activity/recent-count')).body.count).toBe(1);
  });

  test('mail that came in is received, and neither sent nor delivered', async () => {
    const project = await aProject(database);
    const answer = await api.call(null, 'POST', '/webhooks/postmark/battery-staple', {
      From: 'bob@reader.test',
      FromFull: { Email: 'bob@reader.test', Name: 'Bob Heron', MailboxHash: '' },
      ToFull: [{ Email: project.sender, Name: '', MailboxHash: '' }],
      Subject: 'A heron!',
      MessageID: newId(),
      MailboxHash: '',
      Date: minutesAgo(4),
      HtmlBody: '<p>Look up</p>',
      Headers: [],
      Attachments: [],
    });
    expect(answer.status).toBe(200);
    const { body } = await get(project, '/activity?types=email.received,email.sent,email.delivered');
    expect(body).toMatchObject({ total: 1, hasMore: false });
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/_received$/),
        type: 'email.received',
        timestamp: minutesAgo(4),
        contactEmail: 'bob@reader.test',
        contactId: expect.any(String),
        metadata: expect.objectContaining({
          subject: 'A heron!',
          body: '<p>Look up</p>',
          from: project.sender,
          sourceType: 'INBOUND',
        }),
      },
    ]);
    expect((await get(project, '/analytics/timeseries')).body.at(-1)).toMatchObject({ emails: 0, delivered: 0 });
  });

  test('a body that was emptied is null', async () => {
    const project = await aBusyProject(25);
    await database.db.count(`update emails set body = '' where project_id = $1`, [project.id]);
    const { body } = await get(project, '/activity?types=email.sent');
    expect(body.data.length).toBeGreaterThan(0);
    for (const { metadata } of body.data) expect(metadata.body).toBeNull();
  });

  test('shows nothing of another project, not even by contact', async () => {
    const [project, other] = [await aBusyProject(26), await aProject(database)];
    const { body } = await get(project, '/activity?types=email.sent');
    expect((await get(other, '/activity')).body).toEqual({ data: [], hasMore: false, total: 0 });
    expect((await get(other, `/activity?contactId=${body.data[0].contactId}`)).body.total).toBe(0);
    expect(
      (await get(other, `/activity?cursor=${body.cursor ?? `${Date.now()}_${body.data[0].id}`}`)).body.data,
    ).toEqual([]);
  });

  test.each([
    ['startDate=soon', 'startDate'],
    ['endDate=2026-13-45', 'endDate'],
    ['startDate=2026-03-02&endDate=2026-03-01', 'endDate'],
    ['endDate=2001-01-01', 'endDate'],
    ['cursor=abc', 'cursor'],
    ['cursor=1772359331000', 'cursor'],
    ['cursor=_0198f1a0-0000-7000-8000-000000000000', 'cursor'],
    ['cursor=1772359331000_nonsense', 'cursor'],
    ['cursor=1772359331000_0198f1a0-0000-7000-8000-000000000000_stolen', 'cursor'],
    ['cursor=99999999999999999999_0198f1a0-0000-7000-8000-000000000000', 'cursor'],
    ['cursor=-70000000000000_0198f1a0-0000-7000-8000-000000000000', 'cursor'],
    ['cursor=9999999999999999_0198f1a0-0000-7000-8000-000000000000', 'cursor'],
    [`cursor=${Buffer.from('["a","b"]').toString('base64url')}`, 'cursor'],
    ['contactId=bob@example.com', 'contactId'],
  ])('%s is a 400 that names the parameter', async (query, field) => {
    const project = await aProject(database);
    const { status, body } = await get(project, `/activity?${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'BAD_REQUEST', details: { field } });
  });

  test.each(['0', '-3', 'many', '1.5', '101', '99999999999999999999'])(
    'a limit of %s is the default or the maximum',
    async (limit) => {
      const project = await aBusyProject(27);
      const { body } = await get(project, `/activity?limit=${limit}`);
      expect(body.data).toHaveLength(Math.min(limit === '101' ? 100 : 50, body.total));
    },
  );
});

test('GET /activity/types lists the thirteen types in order, and ours', async () => {
  const project = await aProject(database);
  expect((await get(project, '/activity/types')).body).toEqual({ types: [...activityTypes] });
  expect(activityTypes.slice(13)).toEqual(['email.failed', 'email.suppressed']);
});

describe('GET /activity/stats', () => {
  test('counts mail by its creation, and rates are percentages of it', async () => {
    const project = await aProject(database);
    await liveThrough(database, project, seeded(31), { steps: 150, instants });
    await database.db.count(
      `update emails set created_at = now() - interval '40 days' where project_id = $1 and opens > 1`,
      [project.id],
    );
    await countMail(database.db, project.id);
    const mail = await database.db.row<
      Record<'sent' | 'delivered' | 'bounced' | 'opened' | 'clicked' | 'events', number>
    >(
      `select count(*)::int as sent, count(delivered_at)::int as delivered, count(bounced_at)::int as bounced, count(opened_at)::int as opened, count(clicked_at)::int as clicked,
         (select count(*)::int from events where project_id = $1) as events
       from emails where project_id = $1 and status <> 'SUPPRESSED' and created_at > now() - interval '30 days'`,
      [project.id],
    );
    if (mail === null) throw new Error('No mail');
    expect((await get(project, '/activity/stats')).body).toEqual({
      totalEvents: mail.events,
      totalEmailsSent: mail.sent,
      totalEmailsHandedOver: expect.any(Number),
      totalEmailsDelivered: mail.delivered,
      totalEmailsBounced: mail.bounced,
      totalEmailsOpened: mail.opened,
      totalEmailsClicked: mail.clicked,
      totalWorkflowsStarted: 0,
      openRate: (mail.opened / mail.sent) * 100,
      clickRate: (mail.clicked / mail.sent) * 100,
    });
    expect(mail.opened).toBeGreaterThan(0);
  });

  test('mail that waits is not counted as handed over, nor are recipients of campaigns who are pending or were skipped', async () => {
    const project = await aProject(database);
    const mail = { from: project.sender, subject: 'Hello', body: '<p>Hi</p>' };
    const to = ['a@example.com', 'b@example.com', 'c@example.com'];
    await api.call(project.secretKey, 'POST', '/v1/send', { ...mail, to });
    const stats = async () => (await get(project, '/activity/stats')).body;
    expect(await stats()).toMatchObject({ totalEmailsSent: 3, totalEmailsHandedOver: 0 });
    await database.db.count(
      `with gone as (delete from email_queue where email_id in (
         select id from emails where project_id = $1 and to_address <> 'c@example.com') returning email_id)
       update emails set status = 'SENT', sent_at = now() where id in (select email_id from gone)`,
      [project.id],
    );
    expect(await stats()).toMatchObject({ totalEmailsSent: 3, totalEmailsHandedOver: 2 });
    const draft = { name: 'News', ...mail, audienceType: 'ALL' };
    const { body } = await api.call(project.secretKey, 'POST', '/campaigns', draft);
    await database.db.count(
      `update campaigns set status = 'SENDING', sent_at = now(), total_recipients = 2, sent_count = 1, skipped_count = 1 where id = $1`,
      [body.data.id],
    );
    expect(await stats()).toMatchObject({ totalEmailsHandedOver: 1 });
  });

  test('a project without mail has rates of zero', async () => {
    const project = await aProject(database);
    expect((await get(project, '/activity/stats')).body).toMatchObject({
      totalEmailsSent: 0,
      openRate: 0,
      clickRate: 0,
    });
  });

  test.each(['startDate=soon', 'startDate=2026-03-02&endDate=2026-03-01'])('%s is a 400', async (query) => {
    const project = await aProject(database);
    for (const path of [
      '/activity/stats',
      '/analytics/timeseries',
      '/analytics/top-campaigns',
      '/analytics/campaign-stats',
      '/analytics/top-events',
    ])
      expect((await get(project, `${path}?${query}`)).body.error).toMatchObject({ code: 'BAD_REQUEST' });
  });
});

test('GET /activity/recent-count counts events and mail of the last minutes', async () => {
  const project = await aProject(database);
  const contactId = await aContact(database.db, project.id, 'bob@example.com');
  await queueMail(database.db, project, contactId, 'bob@example.com');
  await api.call(project.publicKey, 'POST', '/v1/track', { email: 'bob@example.com', event: 'heron seen' });
  await database.db.count(
    `insert into events (id, project_id, name, created_at) select uuidv7(), $1, 'old', now() - n * interval '1 minute' from unnest('{2,8,61}'::int[]) n`,
    [project.id],
  );
  const count = async (query: string) => (await get(project, `/activity/recent-count${query}`)).body;
  expect(await count('')).toEqual({ count: 3, minutes: 5 });
  expect(await count('?minutes=10')).toEqual({ count: 4, minutes: 10 });
  expect(await count('?minutes=500')).toEqual({ count: 4, minutes: 60 });
  expect(await count('?minutes=-1')).toEqual({ count: 3, minutes: 5 });
});

test('GET /activity/running says that mail of the project waits for the provider, until when and why', async () => {
  const [waiting, idle] = [await aProject(database), await aProject(database)];
  const mail = { to: 'a@example.com', from: waiting.sender, subject: 'Hello', body: '<p>Hi</p>' };
  await api.call(waiting.secretKey, 'POST', '/v1/send', mail);
  expect((await get(waiting, '/activity/running')).body.hold).toBeNull();
  await database.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 3, 'provider answers 503', now(), now() + interval '5 minutes')`,
    [api.app.mailer.name],
  );
  try {
    expect((await get(waiting, '/activity/running')).body.hold).toEqual({
      provider: api.app.mailer.name,
      reason: 'provider answers 503',
      since: expect.stringMatching(/Z$/),
      until: expect.stringMatching(/Z$/),
    });
    expect((await get(idle, '/activity/running')).body.hold).toBeNull();
  } finally {
    await database.db.count('delete from provider_holds');
  }
});

test('GET /activity/running lists what is being worked on, the latest first, with its progress', async () => {
  const project = await aProject(database);
  const other = await aProject(database);
  const at = (minutes: number) => new Date(Date.UTC(2026, 2, 11, 8, minutes)).toISOString();
  const campaign = await aCampaign(project, null, {
    status: 'SENDING',
    sent_at: at(1),
    total_recipients: 8,
    sent_count: 3,
    skipped_count: 1,
  });
  await aCampaign(project, null, { status: 'SENT', sent_at: at(1) });
  await aCampaign(other, null, { status: 'SENDING', sent_at: at(1) });
  for (const [id, finished] of [
    ['job-open', null],
    ['job-done', at(3)],
  ])
    await database.db.count(
      `insert into jobs (id, project_id, kind, spec, state, progress, created_at, finished_at)
       values ($1, $2, 'import', '{"filename": "members.csv"}', 'active', 40, $3, $4)`,
      [id, project.id, at(2), finished],
    );
  expect((await get(project, '/activity/running')).body.data).toEqual([
    { type: 'import', id: 'job-open', name: 'members.csv', progress: 40, isPaused: false, startedAt: at(2) },
    { type: 'campaign', id: campaign, name: 'Spring count', progress: 50, isPaused: false, startedAt: at(1) },
  ]);
  const { automation } = await aWelcome(project, []);
  const [version] = await database.db.rows<{ id: string }>(
    `select id from automation_versions where automation_id = $1 limit 1`,
    [automation.id],
  );
  await database.db.count(
    `insert into automation_migrations (id, project_id, automation_id, to_version_id, rules, expected, moved_now)
     values (uuidv7(), $1, $2, $3, '{}', 4, 1)`,
    [project.id, automation.id, version?.id],
  );
  expect((await get(project, '/activity/running')).body.data[0]).toMatchObject({
    type: 'migration',
    id: automation.id,
    progress: 25,
  });
  expect((await get(other, '/activity/running')).body.data).toHaveLength(1);
});

describe('GET /activity/upcoming', () => {
  test('lists scheduled campaigns, the earliest first, as far ahead as asked', async () => {
    const project = await aProject(database);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const [soon, later] = [inDays(2), inDays(40)];
    const second = await aCampaign(project, null, { status: 'SCHEDULED', scheduled_for: later, total_recipients: 4 });
    const first = await aCampaign(project, null, { status: 'SCHEDULED', scheduled_for: soon, total_recipients: 3 });
    await aCampaign(project, null);
    const { body } = await get(project, '/activity/upcoming');
    expect(body).toEqual({
      activities: [
        {
          id: `campaign_${first}_scheduled`,
          type: 'campaign.scheduled',
          timestamp: soon,
          metadata: {
            campaignName: 'Spring count',
            subject: 'Hello {{firstName}}',
            totalRecipients: 3,
            segmentName: null,
            audienceType: 'ALL',
          },
        },
      ],
    });
    const far = (await get(project, '/activity/upcoming?daysAhead=60')).body.activities;
    expect(far.map(({ id }: Item) => id)).toEqual([`campaign_${first}_scheduled`, `campaign_${second}_scheduled`]);
    expect((await get(project, '/activity/upcoming?daysAhead=60&limit=1')).body.activities).toHaveLength(1);
  });

  test('lists mails that follow a delay among them, and no delay that nothing follows', async () => {
    const project = await aProject(database);
    const people = [
      await aContact(database.db, project.id, 'ada@example.com'),
      await aContact(database.db, project.id, 'bob@example.com'),
      await aContact(database.db, project.id, 'cyd@example.com'),
    ];
    const { automation, runs } = await aWelcome(project, people);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const [soon, between, later] = [inDays(1), inDays(1.5), inDays(2)];
    const pause = automation.steps.pause ?? '';
    const second = await delayed(project, runs[0] ?? '', pause, later);
    const first = await delayed(project, runs[1] ?? '', pause, soon);
    await delayed(project, runs[2] ?? '', automation.steps.rest ?? '', soon);
    const campaign = await aCampaign(project, null, { status: 'SCHEDULED', scheduled_for: between });
    const { activities } = (await get(project, '/activity/upcoming')).body;
    expect(activities.map(({ id }: Item) => id)).toEqual([
      `workflow_step_${first}_scheduled`,
      `campaign_${campaign}_scheduled`,
      `workflow_step_${second}_scheduled`,
    ]);
    expect(activities[0]).toEqual({
      id: `workflow_step_${first}_scheduled`,
      type: 'workflow.email.scheduled',
      timestamp: soon,
      contactEmail: 'bob@example.com',
      contactId: people[1],
      metadata: { workflowName: 'Welcome', stepName: 'mail', subject: 'Hello {{firstName}}' },
    });
    await database.db.count(`update automation_runs set status = 'CANCELLED', completed_at = now() where id = $1`, [
      runs[1],
    ]);
    expect((await get(project, '/activity/upcoming?limit=1')).body.activities[0].id).toBe(
      `campaign_${campaign}_scheduled`,
    );
  });
});
