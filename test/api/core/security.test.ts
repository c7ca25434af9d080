import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiversOf } from '../../../src/feedback/reputation/deliverability.ts';
import { foldAndJudge } from '../../../src/feedback/reputation/service.ts';
import { linksOf } from '../../../src/insight/setup/routes.ts';
import { newId } from '../../../src/lib/ids.ts';
import { settleMail } from '../../../src/mail/ledger/settle.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, queueMail } from '../../support/delivery-fixtures.ts';
import { countMail } from '../../support/mail-counts.ts';

const settings = { POSTMARK_WEBHOOK_TOKEN: 'battery-staple' };
let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, settings);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

interface Mailing {
  total: number;
  bounced?: number;
  complained?: number;
  hoursAgo?: number;
  simulated?: boolean;
  status?: string;
  source?: string;
}

/** Inserts mail to one contact, some of which bounced or was complained about. */
async function mailed(project: TestProject, mailing: Mailing): Promise<void> {
  const contactId = await aContact(database.db, project.id, `keeper-${newId().slice(-8)}@example.com`);
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, simulated, sent_at,
       bounced_at, complained_at, created_at)
     select (overlay(uuidv7()::text placing $10::text from 1 for 13))::uuid, $1, $2, 'keeper@example.com', $3, $4, 'TRANSACTIONAL', $5,
       $6, now(), case when n <= $8 then now() end, case when n <= $9 then now() end, $11::timestamptz
     from generate_series(1, $7::int) n`,
    [
      project.id,
      contactId,
      project.sender,
      mailing.source ?? 'TRANSACTIONAL',
      mailing.status ?? 'SENT',
      mailing.simulated ?? false,
      mailing.total,
      mailing.bounced ?? 0,
      mailing.complained ?? 0,
      idStart(mailing.hoursAgo ?? 0),
      new Date(Date.now() - (mailing.hoursAgo ?? 0) * 3_600_000).toISOString(),
    ],
  );
  await countMail(database.db, project.id);
}

// The part of a UUID v7 that tells the time.
function idStart(hoursAgo: number): string {
  const hex = (Date.now() - hoursAgo * 3_600_000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** A project that is no new one any more. */
async function anOldProject(): Promise<TestProject> {
  const project = await aProject(database);
  await database.db.count(`update projects set created_at = now() - interval '31 days' where id = $1`, [project.id]);
  return project;
}

let reports = 0;
/** Lets Postmark report about a mail that was handed over a moment ago. */
async function reported(project: TestProject, record: object, on = api) {
  const contactId = await aContact(database.db, project.id, `bob-${newId().slice(-8)}@example.com`);
  const id = await queueMail(database.db, project, contactId, 'bob@example.com');
  await settle(id, { outcome: 'SENT', messageId: `m-${id}`, at: new Date().toISOString(), stream: 'outbound' });
  reports += 1;
  const answer = await on.call(null, 'POST', '/webhooks/postmark/battery-staple', {
    ID: reports,
    MessageID: `m-${id}`,
    MessageStream: 'outbound',
    Email: 'bob@example.com',
    BouncedAt: new Date().toISOString(),
    Metadata: { eid: id, pid: project.id },
    ...record,
  });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
}
const hardBounce = { RecordType: 'Bounce', Type: 'HardBounce', TypeCode: 1, Description: 'No such mailbox' };
const complaint = { RecordType: 'SpamComplaint', Type: 'SpamComplaint', TypeCode: 512 };

async function settle(id: string, outcome: object) {
  const claimId = newId();
  await database.db.count('update email_queue set claim_id = $2 where email_id = $1', [id, claimId]);
  await settleMail(database.db, { id: claimId, provider: 'postmark' }, [
    { emailId: id, subject: 'A', body: 'B', ...outcome } as never,
  ]);
}

const stateOf = (project: TestProject) =>
  database.db.row<{ disabled: boolean; reason: string | null }>(
    'select disabled, disabled_reason as reason from projects where id = $1',
    [project.id],
  );
const guardDeps = (changes: { AUTO_PROJECT_DISABLE?: boolean } = {}) => ({
  db: database.db,
  clock: () => new Date(),
  outbox: api.app.outbox,
  settings: { ...api.config, ...changes },
  log: pino({ level: 'silent' }),
});

describe('GET /projects/{id}/security', () => {
  test('tells totals and rates of seven days and of all time, and neither thresholds nor the last day', async () => {
    const project = await anOldProject();
    await mailed(project, { total: 900, bounced: 9, hoursAgo: 30 });
    await mailed(project, { total: 600, bounced: 20, complained: 1, hoursAgo: 24 * 8 });
    await mailed(project, { total: 40, simulated: true, bounced: 40 });
    await mailed(project, { total: 30, status: 'FAILED' });
    await mailed(project, { total: 20, status: 'SUPPRESSED' });
    await mailed(project, { total: 10, status: 'RECEIVED', source: 'INBOUND' });
    const figures = {
      status: {
        projectId: project.id,
        isHealthy: true,
        shouldDisable: false,
        twentyFourHour: { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 },
        sevenDay: { total: 900, bounces: 9, complaints: 0, bounceRate: 1, complaintRate: 0 },
        allTime: {
          total: 1500,
          bounces: 29,
          complaints: 1,
          bounceRate: (29 / 1500) * 100,
          complaintRate: (1 / 1500) * 100,
        },
        isNewProject: false,
        violations: [],
        warnings: [],
      },
      levels: {
        bounce7Day: 'healthy',
        bounceAllTime: 'healthy',
        complaint7Day: 'healthy',
        complaintAllTime: 'warning',
      },
      isDisabled: false,
    };
    const { body } = await api.call(project.secretKey, 'GET', `/projects/${project.id}/security`);
    expect(body).toEqual({ success: true, data: figures });
    expect((await api.call(project.secretKey, 'GET', `/users/@me/projects/${project.id}/security`)).body).toEqual(
      figures,
    );
  });

  test('names what is wrong in sentences without numbers', async () => {
    const project = await aProject(database);
    await mailed(project, { total: 200, bounced: 30, complained: 3, hoursAgo: 1 });
    const { status } = (await api.call(project.secretKey, 'GET', `/users/@me/projects/${project.id}/security`)).body;
    expect(status).toMatchObject({ isHealthy: false, shouldDisable: true, isNewProject: false });
    expect(status.twentyFourHour.total).toBe(0);
    expect(status.violations).toEqual([
      'The share of emails that bounced is too high',
      'The share of emails that bounced is too high since the project began',
      'The number of emails that bounced is too high',
    ]);
    expect(status.warnings).toEqual([
      'The share of emails that were reported as spam is high',
      'The share of emails that were reported as spam is high since the project began',
      'The number of emails that were reported as spam is high',
    ]);
  });

  test('a key sees its own project only', async () => {
    const [project, other] = [await aProject(database), await aProject(database)];
    for (const path of [
      `/projects/${other.id}/security`,
      `/users/@me/projects/${other.id}/security`,
      `/projects/${other.id}/setup-state`,
    ])
      expect((await api.call(project.secretKey, 'GET', path)).status).toBe(403);
  });
});

describe('automatic pause', () => {
  test('the bounce that reaches the limit disables the project everywhere, ends what waits and tells the members', async () => {
    await using elsewhere = await testApi(database, settings);
    const project = await anOldProject();
    await mailed(project, { total: 190, bounced: 14 });
    const contactId = await aContact(database.db, project.id, 'ada@example.com');
    const waiting = await queueMail(database.db, project, contactId, 'ada@example.com');
    const [draft, body] = [newId(), '<p>The herons are back.</p>'];
    await database.db.count(
      `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, send_seq, scheduled_for)
       values ($1, $2, 'Spring', 'Spring', $3, $4, 'ALL', 'SCHEDULED', 1, now() + interval '1 day')`,
      [draft, project.id, body, project.sender],
    );
    const create = (on: TestApi) => on.call(project.secretKey, 'POST', '/contacts', { email: 'bob@example.com' });
    expect((await create(elsewhere)).status).toBeLessThan(300);

    await reported(project, hardBounce);
    expect(await stateOf(project)).toEqual({ disabled: false, reason: null });
    await reported(project, hardBounce);
    expect(await stateOf(project)).toEqual({ disabled: true, reason: 'REPUTATION' });

    for (const on of [api, elsewhere])
      await expect.poll(async () => (await create(on)).body.error?.code).toBe('PROJECT_DISABLED');
    expect((await api.call(project.secretKey, 'GET', '/contacts')).status).toBe(200);
    expect(
      await database.db.row('select status, mail_reason_text(reason) as error from emails where id = $1', [waiting]),
    ).toEqual({
      status: 'FAILED',
      error: 'Project is disabled',
    });
    expect(await database.db.row('select 1 from email_queue where project_id = $1', [project.id])).toBeNull();
    expect(await database.db.row('select status, audit_note from campaigns where id = $1', [draft])).toEqual({
      status: 'DRAFT',
      audit_note: 'Project is disabled',
    });
    const told = await database.db.rows<{ to: string }>(
      `select m.to_address as to from system_mails m join memberships s on s.project_id = $1 join users u on u.id = s.user_id
       where m.kind = 'project-disabled' and m.to_address = u.email`,
      [project.id],
    );
    expect(told).toHaveLength(1);
    const { isDisabled } = (await api.call(project.secretKey, 'GET', `/users/@me/projects/${project.id}/security`))
      .body;
    expect(isDisabled).toBe(true);
  });

  test('complaints count as well', async () => {
    const project = await anOldProject();
    await mailed(project, { total: 200, complained: 4 });
    await reported(project, complaint);
    expect(await stateOf(project)).toEqual({ disabled: true, reason: 'REPUTATION' });
  });

  test('many bounces at once disable once and tell each member once', async () => {
    const project = await anOldProject();
    await mailed(project, { total: 120, bounced: 9 });
    await Promise.all(Array.from({ length: 12 }, () => reported(project, hardBounce)));
    expect(await stateOf(project)).toEqual({ disabled: true, reason: 'REPUTATION' });
    const told = await database.db.rows(
      `select 1 from system_mails m join memberships s on s.project_id = $1 join users u on u.id = s.user_id
       where m.kind = 'project-disabled' and m.to_address = u.email`,
      [project.id],
    );
    expect(told).toHaveLength(1);
  });

  test('transient bounces and mail to simulators never disable', async () => {
    const project = await aProject(database);
    await mailed(project, { total: 120, bounced: 60, simulated: true });
    await mailed(project, { total: 120 });
    for (let round = 0; round < 12; round += 1)
      await reported(project, { ...hardBounce, Type: 'Transient', TypeCode: 2 });
    await reported(project, hardBounce);
    expect((await stateOf(project))?.disabled).toBe(false);
  });

  test('a worker judges what no report of the provider told', async () => {
    const project = await anOldProject();
    await mailed(project, { total: 100, bounced: 9 });
    await foldAndJudge(guardDeps());
    expect((await stateOf(project))?.disabled).toBe(false);
    const contactId = await aContact(database.db, project.id, 'inactive@example.com');
    await settle(await queueMail(database.db, project, contactId, 'inactive@example.com'), {
      outcome: 'BOUNCED',
      reason: { code: 'provider', words: 'Inactive' },
    });
    const waiting = await queueMail(database.db, project, contactId, 'inactive@example.com');
    await foldAndJudge(guardDeps());
    expect((await stateOf(project))?.disabled).toBe(true);
    expect(await database.db.row('select status from emails where id = $1', [waiting])).toEqual({ status: 'FAILED' });
  });

  test('with AUTO_PROJECT_DISABLE=false nothing is disabled', async () => {
    await using lenient = await testApi(database, { ...settings, AUTO_PROJECT_DISABLE: 'false' });
    const project = await anOldProject();
    await mailed(project, { total: 100, bounced: 50 });
    await reported(project, hardBounce, lenient);
    await foldAndJudge(guardDeps({ AUTO_PROJECT_DISABLE: false }));
    expect((await stateOf(project))?.disabled).toBe(false);
    const { status } = (await api.call(project.secretKey, 'GET', `/users/@me/projects/${project.id}/security`)).body;
    expect(status.shouldDisable).toBe(true);
  });

  test('an operator enables the project again, and says how fast it may send', async () => {
    const project = await anOldProject();
    await database.db.count(`update projects set disabled = true, disabled_reason = 'REPUTATION' where id = $1`, [
      project.id,
    ]);
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, ['src/main/project.ts', ...args], {
        env: { ...process.env, DATABASE_URL: database.url },
      });
    expect((await run('enable', project.id)).stdout).toContain('is enabled');
    expect(await stateOf(project)).toEqual({ disabled: false, reason: null });
    await expect(run('enable', newId())).rejects.toThrow('there is no project');
    await expect(run('forgive', project.id)).rejects.toThrow('usage');
    const rate = () => database.db.row('select send_rate as rate from projects where id = $1', [project.id]);
    expect((await run('rate', project.id, '50')).stdout).toContain('at most 50 messages a second');
    expect(await rate()).toEqual({ rate: 50 });
    await expect(run('rate', project.id, '0')).rejects.toThrow('usage');
    await expect(run('rate', project.id)).rejects.toThrow('usage');
    expect(await rate()).toEqual({ rate: 50 });
    await run('rate', project.id, 'default');
    expect(await rate()).toEqual({ rate: null });
  });
});

describe('GET /deliverability', () => {
  interface Row {
    sent: number;
    bounces: number;
    complaints: number;
    domain?: string;
    provider?: string;
  }
  const deliverability = async (project: TestProject, query = '') =>
    (await api.call(project.secretKey, 'GET', `/deliverability${query}`)).body;
  const toDomain = (project: TestProject, domain: string) =>
    database.db.count(
      `update emails set to_address = 'keeper@' || $2 where project_id = $1 and to_address = 'keeper@example.com'`,
      [project.id, domain],
    );

  test('counts by day, recipient domain and mailbox provider what reputation is judged by', async () => {
    const project = await aProject(database);
    await mailed(project, { total: 20, bounced: 3, complained: 1, hoursAgo: 30 });
    await toDomain(project, 'GMAIL.com');
    await mailed(project, { total: 5, bounced: 2, hoursAgo: 30 });
    await toDomain(project, 'googlemail.com');
    await mailed(project, { total: 10, bounced: 2 });
    await mailed(project, { total: 4, status: 'FAILED' });
    await mailed(project, { total: 4, simulated: true });
    await mailed(project, { total: 4, source: 'INBOUND' });
    await mailed(await aProject(database), { total: 7, bounced: 7 });
    await mailed(project, { total: 9, bounced: 9, hoursAgo: 24 * 40 });
    const found = await deliverability(project, '?days=7');
    expect(found.domains).toEqual([
      { domain: 'gmail.com', sent: 20, bounces: 3, complaints: 1 },
      { domain: 'example.com', sent: 10, bounces: 2, complaints: 0 },
      { domain: 'googlemail.com', sent: 5, bounces: 2, complaints: 0 },
    ]);
    expect(found.providers).toEqual([
      { provider: 'Google', sent: 25, bounces: 5, complaints: 1 },
      { provider: 'Other', sent: 10, bounces: 2, complaints: 0 },
    ]);
    expect(found.countedSince).toBeNull();
    expect(found.days).toHaveLength(7);
    const sum = (key: 'sent' | 'bounces' | 'complaints') =>
      found.days.reduce((total: number, day: Row) => total + day[key], 0);
    expect([sum('sent'), sum('bounces'), sum('complaints')]).toEqual([35, 7, 1]);
    expect((await deliverability(project)).days).toHaveLength(30);
    expect((await deliverability(project, '?days=900')).days).toHaveLength(90);
    expect((await deliverability(project, '?days=none')).days).toHaveLength(30);
  });

  test('shows each limit with where the project stands, and applies rates from a hundred emails on', async () => {
    const project = await aProject(database);
    const bounceRate = async () => {
      const { limits } = await deliverability(project);
      return limits.find(
        (limit: { of: string; window: string; unit: string }) =>
          limit.of === 'bounces' && limit.window === 'sevenDay' && limit.unit === 'percent',
      );
    };
    await mailed(project, { total: 60, bounced: 6 });
    expect(await bounceRate()).toMatchObject({ value: 10, level: 'warning', applies: false });
    await mailed(project, { total: 60, bounced: 6 });
    expect(await bounceRate()).toEqual({
      of: 'bounces',
      window: 'sevenDay',
      unit: 'percent',
      value: 10,
      warning: { rate: 5, count: 5 },
      critical: { rate: 10, count: 10 },
      level: 'critical',
      applies: true,
    });
    expect(await deliverability(project)).toMatchObject({ pauses: true, isPaused: false });
  });

  test('looks at no more than the latest emails of a large ledger, along its index, and says since when', async () => {
    const project = await aProject(database);
    await mailed(project, { total: 12, bounced: 12, hoursAgo: 48 });
    await mailed(project, { total: 8, bounced: 1, hoursAgo: 2 });
    const since = new Date(Date.now() - 7 * 86_400_000);
    const latest = await receiversOf(database.db, project.id, since, 8);
    expect(latest.domains).toEqual([{ domain: 'example.com', sent: 8, bounces: 1, complaints: 0 }]);
    expect(Date.parse(latest.countedSince ?? '')).toBeGreaterThan(Date.now() - 3 * 3_600_000);
    expect((await receiversOf(database.db, project.id, since, 21)).countedSince).toBeNull();
  });
});

test('links lead to what the reader can open: nothing on localhost for those who are elsewhere', () => {
  const here = {
    API_URI: 'http://localhost:3000',
    mailProvider: 'sandbox',
    SANDBOX_INBOX_URL: 'http://localhost:8025/',
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    TEMPORAL_NAMESPACE: 'mail team',
  } as const;
  const temporal = 'http://127.0.0.1:8233/namespaces/mail%20team/workflows';
  expect(linksOf(here)).toEqual({ inbox: 'http://localhost:8025', temporal });
  expect(linksOf({ ...here, mailProvider: 'postmark' })).toEqual({ inbox: null, temporal });
  const away = { ...here, API_URI: 'https://mail.example.com' };
  expect(linksOf(away)).toEqual({ inbox: null, temporal: null });
  expect(linksOf({ ...away, TEMPORAL_UI_URL: 'https://temporal.example.com' }).temporal).toBe(
    'https://temporal.example.com/namespaces/mail%20team/workflows',
  );
});

test('GET /projects/{id}/setup-state tells what is there', async () => {
  const project = await aProject(database);
  const state = async () => (await api.call(project.secretKey, 'GET', `/projects/${project.id}/setup-state`)).body;
  expect(await state()).toEqual({
    success: true,
    data: {
      hasSubscription: false,
      hasVerifiedDomain: true,
      contactCount: 0,
      lastCampaignSentAt: null,
      hasEnabledWorkflow: false,
      publicKeyMode: 'contract',
      links: linksOf(api.config),
    },
  });
  await api.call(project.secretKey, 'POST', '/contacts', { email: 'ada@example.com' });
  await database.db.count('update domains set verified = false where project_id = $1', [project.id]);
  await database.db.count(`update projects set subscription = 'sub_1' where id = $1`, [project.id]);
  await database.db.count(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, sent_at)
     select uuidv7(), $1, 'Spring', 'Spring', '', $2, 'ALL', status, at
     from (values ('SENT', timestamptz '2026-02-11T08:00:00Z'), ('SENT', '2026-01-11T08:00:00Z'), ('SENDING', '2026-03-11T08:00:00Z')) c (status, at)`,
    [project.id, project.sender],
  );
  await database.db.count(`insert into automations (id, project_id, name, enabled) values ($1, $2, 'Welcome', true)`, [
    newId(),
    project.id,
  ]);
  expect((await state()).data).toEqual({
    hasSubscription: true,
    hasVerifiedDomain: false,
    contactCount: 1,
    lastCampaignSentAt: '2026-02-11T08:00:00.000Z',
    hasEnabledWorkflow: true,
    publicKeyMode: 'contract',
    links: linksOf(api.config),
  });
});
