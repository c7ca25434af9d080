import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeCancelledSend } from '../../../src/campaigns/delivery/completion.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { audience } from '../../support/audience.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// Who got a campaign, who did not, and why. The rows are written as a worker leaves them.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let campaign: string;
const people = audience().slice(0, 8);

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
  for (const { email, data } of people) await call('POST', '/contacts', { email, data });
  const created = await call('POST', '/campaigns', {
    name: 'Spring count',
    subject: 'The herons are back',
    body: '<p>Look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  campaign = created.body.data.id;
  expect((await call('POST', `/campaigns/${campaign}/send`)).status).toBe(200);
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  api.call(project.secretKey, method, path, body, headers);
const recipients = (query: string) => call('GET', `/campaigns/${campaign}/recipients${query}`);
const audit = async () => (await call('GET', `/campaigns/${campaign}/audit`)).body.data;

/** One row of the ledger in the state that a worker would leave. */
async function row(n: number, columns: Record<string, unknown>): Promise<string> {
  const names = Object.keys(columns);
  const values = Object.values(columns);
  const found = await database.db.row<{ id: string }>(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq
       ${names.map((name) => `, ${name}`).join('')})
     select uuidv7(), project_id, id, email, $3, 'CAMPAIGN', 'MARKETING', $4, 1 ${names.map((_, i) => `, $${i + 5}`).join('')}
     from contacts where project_id = $1 and email = $2 returning id`,
    [project.id, people[n]?.email, project.sender, campaign, ...values],
  );
  return found?.id ?? '';
}
const sentRow = (n: number, more: object = {}) =>
  row(n, { status: 'SENT', sent_at: '2026-03-02T09:15:00.000Z', message_id: `pm-${n}`, ...more });

/** A ledger with a row of each kind: 3 handed over, 2 skipped, 2 failed. */
async function finishedLedger(): Promise<void> {
  await sentRow(0);
  await sentRow(1, {
    status: 'BOUNCED',
    bounced_at: '2026-03-02T09:16:00Z',
    reason: { code: 'provider', words: 'No such mailbox' },
  });
  await sentRow(2, { status: 'COMPLAINED', complained_at: '2026-03-02T09:17:00Z' });
  await row(3, { status: 'FAILED', reason: { code: 'unsubscribed' } });
  await row(4, { status: 'SUPPRESSED', suppression: { name: 'Test traffic' } });
  await row(5, { status: 'FAILED', reason: { code: 'project_disabled' } });
  await row(6, { status: 'FAILED', reason: { code: 'refused', number: 300, words: 'Invalid address' } });
  await database.db.count(
    `update campaigns set status = 'SENT', total_recipients = 7, sent_count = 3, skipped_count = 2, failed_count = 2,
       bounced_count = 1, complained_count = 1 where id = $1`,
    [campaign],
  );
  await database.db.count('update campaign_sends set closed = true where campaign_id = $1', [campaign]);
}

describe('the ledger', () => {
  test('tells of everybody what became of them, page by page, without a gap or a repetition', async () => {
    await finishedLedger();
    const seen: { email: string; verdict: string; reason: string | null }[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const { body } = await recipients(`?limit=3${cursor}`);
      expect(body).toMatchObject({ success: true, total: 7 });
      seen.push(...body.data);
      if (!body.hasMore) break;
      cursor = `&cursor=${body.cursor}`;
    }
    const told = seen.map(({ email, verdict, reason }) => ({ email, verdict, reason }));
    const of = (n: number, verdict: string, reason: string | null = null) => ({
      email: people[n]?.email,
      verdict,
      reason,
    });
    expect(told).toHaveLength(7);
    expect(told).toEqual(
      expect.arrayContaining([
        of(0, 'handed_over'),
        of(1, 'handed_over'),
        of(2, 'handed_over'),
        of(3, 'skipped', 'Contact is unsubscribed'),
        of(4, 'skipped', 'Suppressed by rule "Test traffic"'),
        of(5, 'failed', 'Project is disabled'),
        of(6, 'failed', 'Refused by the provider (300): Invalid address'),
      ]),
    );
    const first = seen.find(({ email }) => email === people[0]?.email);
    expect(first).toMatchObject({ messageId: 'pm-0', sentAt: '2026-03-02T09:15:00.000Z' });
  });

  test("is filtered by verdict with the campaign's counter as total", async () => {
    await finishedLedger();
    const counts = await Promise.all(
      ['handed_over', 'skipped', 'failed', 'unknown', 'pending', 'all'].map(async (verdict) => {
        const { body } = await recipients(`?verdict=${verdict}`);
        return [body.data.length, body.total];
      }),
    );
    expect(counts).toEqual([
      [3, 3],
      [2, 2],
      [2, 2],
      [0, null],
      [0, null],
      [7, 7],
    ]);
    expect((await recipients('?verdict=lost')).status).toBe(400);
    expect((await recipients('?verdict=all&cursor=spring')).status).toBe(400);
    expect((await recipients('?verdict=all&cursor=')).status).toBe(200);
  });

  test('says of a row in an interrupted claim that it is unknown, and of one whose turn has not come that it is pending', async () => {
    await row(0, { status: 'PENDING' });
    await row(1, { status: 'PENDING' });
    const [first, last] = (await recipients('')).body.data.map((one: { contactId: string }) => one.contactId);
    await database.db.count(
      `insert into campaign_claims (id, campaign_id, send_seq, through_contact, size, handed_at) values ('run/1.1', $1, 1, $2, 1, now())`,
      [campaign, first],
    );
    const found = (await recipients('')).body.data;
    expect(found.map((one: { contactId: string; verdict: string }) => [one.contactId, one.verdict])).toEqual([
      [first, 'unknown'],
      [last, 'pending'],
    ]);
    expect(await audit()).toMatchObject({ recipients: 2, unknown: 1, pending: 1, addsUp: false, hash: null });
  });
});

describe('what recipients did', () => {
  /** Five that were sent: one opened, one clicked without an open, one did both and left, one bounced, one only got it. */
  async function readLedger(): Promise<void> {
    const at = (minute: number) => `2026-03-02T09:${minute}:00.000Z`;
    const delivered = { status: 'DELIVERED', delivered_at: at(16) };
    await sentRow(0, { ...delivered, opened_at: at(20) });
    const clicked = await sentRow(1, { ...delivered, clicked_at: at(21) });
    const both = await sentRow(2, { ...delivered, opened_at: at(22), clicked_at: at(23) });
    await sentRow(3, { status: 'BOUNCED', bounced_at: at(16) });
    await sentRow(4, delivered);
    await row(5, { status: 'FAILED', reason: { code: 'unsubscribed' } });
    const click = (link: string) => ({ kind: 'click', link }) as const;
    const reports = [
      [clicked, 1, click('https://herons.test/spring')],
      [both, 2, click('https://herons.test/spring')],
      [both, 2, click('https://herons.test/count')],
      [both, 2, { kind: 'optOut', own: true }],
    ] as const;
    for (const [index, [emailId, n, effect]] of reports.entries()) {
      const mail = { emailId, projectId: project.id };
      const recipient = people[n]?.email ?? '';
      const report = { ...mail, key: `${campaign}-${index}`, messageId: `pm-${n}`, recipient, at: at(30), effect };
      expect(await applyNotification(database.db, 'postmark', mail, report, true)).toBe('done');
    }
    await database.db.count(
      `update campaigns set status = 'SENT', total_recipients = 6, sent_count = 5, skipped_count = 1, delivered_count = 4, opened_count = 2,
         clicked_count = 2, bounced_count = 1 where id = $1`,
      [campaign],
    );
  }
  const listed = async (query: string) => {
    const { body } = await recipients(`?${query}`);
    const found = body.data.map(({ email }: { email: string }) => people.findIndex((one) => one.email === email));
    return [found.sort(), body.total];
  };

  test('filters the ledger, and the numbers are those of the funnel', async () => {
    await readLedger();
    const { data: stats } = (await call('GET', `/campaigns/${campaign}/stats`)).body;
    expect(await listed('did=sent')).toEqual([[0, 1, 2, 3, 4], stats.sentCount]);
    expect(await listed('did=delivered')).toEqual([[0, 1, 2, 4], stats.deliveredCount]);
    expect(await listed('did=opened')).toEqual([[0, 2], stats.openedCount]);
    expect(await listed('did=clicked')).toEqual([[1, 2], stats.clickedCount]);
    expect(await listed('did=bounced')).toEqual([[3], stats.bouncedCount]);
    expect(await listed('did=complained')).toEqual([[], stats.complainedCount]);
    expect(await listed('did=unsubscribed')).toEqual([[2], stats.unsubscribedCount]);
    expect(stats.unsubscribedCount).toBe(1);
    expect(await listed('did=not_opened')).toEqual([[4], null]);
    expect(await listed('did=not_clicked')).toEqual([[0, 4], null]);
    expect(await listed('did=clicked&link=https://herons.test/spring')).toEqual([[1, 2], null]);
    expect(await listed('did=clicked&link=https://herons.test/count')).toEqual([[2], null]);
    expect(await listed('did=bounced&verdict=skipped')).toEqual([[], null]);
    const opened = (await recipients('?did=opened')).body.data as { occurredAt: string; sentAt: string }[];
    expect(opened.map(({ occurredAt }) => occurredAt).sort()).toEqual([
      '2026-03-02T09:20:00.000Z',
      '2026-03-02T09:22:00.000Z',
    ]);
    expect(opened[0]?.sentAt).toBe('2026-03-02T09:15:00.000Z');
    const file = parse((await recipients('?format=csv&did=clicked')).body, { columns: true }) as object[];
    expect(file).toHaveLength(2);
  });

  test('comes page by page, by contact as the whole ledger does', async () => {
    await readLedger();
    const all = (await recipients('')).body.data.map(({ contactId }: { contactId: string }) => contactId);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await recipients(`?did=delivered&limit=1${cursor}`);
      seen.push(...body.data.map(({ contactId }: { contactId: string }) => contactId));
      cursor = body.hasMore ? `&cursor=${body.cursor}` : '';
    } while (cursor !== '');
    expect(seen).toHaveLength(4);
    expect(seen).toEqual(all.filter((id: string) => seen.includes(id)));
  });

  test('refuses what it does not know, by the name of the field', async () => {
    for (const [query, field] of [
      ['did=slept', 'did'],
      ['did=bounced&type=bounced', 'did'],
      ['did=opened&link=https://herons.test/spring', 'link'],
      ['link=https://herons.test/spring', 'link'],
      ['format=csv&did=slept', 'did'],
    ])
      expect(await recipients(`?${query}`)).toMatchObject({ status: 400, body: { error: { details: { field } } } });
  });
});

describe('bounces and complaints', () => {
  test('are listed by type, newest first, with bounces for every type that there is not', async () => {
    const ids = [];
    for (let n = 0; n < 3; n += 1)
      ids.push(await sentRow(n, { status: 'BOUNCED', bounced_at: `2026-03-02T09:1${n}:00Z` }));
    await sentRow(3, { status: 'COMPLAINED', complained_at: '2026-03-02T10:00:00Z' });
    await database.db.count('update campaigns set bounced_count = 3, complained_count = 1 where id = $1', [campaign]);
    const page = await recipients('?type=bounced&limit=2');
    expect(page.body).toMatchObject({ success: true, hasMore: true, total: 3 });
    expect(page.body.data.map((one: { emailId: string }) => one.emailId)).toEqual([ids[2], ids[1]]);
    expect(Object.keys(page.body.data[0]).sort()).toEqual(['contactId', 'email', 'emailId', 'occurredAt']);
    const rest = await recipients(`?type=bounced&limit=2&cursor=${page.body.cursor}`);
    expect(rest.body).toMatchObject({ hasMore: false, total: 3, data: [{ emailId: ids[0] }] });
    expect(rest.body).not.toHaveProperty('cursor');
    expect((await recipients('?type=anything')).body.data).toHaveLength(3);
    // A cursor of another list begins at the first page.
    const forged = Buffer.from(JSON.stringify(['2026-02-31T00:00:00.000Z', campaign])).toString('base64url');
    for (const cursor of ['c3ByaW5n', forged])
      expect((await recipients(`?type=bounced&cursor=${cursor}`)).body.data).toHaveLength(3);
    const complaints = await recipients('?type=complained');
    expect(complaints.body).toMatchObject({
      total: 1,
      data: [{ email: people[3]?.email, occurredAt: '2026-03-02T10:00:00.000Z' }],
    });
  });
});

describe('as a file', () => {
  const columns = ['emailId', 'contactId', 'email', 'verdict', 'reason', 'messageId', 'sentAt', 'version'];

  test('the ledger is CSV by parameter or by Accept, whole or of one verdict', async () => {
    await finishedLedger();
    const file = await recipients('?format=csv');
    expect(file.headers.get('content-type')).toContain('text/csv');
    expect(file.headers.get('content-disposition')).toContain('.csv');
    const rows = parse(file.body, { columns: true }) as Record<string, string>[];
    expect(Object.keys(rows[0] ?? {})).toEqual(columns);
    expect(rows).toHaveLength(7);
    const accepted = await call('GET', `/campaigns/${campaign}/recipients`, undefined, { Accept: 'text/csv' });
    expect(accepted.body).toBe(file.body);
    const failed = parse((await recipients('?format=csv&verdict=failed')).body, { columns: true }) as object[];
    expect(failed).toHaveLength(2);
    expect((await recipients('?format=csv&verdict=lost')).status).toBe(400);
    expect((await recipients('?format=csv&type=bounced')).status).toBe(400);
  });

  test('a cell that a spreadsheet would take for a formula is no formula, and quotes and commas stay in their cell', async () => {
    await row(0, { status: 'FAILED', reason: { code: 'provider', words: '=cmd|"/c calc"!A1, and more' } });
    await database.db.count(`update emails set to_address = '+1@example.com' where campaign_id = $1`, [campaign]);
    const [only] = parse((await recipients('?format=csv')).body, { columns: true }) as Record<string, string>[];
    expect(only).toMatchObject({ email: `'+1@example.com`, reason: `'=cmd|"/c calc"!A1, and more` });
  });
});

describe('the audit', () => {
  test('adds up the verdicts, and its hash is that of the file', async () => {
    await finishedLedger();
    const file = (await recipients('?format=csv')).body;
    expect(await audit()).toEqual({
      recipients: 7,
      handedOver: 3,
      skipped: 2,
      failed: 2,
      unknown: 0,
      pending: 0,
      removed: 0,
      addsUp: true,
      hash: createHash('sha256').update(file).digest('hex'),
      hashFormat: 2,
      reasons: expect.arrayContaining([
        { reason: 'Contact is unsubscribed', count: 1 },
        { reason: 'Suppressed by rule "Test traffic"', count: 1 },
      ]),
    });
  });

  test('does not add up before a row is there: the audience is still being frozen', async () => {
    expect(await audit()).toMatchObject({ recipients: 0, addsUp: false, hash: null });
  });

  test('of a campaign that has not begun is empty and adds nothing up, and its ledger has no rows to count', async () => {
    const copy = (await call('POST', `/campaigns/${campaign}/duplicate`)).body.data;
    expect(copy.totalRecipients).toBe(people.length);
    campaign = copy.id;
    for (const begin of [null, { scheduledFor: '2999-01-01T00:00:00Z' }]) {
      if (begin !== null) await call('POST', `/campaigns/${campaign}/send`, begin);
      expect(await audit()).toMatchObject({ recipients: 0, removed: 0, addsUp: false, hash: null, reasons: [] });
      expect((await recipients('')).body).toEqual({ success: true, data: [], hasMore: false, total: 0 });
    }
  });

  test('does not add up before a cancelled campaign is cleaned up, and then it does', async () => {
    await finishedLedger();
    await database.db.count(`update campaigns set status = 'CANCELLED', total_recipients = 9 where id = $1`, [
      campaign,
    ]);
    await database.db.count('update campaign_sends set closed = false where campaign_id = $1', [campaign]);
    expect(await audit()).toMatchObject({ recipients: 7, removed: 0, addsUp: false, hash: null });
    await closeCancelledSend(database.db, campaign, 1);
    expect(await audit()).toMatchObject({ recipients: 7, removed: 0, addsUp: true });
  });

  test('counts refusals of one kind together, though the provider names the recipient in each', async () => {
    for (const n of [0, 1, 2]) {
      const words = `Found inactive addresses: ${people[n]?.email}.`;
      await row(n, { status: 'FAILED', reason: { code: 'refused', number: 406, words } });
    }
    expect((await audit()).reasons).toEqual([
      { reason: 'Refused by the provider (406): Found inactive addresses: ….', count: 3 },
    ]);
    const told = (await recipients('?limit=1')).body.data[0];
    expect(told.reason).toContain(told.email);
  });

  test('keeps its hash when recipients open, click or bounce later', async () => {
    await finishedLedger();
    const { hash } = await audit();
    await database.db.count(
      `update emails set status = 'CLICKED', opened_at = now(), clicked_at = now(), updated_at = now() where campaign_id = $1 and message_id = 'pm-0'`,
      [campaign],
    );
    expect((await audit()).hash).toBe(hash);
    await database.db.count(`update emails set message_id = 'pm-x' where campaign_id = $1 and message_id = 'pm-0'`, [
      campaign,
    ]);
    expect((await audit()).hash).not.toBe(hash);
  });

  test('does not add up when a counter and the rows differ', async () => {
    await finishedLedger();
    await database.db.count('update campaigns set sent_count = 2 where id = $1', [campaign]);
    expect(await audit()).toMatchObject({ addsUp: false });
  });

  test('still adds up when a report proves that mail which was given up or cut off did leave', async () => {
    await finishedLedger();
    const rows = await database.db.rows<{ id: string; address: string }>(
      `select id, to_address as address from emails where campaign_id = $1 and reason ->> 'code' in ('unsubscribed', 'project_disabled')`,
      [campaign],
    );
    for (const { id, address } of rows) {
      const report = {
        key: `delivery-${id}`,
        emailId: id,
        projectId: project.id,
        messageId: `pm-late-${id}`,
        recipient: address,
        at: '2026-03-02T11:00:00.000Z',
        effect: { kind: 'delivery' },
      } as const;
      expect(
        await applyNotification(database.db, 'postmark', { emailId: id, projectId: project.id }, report, true),
      ).toBe('done');
    }
    expect(await audit()).toMatchObject({ handedOver: 5, skipped: 1, failed: 1, addsUp: true });
    expect((await call('GET', `/campaigns/${campaign}/stats`)).body.data).toMatchObject({
      sentCount: 5,
      skippedCount: 1,
      failedCount: 1,
    });
  });

  test('tells apart what went with contacts that were deleted afterwards', async () => {
    await finishedLedger();
    await database.db.count('delete from contacts where project_id = $1 and email = $2', [
      project.id,
      people[0]?.email,
    ]);
    expect(await audit()).toMatchObject({ recipients: 6, handedOver: 2, removed: 1, addsUp: true });
  });
});

describe('a resend', () => {
  test('goes to those who were missed for a reason that may have passed, never to those who got it', async () => {
    await finishedLedger();
    await database.db.count('update contacts set subscribed = false where project_id = $1 and email = $2', [
      project.id,
      people[3]?.email,
    ]);
    const answer = await call('POST', `/campaigns/${campaign}/resend`);
    expect(answer.status).toBe(201);
    // The suppressed one and the one of the disabled project: the third left the audience, the provider refused the fourth.
    expect(answer.body).toMatchObject({
      success: true,
      data: { name: 'Spring count (Resend)', status: 'SENDING', resendOf: campaign, totalRecipients: 2 },
    });
    const again = await call('POST', `/campaigns/${campaign}/resend`);
    expect(again.status).toBe(409);
    expect(again.body.error.details).toMatchObject({ campaignId: answer.body.data.id });
    const starts = await database.db.rows('select 1 from outbox where workflow_id = $1', [
      `campaign/${answer.body.data.id}/1`,
    ]);
    expect(starts).toHaveLength(1);
  });

  test('leaves out whom it may have reached although nobody can tell', async () => {
    await finishedLedger();
    await row(7, { status: 'FAILED', reason: { code: 'submission_unknown' } });
    const answer = await call('POST', `/campaigns/${campaign}/resend`);
    // The unsubscription was undone since; the suppressed one and the one of the disabled project may be tried again.
    expect(answer).toMatchObject({ status: 201, body: { data: { totalRecipients: 3 } } });
  });

  test('needs a campaign that is over, somebody who was missed and a verified sender', async () => {
    expect((await call('POST', `/campaigns/${campaign}/resend`)).status).toBe(400);
    await finishedLedger();
    await database.db.count('update domains set verified = false where project_id = $1', [project.id]);
    await expect.poll(async () => (await call('POST', `/campaigns/${campaign}/resend`)).status).toBe(403);
    await database.db.count(`delete from emails where campaign_id = $1 and sent_at is null`, [campaign]);
    expect((await call('POST', `/campaigns/${campaign}/resend`)).status).toBe(400);
    expect((await call('GET', '/campaigns')).body.total).toBe(1);
  });

  test('that became a draft again keeps its audience: another one is refused, the same one is taken', async () => {
    await finishedLedger();
    const { id } = (await call('POST', `/campaigns/${campaign}/resend`)).body.data;
    await database.db.count(`update campaigns set status = 'DRAFT' where id = $1`, [id]);
    expect((await call('PUT', `/campaigns/${id}`, { audienceType: 'SEGMENT', segmentId: campaign })).status).toBe(400);
    const same = await call('PUT', `/campaigns/${id}`, { name: 'Once more', audienceType: 'ALL' });
    expect(same.body.data).toMatchObject({ name: 'Once more', resendOf: campaign, totalRecipients: 3 });
    const copy = await call('POST', `/campaigns/${id}/duplicate`);
    expect(copy.body.data).toMatchObject({ resendOf: null, totalRecipients: people.length });
  });
});
