import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endUnsentRows } from '../../../src/campaigns/delivery/completion.ts';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// No worker runs here: a campaign that was started stays SENDING, so that every state can be looked at.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;

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
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const draft = () => ({
  name: 'Autumn migration',
  subject: 'The geese leave, {{firstName ?? friend}}',
  body: '<p>Dear {{firstName ?? friend}}, look up.</p>',
  from: project.sender,
  audienceType: 'ALL',
});
async function created(changes: object = {}): Promise<string> {
  const answer = await call('POST', '/campaigns', { ...draft(), ...changes });
  expect(answer.status).toBe(201);
  return answer.body.data.id;
}
const statusOf = async (id: string) => (await call('GET', `/campaigns/${id}`)).body.data.status;
const force = (id: string, status: string) =>
  database.db.count('update campaigns set status = $2 where id = $1', [id, status]);

describe('creating a campaign', () => {
  test('answers the whole draft in its envelope, with the size of its audience', async () => {
    await contacts(database.db, project.id, 3);
    const answer = await call('POST', '/campaigns', { ...draft(), fromName: 'Birdwatch', somethingElse: 1 });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        ...draft(),
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        description: null,
        document: null,
        fromName: 'Birdwatch',
        replyTo: null,
        type: 'MARKETING',
        status: 'DRAFT',
        audienceCondition: null,
        segmentId: null,
        scheduledFor: null,
        totalRecipients: 3,
        sentCount: 0,
        deliveredCount: 0,
        openedCount: 0,
        clickedCount: 0,
        bouncedCount: 0,
        complainedCount: 0,
        unsubscribedCount: 0,
        archived: false,
        pausedAt: null,
        pauseReason: null,
        resendOf: null,
        correction: null,
        contentVersion: 1,
        revision: 1,
        projectId: project.id,
        sentAt: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/Z$/),
      },
    });
  });

  test('counts only subscribed contacts unless the campaign is transactional', async () => {
    await contacts(database.db, project.id, 3);
    await database.db.count(
      `update contacts set subscribed = false where project_id = $1 and email = 'watcher-1@example.com'`,
      [project.id],
    );
    expect((await call('POST', '/campaigns', draft())).body.data.totalRecipients).toBe(2);
    expect((await call('POST', '/campaigns', { ...draft(), type: 'HEADLESS' })).body.data.totalRecipients).toBe(2);
    expect((await call('POST', '/campaigns', { ...draft(), type: 'TRANSACTIONAL' })).body.data.totalRecipients).toBe(3);
  });

  test.each([
    ['a missing name', { name: undefined }, 'name', 'invalid_type'],
    ['an empty subject', { subject: '' }, 'subject', 'too_small'],
    ['a body that is no string', { body: 7 }, 'body', 'invalid_type'],
    ['a sender that is no address', { from: 'birdwatch' }, 'from', 'invalid_string'],
    ['an unknown audience', { audienceType: 'SOME' }, 'audienceType', 'invalid_enum_value'],
    ['an unknown type', { type: 'NEWS' }, 'type', 'invalid_enum_value'],
    ['a line break in the name of the sender', { fromName: 'A\r\nBcc: b@example.com' }, 'fromName', 'invalid_string'],
    ['a segment that is no UUID', { segmentId: 'vip' }, 'segmentId', 'invalid_string'],
  ])('refuses %s with 422 and names the field', async (_, changes, field, code) => {
    const answer = await call('POST', '/campaigns', { ...draft(), ...changes });
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
    expect((await call('GET', '/campaigns')).body.total).toBe(0);
  });

  test.each([
    ['SEGMENT without a segment', { audienceType: 'SEGMENT' }],
    ['FILTERED without a condition', { audienceType: 'FILTERED' }],
  ])('refuses %s with 400', async (_, changes) => {
    expect((await call('POST', '/campaigns', { ...draft(), ...changes })).status).toBe(400);
  });

  test('refuses a template that does not parse with its line and column', async () => {
    const answer = await call('POST', '/campaigns', { ...draft(), body: '<p>\n{% if %}' });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'body', line: 2 } });
  });

  test('refuses a sender whose domain is not verified for this project with 403', async () => {
    const other = await aProject(database);
    for (const from of ['hello@nowhere.test', other.sender]) {
      const answer = await call('POST', '/campaigns', { ...draft(), from });
      expect(answer.status).toBe(403);
      expect(answer.body.error.code).toBe('INTERNAL_SERVER_ERROR');
    }
  });
});

describe('one campaign', () => {
  test.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/duplicate'],
    ['POST', '/send'],
    ['POST', '/cancel'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/resend'],
    ['POST', '/archive'],
    ['POST', '/unarchive'],
    ['GET', '/recipients'],
    ['GET', '/recipients?format=csv'],
    ['GET', '/stats'],
    ['GET', '/audit'],
  ])(
    '%s %s answers 422 for an id that is no UUID, 404 for an unknown one and for one of another project',
    async (method, path) => {
      const other = await aProject(database);
      const foreign = await api.call(other.secretKey, 'POST', '/campaigns', { ...draft(), from: other.sender });
      const malformed = await call(method, `/campaigns/spring${path}`, method === 'GET' ? undefined : {});
      expect(malformed.status).toBe(422);
      expect(malformed.body.error.errors[0]).toMatchObject({ field: 'id' });
      for (const id of [newId(), foreign.body.data.id]) {
        const answer = await call(method, `/campaigns/${id}${path}`, method === 'GET' ? undefined : {});
        expect(answer.status).toBe(404);
        expect(answer.body.error.code).toBe('CAMPAIGN_NOT_FOUND');
      }
    },
  );

  test('is read with its segment', async () => {
    const id = await created();
    const answer = await call('GET', `/campaigns/${id}`);
    expect(answer.body).toMatchObject({ success: true, data: { id, segment: null } });
  });

  test('keeps what is absent from an update, clears what is null, and counts its audience anew', async () => {
    const id = await created({ description: 'Geese', replyTo: 'reply@example.com' });
    await contacts(database.db, project.id, 2);
    const renamed = await call('PUT', `/campaigns/${id}`, { name: 'Geese', description: null });
    expect(renamed.body.data).toMatchObject({
      name: 'Geese',
      description: null,
      replyTo: 'reply@example.com',
      subject: draft().subject,
      totalRecipients: 0,
    });
    const retyped = await call('PUT', `/campaigns/${id}`, { type: 'TRANSACTIONAL' });
    expect(retyped.body.data).toMatchObject({ type: 'TRANSACTIONAL', totalRecipients: 2 });
  });

  test.each(['SENDING', 'SENT', 'CANCELLED'])('cannot be changed once it is %s', async (status) => {
    const id = await created();
    await force(id, status);
    expect((await call('PUT', `/campaigns/${id}`, { name: 'Late' })).status).toBe(400);
    expect((await call('GET', `/campaigns/${id}`)).body.data.name).toBe('Autumn migration');
  });

  test.each([
    ['DRAFT', 200],
    ['SCHEDULED', 409],
    ['SENDING', 409],
    ['SENT', 400],
    ['CANCELLED', 400],
  ])('deleting it while %s answers %i', async (status, expected) => {
    const id = await created();
    await force(id, status);
    expect((await call('DELETE', `/campaigns/${id}`)).status).toBe(expected);
    expect((await call('GET', `/campaigns/${id}`)).status).toBe(expected === 200 ? 404 : 200);
  });

  test('is copied into a draft from any status', async () => {
    const id = await created({ description: 'Geese' });
    await contacts(database.db, project.id, 2);
    await database.db.count(`update campaigns set status = 'SENT', sent_count = 5, archived = true where id = $1`, [
      id,
    ]);
    const answer = await call('POST', `/campaigns/${id}/duplicate`);
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({
      name: 'Autumn migration (Copy)',
      description: 'Geese',
      status: 'DRAFT',
      sentCount: 0,
      archived: false,
      totalRecipients: 2,
    });
    expect(answer.body.data.id).not.toBe(id);
  });
});

describe('the list', () => {
  test('pages, filters by status, searches and leaves out the archive', async () => {
    for (const name of ['Geese', 'Herons', 'Swifts']) await created({ name });
    const archived = await created({ name: 'Old geese' });
    await database.db.count('update campaigns set archived = true where id = $1', [archived]);
    const page = await call('GET', '/campaigns?pageSize=2&sort=name&dir=asc');
    expect(page.body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2, archivedCount: 1 });
    expect(page.body.data.map((one: { name: string }) => one.name)).toEqual(['Geese', 'Herons']);
    expect(page.body.data[0]).toHaveProperty('segment', null);
    expect((await call('GET', '/campaigns?search=%20HERON')).body.total).toBe(1);
    expect((await call('GET', '/campaigns?search=%25')).body.total).toBe(0);
    // What no text can hold is in none of them.
    expect(await call('GET', '/campaigns?search=a%00')).toMatchObject({ status: 200, body: { data: [], total: 0 } });
    expect((await call('GET', '/campaigns?status=SENT')).body.total).toBe(0);
    expect((await call('GET', '/campaigns?archived=true')).body.data).toMatchObject([{ name: 'Old geese' }]);
    expect((await call('GET', '/campaigns?status=GONE')).status).toBe(400);
    expect((await call('GET', '/campaigns?page=9')).body).toMatchObject({ data: [], total: 3 });
  });
});

test('ids in a body are taken in any letter case', async () => {
  const segment = newId();
  await database.db.count(`insert into segments (id, project_id, name, type) values ($1, $2, 'Waders', 'STATIC')`, [
    segment,
    project.id,
  ]);
  const id = await created({ audienceType: 'SEGMENT', segmentId: segment.toUpperCase() });
  await database.db.count(
    `update campaigns set status = 'SCHEDULED', scheduled_for = now() + interval '1 day' where id = $1`,
    [id],
  );
  const same = await call('PUT', `/campaigns/${id}`, { segmentId: segment.toUpperCase() });
  expect(same).toMatchObject({ status: 200, body: { data: { segmentId: segment } } });
  await force(id, 'SENT');
  const shelved = await call('POST', '/campaigns/bulk-update', { ids: [id.toUpperCase(), id], archived: true });
  expect(shelved).toMatchObject({ status: 200, body: { updated: 1 } });
});

describe('sending', () => {
  test('moves a draft to SENDING, opens the send and writes down the start of its workflow', async () => {
    await contacts(database.db, project.id, 4);
    const id = await created();
    const answer = await call('POST', `/campaigns/${id}/send`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      success: true,
      message: 'Sending started',
      data: { id, status: 'SENDING', totalRecipients: 4, scheduledFor: null, segment: null },
    });
    expect(Date.now() - Date.parse(answer.body.data.sentAt)).toBeLessThan(60_000);
    const outbox = await database.db.rows<{ workflow: string; payload: { input: object; staticSummary: string } }>(
      'select workflow_id as workflow, payload from outbox where workflow_id like $1',
      [`campaign/${id}/%`],
    );
    expect(outbox).toMatchObject([
      {
        workflow: `campaign/${id}/1`,
        payload: { input: { campaignId: id, sendSeq: 1 }, staticSummary: 'Campaign "Autumn migration"' },
      },
    ]);
  });

  test('of two requests at once exactly one answers 200 and the other 400', async () => {
    await contacts(database.db, project.id, 2);
    for (let round = 0; round < 5; round += 1) {
      const id = await created();
      const answers = await Promise.all([call('POST', `/campaigns/${id}/send`), call('POST', `/campaigns/${id}/send`)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const starts = await database.db.rows('select 1 from outbox where workflow_id like $1', [`campaign/${id}/%`]);
      expect(starts).toHaveLength(1);
    }
  });

  test('checks date, existence, status, audience, time and domain in this order', async () => {
    const unknown = newId();
    expect((await call('POST', `/campaigns/${unknown}/send`, { scheduledFor: 'soon' })).status).toBe(400);
    expect((await call('POST', `/campaigns/${unknown}/send`, { scheduledFor: {} })).status).toBe(400);
    expect((await call('POST', `/campaigns/${unknown}/send`)).status).toBe(404);
    const id = await created();
    const empty = await call('POST', `/campaigns/${id}/send`, { scheduledFor: '2001-01-01' });
    expect(empty.status).toBe(400);
    expect(empty.body.error.message).toMatch(/audience/);
    await contacts(database.db, project.id, 1);
    const past = await call('POST', `/campaigns/${id}/send`, { scheduledFor: '2001-01-01' });
    expect(past.body.error.message).toMatch(/future/);
    await database.db.count('update domains set verified = false where project_id = $1', [project.id]);
    // Drafts meet the same check: once one is refused, the process has heard of the change.
    await expect.poll(async () => (await call('POST', '/campaigns', draft())).status).toBe(403);
    expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(403);
    expect(await statusOf(id)).toBe('DRAFT');
    expect(await database.db.rows('select 1 from outbox where workflow_id like $1', [`campaign/${id}/%`])).toEqual([]);
  });

  test.each([undefined, null, '', 0])('takes scheduledFor %j for now', async (scheduledFor) => {
    await contacts(database.db, project.id, 1);
    const id = await created();
    const answer = await call('POST', `/campaigns/${id}/send`, { scheduledFor });
    expect(answer.body.data).toMatchObject({ status: 'SENDING' });
  });

  test.each(['SENDING', 'SENT', 'CANCELLED'])('refuses a campaign that is %s', async (status) => {
    await contacts(database.db, project.id, 1);
    const id = await created();
    await force(id, status);
    expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(400);
    expect(await statusOf(id)).toBe(status);
  });
});

test('a name is cut for Temporal between its characters, so that every name can be sent', async () => {
  await contacts(database.db, project.id, 1);
  const id = await created({ name: `x${'🪿'.repeat(300)}` });
  expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
});

describe('cancelling', () => {
  test('a campaign of which nothing has left returns to draft soon, and says so', async () => {
    await contacts(database.db, project.id, 2);
    const id = await created();
    await call('POST', `/campaigns/${id}/send`);
    const answer = await call('POST', `/campaigns/${id}/cancel`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, revertPending: true, data: { id, status: 'CANCELLED' } });
    const again = await call('POST', `/campaigns/${id}/cancel`);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ revertPending: true, data: { status: 'CANCELLED' } });
  });

  test('a campaign of which something has left stays cancelled', async () => {
    await contacts(database.db, project.id, 2);
    const id = await created();
    await call('POST', `/campaigns/${id}/send`);
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, sent_at)
       select uuidv7(), project_id, id, email, 'a@b.test', 'CAMPAIGN', 'MARKETING', $1, 1, 'SENT', now()
       from contacts where project_id = $2 limit 1`,
      [id, project.id],
    );
    const answer = await call('POST', `/campaigns/${id}/cancel`);
    expect(answer.body).toMatchObject({ revertPending: false, data: { status: 'CANCELLED' } });
  });

  test('a campaign of which the provider has refused somebody for an earlier bounce stays cancelled, and keeps that row', async () => {
    await contacts(database.db, project.id, 3);
    const id = await created();
    await call('POST', `/campaigns/${id}/send`);
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, bounced_at)
       select uuidv7(), project_id, id, email, 'a@b.test', 'CAMPAIGN', 'MARKETING', $1, 1,
         case when n = 1 then 'BOUNCED' else 'PENDING' end, case when n = 1 then now() end
       from (select *, row_number() over (order by id) as n from contacts where project_id = $2) as c`,
      [id, project.id],
    );
    const answer = await call('POST', `/campaigns/${id}/cancel`);
    expect(answer.body).toMatchObject({ revertPending: false, data: { status: 'CANCELLED' } });
    await endUnsentRows(database.db, id, 1, 'delete', null);
    expect(await database.db.rows('select status from emails where campaign_id = $1', [id])).toEqual([
      { status: 'BOUNCED' },
    ]);
  });

  test('a scheduled one is a draft at once; a draft and a sent one answer 400', async () => {
    const scheduled = await created();
    await database.db.count(
      `update campaigns set status = 'SCHEDULED', scheduled_for = now() + interval '1 day' where id = $1`,
      [scheduled],
    );
    const answer = await call('POST', `/campaigns/${scheduled}/cancel`);
    expect(answer.body).toMatchObject({ revertPending: false, data: { status: 'DRAFT', scheduledFor: null } });
    expect((await call('POST', `/campaigns/${scheduled}/cancel`)).status).toBe(400);
    const sent = await created();
    await force(sent, 'SENT');
    expect((await call('POST', `/campaigns/${sent}/cancel`)).status).toBe(400);
  });
});

describe('the numbers', () => {
  test('of a draft are zeros, and rates are percentages of what was sent', async () => {
    const id = await created();
    const zeros = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect(zeros).toMatchObject({ success: true, data: { sentCount: 0, openRate: 0, deliveryRate: 0 } });
    await database.db.count(
      `update campaigns set status = 'SENT', total_recipients = 812, sent_count = 800, skipped_count = 4, failed_count = 8, delivered_count = 780,
         opened_count = 312, clicked_count = 64, bounced_count = 12, complained_count = 1, unsubscribed_count = 5 where id = $1`,
      [id],
    );
    expect((await call('GET', `/campaigns/${id}/stats`)).body.data).toEqual({
      totalRecipients: 812,
      sentCount: 800,
      deliveredCount: 780,
      openedCount: 312,
      clickedCount: 64,
      bouncedCount: 12,
      complainedCount: 1,
      unsubscribedCount: 5,
      skippedCount: 4,
      failedCount: 8,
      pendingCount: 0,
      pausedAt: null,
      held: null,
      versions: [{ version: 1, subject: expect.any(String), sentCount: 800, replacedAt: null }],
      openRate: 39,
      clickRate: 8,
      bounceRate: 1.5,
      deliveryRate: 97.5,
      complaintRate: 0.125,
      unsubscribeRate: 0.625,
    });
  });

  test('of the audit are counted from the ledger, and do not add up while a row waits', async () => {
    await contacts(database.db, project.id, 4);
    const id = await created();
    await call('POST', `/campaigns/${id}/send`);
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, sent_at, reason)
       select uuidv7(), project_id, id, email, 'a@b.test', 'CAMPAIGN', 'MARKETING', $1, 1,
         (array['SENT', 'FAILED', 'FAILED', 'PENDING'])[n], case when n = 1 then now() end,
         case n when 2 then '{"code": "unsubscribed"}'::jsonb when 3 then '{"code": "refused", "number": 300, "words": "no"}' end
       from (select *, row_number() over (order by id) as n from contacts where project_id = $2) as c`,
      [id, project.id],
    );
    expect((await call('GET', `/campaigns/${id}/audit`)).body.data).toEqual({
      recipients: 4,
      handedOver: 1,
      skipped: 1,
      failed: 1,
      unknown: 0,
      pending: 1,
      removed: 0,
      addsUp: false,
      hash: null,
      hashFormat: 2,
      reasons: [
        { reason: 'Contact is unsubscribed', count: 1 },
        { reason: 'Refused by the provider (300): no', count: 1 },
      ],
    });
  });
});

test('campaigns take the secret key only', async () => {
  expect((await api.call(project.publicKey, 'GET', '/campaigns')).status).toBe(401);
  expect((await api.call(null, 'GET', '/campaigns')).status).toBe(401);
});
