import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// No worker runs here: a campaign stays in the state that a request gave it, so that every state can be looked at.
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
  await contacts(database.db, project.id, 3);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
async function created(changes: object = {}): Promise<string> {
  const answer = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave, {{firstName ?? friend}}',
    body: '<p>Dear {{firstName ?? friend}}, look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
    ...changes,
  });
  expect(answer.status).toBe(201);
  return answer.body.data.id;
}
const statuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;
type Status = (typeof statuses)[number];
const statusOf = async (id: string): Promise<Status> => (await call('GET', `/campaigns/${id}`)).body.data.status;
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const sends = (id: string) =>
  database.db.rows<{ kind: string; workflow: string }>(
    'select kind, workflow_id as workflow from outbox where workflow_id like $1 order by id',
    [`campaign/${id}/%`],
  );

/** A campaign that came to its state by the requests and statements that lead there. */
async function campaignThatIs(status: Status, changes: object = {}): Promise<string> {
  const id = await created(changes);
  if (status === 'DRAFT') return id;
  if (status === 'SCHEDULED') {
    expect((await call('POST', `/campaigns/${id}/send`, { scheduledFor: inAnHour() })).status).toBe(200);
    return id;
  }
  expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
  if (status === 'SENDING') return id;
  // What a worker would have written.
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, sent_at, message_id)
     select uuidv7(), project_id, id, email, $3, 'CAMPAIGN', 'MARKETING', $1, 1, 'SENT', now(), 'pm-' || id
     from contacts where project_id = $2 order by id limit 2`,
    [id, project.id, project.sender],
  );
  if (status === 'SENT') {
    await database.db.count(
      `update campaigns set status = 'SENT', sent_count = 2, total_recipients = 2 where id = $1`,
      [id],
    );
    await database.db.count('update campaign_sends set closed = true where campaign_id = $1', [id]);
  } else expect((await call('POST', `/campaigns/${id}/cancel`)).body.data.status).toBe('CANCELLED');
  return id;
}

// docs/contract/campaigns-and-workflows.md#2-2: what each action answers in each status, and the status it leaves.
type Row = Readonly<Record<Status, readonly [number, Status | 'gone']>>;
const stays = (answers: Record<Status, number>): Row =>
  Object.fromEntries(statuses.map((status) => [status, [answers[status], status] as const])) as Row;
const everywhere = (answer: number) => stays(Object.fromEntries(statuses.map((status) => [status, answer])) as never);
const actions: readonly [string, (id: string) => Promise<{ status: number }>, Row][] = [
  [
    'PUT',
    (id) => call('PUT', `/campaigns/${id}`, { name: 'Winter guests' }),
    stays({ DRAFT: 200, SCHEDULED: 200, SENDING: 400, SENT: 400, CANCELLED: 400 }),
  ],
  [
    'DELETE',
    (id) => call('DELETE', `/campaigns/${id}`),
    {
      ...stays({ DRAFT: 200, SCHEDULED: 409, SENDING: 409, SENT: 400, CANCELLED: 400 }),
      DRAFT: [200, 'gone'],
    },
  ],
  [
    'send',
    (id) => call('POST', `/campaigns/${id}/send`),
    {
      ...stays({ DRAFT: 200, SCHEDULED: 200, SENDING: 400, SENT: 400, CANCELLED: 400 }),
      DRAFT: [200, 'SENDING'],
      SCHEDULED: [200, 'SENDING'],
    },
  ],
  [
    'send at a time',
    (id) => call('POST', `/campaigns/${id}/send`, { scheduledFor: inAnHour() }),
    {
      ...stays({ DRAFT: 200, SCHEDULED: 200, SENDING: 400, SENT: 400, CANCELLED: 400 }),
      DRAFT: [200, 'SCHEDULED'],
    },
  ],
  [
    'cancel',
    (id) => call('POST', `/campaigns/${id}/cancel`),
    {
      ...stays({ DRAFT: 400, SCHEDULED: 200, SENDING: 200, SENT: 400, CANCELLED: 200 }),
      SCHEDULED: [200, 'DRAFT'],
      SENDING: [200, 'CANCELLED'],
    },
  ],
  ['duplicate', (id) => call('POST', `/campaigns/${id}/duplicate`), everywhere(201)],
  ['stats', (id) => call('GET', `/campaigns/${id}/stats`), everywhere(200)],
  ['recipients', (id) => call('GET', `/campaigns/${id}/recipients`), everywhere(200)],
  ['audit', (id) => call('GET', `/campaigns/${id}/audit`), everywhere(200)],
  [
    'archive',
    (id) => call('POST', `/campaigns/${id}/archive`),
    stays({ DRAFT: 200, SCHEDULED: 400, SENDING: 400, SENT: 200, CANCELLED: 200 }),
  ],
  ['unarchive', (id) => call('POST', `/campaigns/${id}/unarchive`), everywhere(200)],
  [
    'pause',
    (id) => call('POST', `/campaigns/${id}/pause`),
    stays({ DRAFT: 400, SCHEDULED: 400, SENDING: 200, SENT: 400, CANCELLED: 400 }),
  ],
  [
    'resume',
    (id) => call('POST', `/campaigns/${id}/resume`),
    stays({ DRAFT: 400, SCHEDULED: 400, SENDING: 200, SENT: 400, CANCELLED: 400 }),
  ],
  [
    'bulk delete',
    (id) => call('POST', '/campaigns/bulk-update', { ids: [id], delete: true }),
    { ...stays({ DRAFT: 200, SCHEDULED: 400, SENDING: 400, SENT: 400, CANCELLED: 400 }), DRAFT: [200, 'gone'] },
  ],
  [
    'bulk archive',
    (id) => call('POST', '/campaigns/bulk-update', { ids: [id], archived: true }),
    stays({ DRAFT: 200, SCHEDULED: 400, SENDING: 400, SENT: 200, CANCELLED: 200 }),
  ],
];

describe.each(actions)('%s', (_, act, row) => {
  test.each(statuses)('of a campaign that is %s answers as the table of moves says', async (status) => {
    const id = await campaignThatIs(status);
    const [expected, after] = row[status];
    expect((await act(id)).status).toBe(expected);
    if (after === 'gone') expect((await call('GET', `/campaigns/${id}`)).status).toBe(404);
    else expect(await statusOf(id)).toBe(after);
  });
});

describe('of two requests at once exactly one wins', () => {
  const answersOf = (requests: Promise<{ status: number }>[]) =>
    Promise.all(requests).then((answers) => answers.map(({ status }) => status).sort());

  test('when both send, one answers 200 and the other 400, and one workflow is started', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await created();
      const send = () => call('POST', `/campaigns/${id}/send`);
      expect(await answersOf([send(), send()])).toEqual([200, 400]);
      expect(await sends(id)).toEqual([{ kind: 'start', workflow: `campaign/${id}/1` }]);
    }
  });

  test('when one sends and one deletes, the campaign is either sending or gone', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await created();
      const [sent, deleted] = await Promise.all([
        call('POST', `/campaigns/${id}/send`),
        call('DELETE', `/campaigns/${id}`),
      ]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([sent.status, deleted.status]);
      expect((await sends(id)).length).toBe(sent.status === 200 ? 1 : 0);
    }
  });

  test('when both cancel a scheduled one, it is a draft once and the other learns so', async () => {
    const id = await campaignThatIs('SCHEDULED');
    const cancel = () => call('POST', `/campaigns/${id}/cancel`);
    expect(await answersOf([cancel(), cancel()])).toEqual([200, 400]);
    expect(await statusOf(id)).toBe('DRAFT');
  });

  test('when one sends a scheduled campaign now and one cancels it, both agree on what became of it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await campaignThatIs('SCHEDULED');
      const [sent, cancelled] = await Promise.all([
        call('POST', `/campaigns/${id}/send`),
        call('POST', `/campaigns/${id}/cancel`),
      ]);
      expect(cancelled.status).toBe(200);
      // Cancelled first, the draft was sent after that; sent first, the send was cancelled.
      expect(sent.status).toBe(200);
      expect(await statusOf(id)).toBe(cancelled.body.data.status === 'DRAFT' ? 'SENDING' : 'CANCELLED');
    }
  });

  test('when both make good what a campaign missed, there is one resend', async () => {
    const id = await campaignThatIs('SENT');
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, reason)
       select uuidv7(), project_id, id, email, $3, 'CAMPAIGN', 'MARKETING', $1, 1, 'FAILED', '{"code": "project_disabled"}'
       from contacts where project_id = $2 order by id desc limit 1`,
      [id, project.id, project.sender],
    );
    const resend = () => call('POST', `/campaigns/${id}/resend`);
    expect(await answersOf([resend(), resend()])).toEqual([201, 409]);
    expect((await call('GET', '/campaigns')).body.total).toBe(2);
  });
});

describe('a schedule', () => {
  test('answers the campaign with its time, and writes down the start of its workflow once', async () => {
    const id = await created();
    const at = inAnHour();
    const answer = await call('POST', `/campaigns/${id}/send`, { scheduledFor: at });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      success: true,
      data: { id, status: 'SCHEDULED', scheduledFor: at, sentAt: null, totalRecipients: 3, segment: null },
    });
    expect(answer.body.message).toContain(at);
    expect(await sends(id)).toEqual([{ kind: 'start', workflow: `campaign/${id}/1` }]);
  });

  test('that moves wakes the same execution, and so does sending now', async () => {
    const id = await campaignThatIs('SCHEDULED');
    const later = new Date(Date.now() + 7_200_000);
    const moved = await call('POST', `/campaigns/${id}/send`, { scheduledFor: later.getTime() });
    expect(moved.body.data).toMatchObject({ status: 'SCHEDULED', scheduledFor: later.toISOString() });
    const now = await call('POST', `/campaigns/${id}/send`);
    expect(now.body.data).toMatchObject({ status: 'SENDING', scheduledFor: later.toISOString() });
    expect(now.body.data.sentAt).not.toBeNull();
    expect((await sends(id)).map(({ kind, workflow }) => `${kind} ${workflow}`)).toEqual([
      `start campaign/${id}/1`,
      `signal campaign/${id}/1`,
      `signal campaign/${id}/1`,
    ]);
  });

  test('that was cancelled is forgotten, and the next send has a number of its own', async () => {
    const id = await campaignThatIs('SCHEDULED');
    const cancelled = await call('POST', `/campaigns/${id}/cancel`);
    expect(cancelled.body).toMatchObject({ revertPending: false, data: { status: 'DRAFT', scheduledFor: null } });
    expect((await call('POST', `/campaigns/${id}/send`)).body.data.status).toBe('SENDING');
    expect((await sends(id)).at(-1)).toEqual({ kind: 'start', workflow: `campaign/${id}/2` });
  });

  test.each([
    ['a past date', '2001-01-01T00:00:00Z'],
    ['a past number', 1],
    ['no date', 'next tuesday'],
    ['an object', { at: 'noon' }],
    ['a list', ['2030-01-01']],
    ['true', true],
    ['a date that no database holds', '+275760-09-13T00:00:00.000Z'],
    ['a date before all calendars', -8.64e15],
  ])('for %s is refused with 400 and changes nothing', async (_, scheduledFor) => {
    const id = await created();
    expect((await call('POST', `/campaigns/${id}/send`, { scheduledFor })).status).toBe(400);
    expect(await statusOf(id)).toBe('DRAFT');
    expect(await sends(id)).toEqual([]);
  });

  test('lets the content be changed until its time, but not the segment', async () => {
    const id = await campaignThatIs('SCHEDULED');
    const changed = await call('PUT', `/campaigns/${id}`, { subject: 'Later news' });
    expect(changed.body.data).toMatchObject({ status: 'SCHEDULED', subject: 'Later news' });
    const segment = await call('PUT', `/campaigns/${id}`, { segmentId: newId() });
    expect(segment.status).toBe(400);
    expect((await call('PUT', `/campaigns/${id}`, { segmentId: null })).status).toBe(200);
  });
});

describe('a pause', () => {
  test('shows in the record without a status of its own, can be repeated and ends by a resume', async () => {
    const id = await campaignThatIs('SENDING');
    const paused = await call('POST', `/campaigns/${id}/pause`);
    expect(paused.body).toMatchObject({ success: true, data: { id, status: 'SENDING', held: null } });
    const { pausedAt } = paused.body.data;
    expect(Date.parse(pausedAt)).not.toBeNaN();
    expect((await call('POST', `/campaigns/${id}/pause`)).body.data.pausedAt).toBe(pausedAt);
    expect((await call('GET', `/campaigns/${id}/stats`)).body.data.pausedAt).toBe(pausedAt);
    expect((await call('POST', `/campaigns/${id}/resume`)).body.data).toMatchObject({
      status: 'SENDING',
      pausedAt: null,
    });
    expect((await call('POST', `/campaigns/${id}/resume`)).status).toBe(200);
    // A repetition is no news to anybody.
    expect((await sends(id)).map(({ kind }) => kind)).toEqual(['start', 'signal', 'signal']);
  });

  test('ends with a cancellation', async () => {
    const id = await campaignThatIs('SENDING');
    await call('POST', `/campaigns/${id}/pause`);
    expect((await call('POST', `/campaigns/${id}/cancel`)).body.data).toMatchObject({
      status: 'CANCELLED',
      pausedAt: null,
    });
  });
});

test('a campaign that stands still says why, with how many wait and when it is tried next', async () => {
  const id = await campaignThatIs('SENDING');
  await database.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 3, 'provider answers 429', now(), now() + interval '5 minutes')`,
    [api.app.mailer.name],
  );
  try {
    const sentence = /^held: provider answers 429 since \d\d:\d\d UTC, 3 waiting, next try \d\d:\d\d UTC$/;
    expect((await call('GET', `/campaigns/${id}`)).body.data.held).toMatch(sentence);
    expect((await call('GET', `/campaigns/${id}`)).body.data).toMatchObject({
      status: 'SENDING',
      hold: { provider: api.app.mailer.name, reason: 'provider answers 429', until: expect.any(String) },
    });
    expect((await call('GET', `/campaigns/${id}/stats`)).body.data.held).toMatch(sentence);
    const list = (await call('GET', '/campaigns')).body.data;
    expect(list[0].held).toMatch(sentence);
    const draft = await created();
    expect((await call('GET', `/campaigns/${draft}`)).body.data.held).toBeNull();
  } finally {
    await database.db.count('delete from provider_holds');
  }
});

test('a campaign in quiet hours says for how many contacts it is on hold, and until when', async () => {
  const id = await campaignThatIs('SENDING');
  const { sendSeq, project } = (await database.db.row<{ sendSeq: number; project: string }>(
    'select send_seq as "sendSeq", project_id as project from campaigns where id = $1',
    [id],
  )) as { sendSeq: number; project: string };
  const hold = (count: number, due: string) =>
    database.db.count(
      `insert into campaign_held_contacts (campaign_id, send_seq, contact_id, due_at)
       select $1, $2, uuidv7(), $4 from generate_series(1, $3::int)`,
      [id, sendSeq, count, due],
    );
  await hold(2, '2100-03-01T08:00:10Z');
  const shown = async () => (await call('GET', `/campaigns/${id}`)).body.data;
  const quietHours = { contacts: 2, until: '2100-03-01T08:00:10.000Z' };
  // One of the three can be written to.
  expect(await shown()).toMatchObject({ status: 'SENDING', quietHours, held: null, hold: null });
  await hold(1, '2100-03-01T08:00:00Z');
  const sentence = 'On hold until 2100-03-01T08:00:00.000Z for 3 contacts (quiet hours)';
  expect(await shown()).toMatchObject({
    quietHours: { contacts: 3, until: '2100-03-01T08:00:00.000Z' },
    held: sentence,
  });
  expect((await call('GET', `/campaigns/${id}/stats`)).body.data).toMatchObject({ held: sentence, pendingCount: 3 });
  expect((await call('GET', '/campaigns')).body.data.find((one: { id: string }) => one.id === id).held).toBe(sentence);
  await call('POST', `/campaigns/${id}/pause`);
  expect(await shown()).toMatchObject({ quietHours: null, held: null });

  const mail = newId();
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, held_until)
     values ($1, $2, $3, 'eve@example.com', 'hello@example.com', 'CAMPAIGN', 'MARKETING', $4, $5, '2100-03-01T08:00:00Z')`,
    [
      mail,
      project,
      (await call('POST', '/contacts', { email: 'eve@example.com', subscribed: true })).body.id,
      id,
      sendSeq,
    ],
  );
  expect((await call('GET', `/emails/${mail}`)).body).toMatchObject({
    heldUntil: '2100-03-01T08:00:00.000Z',
    heldBy: 'quietHours',
  });
});

describe('several at once', () => {
  test('are deleted or archived together, duplicated ids counting once', async () => {
    const ids = [await created(), await created(), await created()];
    const archived = await call('POST', '/campaigns/bulk-update', { ids: [...ids, ids[0]], archived: true });
    expect(archived.status).toBe(200);
    expect(archived.body).toEqual({ updated: 3 });
    expect((await call('GET', '/campaigns')).body).toMatchObject({ total: 0, archivedCount: 3 });
    expect((await call('POST', '/campaigns/bulk-update', { ids, archived: false })).body).toEqual({ updated: 3 });
    expect((await call('POST', '/campaigns/bulk-update', { ids })).body).toEqual({ updated: 0 });
    expect((await call('POST', '/campaigns/bulk-update', { ids, delete: true })).body).toEqual({ deleted: 3 });
    expect((await call('GET', '/campaigns')).body.total).toBe(0);
  });

  test('are changed all or none', async () => {
    const draft = await created();
    const sending = await campaignThatIs('SENDING');
    const bulk = (body: object) => call('POST', '/campaigns/bulk-update', body);
    const other = await aProject(database);
    const foreign = await api.call(other.secretKey, 'POST', '/campaigns', {
      name: 'Theirs',
      subject: 'Theirs',
      body: '<p>Theirs</p>',
      from: other.sender,
      audienceType: 'ALL',
    });
    for (const id of [newId(), foreign.body.data.id])
      expect((await bulk({ ids: [draft, id], delete: true })).status).toBe(404);
    expect((await bulk({ ids: [draft, sending], delete: true })).status).toBe(400);
    expect((await bulk({ ids: [draft, sending], archived: true })).status).toBe(400);
    expect((await bulk({ ids: [draft], archived: true, delete: true })).status).toBe(400);
    expect((await bulk({ ids: [] })).status).toBe(422);
    expect((await bulk({ ids: ['draft'] })).status).toBe(422);
    expect((await bulk({ ids: Array.from({ length: 1001 }, () => newId()) })).status).toBe(422);
    expect((await call('GET', `/campaigns/${draft}`)).body.data.archived).toBe(false);
  });
});

test('an archived campaign leaves the default list only', async () => {
  const id = await created();
  expect((await call('POST', `/campaigns/${id}/archive`)).body.data).toMatchObject({ id, archived: true });
  expect((await call('POST', `/campaigns/${id}/archive`)).status).toBe(200);
  expect((await call('GET', '/campaigns')).body).toMatchObject({ total: 0, archivedCount: 1 });
  expect((await call('GET', '/campaigns?archived=true')).body.total).toBe(1);
  expect((await call('GET', '/campaigns?archived=1')).body.total).toBe(0);
  expect((await call('GET', `/campaigns/${id}`)).status).toBe(200);
  expect((await call('POST', `/campaigns/${id}/unarchive`)).body.data.archived).toBe(false);
  expect((await call('GET', '/campaigns')).body.total).toBe(1);
});

test('a campaign goes only where the month has room for all of it', async () => {
  await database.db.count('update projects set billing_limit_campaigns = 2 where id = $1', [project.id]);
  // The notification of the change may still be on its way.
  api.app.directory.forget(project.id);
  const id = await created();
  const tooLarge = await call('POST', `/campaigns/${id}/send`);
  expect(tooLarge.status).toBe(403);
  expect(tooLarge.body.error.code).toBe('FORBIDDEN');
  expect(await statusOf(id)).toBe('DRAFT');
  expect(await sends(id)).toEqual([]);
});
