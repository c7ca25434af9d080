import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { beginDueSend } from '../../../src/campaigns/lifecycle/begin.ts';
import { launchGate } from '../../../src/launches/gate.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { frozenBySteps, reviewedBySteps } from '../../support/campaign-steps.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { lettersTo } from '../../support/letters.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';
import { allOf, dataIs } from '../../support/segments.ts';

// No worker runs here: the tests take its steps, so that something can change between them.
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
  await contacts(database.db, project.id, 10);
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const as = (person: Person, method: string, path: string, body?: unknown) =>
  api.call(null, method, path, body, { ...person.session, 'X-Project-Id': project.id });

async function created(changes: object = {}): Promise<string> {
  const answer = await call('POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave',
    body: '<p>Dear {{firstName ?? friend}}, look up.</p>',
    from: project.sender,
    audienceType: 'ALL',
    ...changes,
  });
  expect(answer.status).toBe(201);
  return answer.body.data.id;
}

const reviewed = (id: string, options?: object) => reviewedBySteps(database.db, api, project, id, options);
const frozen = (id: string) => frozenBySteps(database.db, id);

const change = (text: string, values: unknown[] = [project.id]) => database.db.count(text, values);
const joinsLate = () =>
  change(
    `insert into contacts (id, project_id, email, subscribed, data) values (uuidv7(), $1, 'late@example.com', true, '{}')`,
  );
const isPro = allOf(dataIs('plan', 'pro'));

describe('a send with a fingerprint', () => {
  test.each([
    ['subject', { subject: 'New' }, ['subject']],
    ['body', { body: '<p>New</p>' }, ['body']],
    ['names', { fromName: 'Ada', replyTo: 'ada@example.com' }, ['fromName', 'replyTo']],
    ['type', { type: 'TRANSACTIONAL' }, ['type']],
    ['audience', { audienceType: 'FILTERED', audienceCondition: isPro }, ['audienceType', 'audienceCondition']],
  ])('is refused with what was changed: %s', async (_, edit, changed) => {
    const id = await created();
    const { fingerprint } = await reviewed(id);
    expect((await call('PUT', `/campaigns/${id}`, edit)).status).toBe(200);
    const { status, body } = await call('POST', `/campaigns/${id}/send`, { fingerprint });
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: 'REVIEW_STALE', details: { changed } });
    expect((await call('GET', `/campaigns/${id}`)).body.data.status).toBe('DRAFT');
  });

  test.each([
    ['tracking', `tracking = 'DISABLED'`, 'project.tracking'],
    ['name', `name = 'Other'`, 'project.name'],
    ['language', `language = 'de'`, 'project.language'],
    ['escaping', 'escape_contact_data = false', 'project.escapeContactData'],
  ])('is refused when a setting of the project was changed: %s', async (_, setting, field) => {
    const id = await created();
    const { fingerprint } = await reviewed(id);
    await change(`update projects set ${setting} where id = $1`);
    const { status, body } = await call('POST', `/campaigns/${id}/send`, { fingerprint });
    expect([status, body.error.details.changed]).toEqual([409, [field]]);
  });

  test('is refused when the segment says something else, the review is unknown, or it has expired', async () => {
    const segment = await call('POST', '/segments', { name: 'Pros', type: 'DYNAMIC', condition: isPro });
    const segmentId = segment.body.id ?? segment.body.data?.id;
    await change(`update contacts set data = data || '{"plan": "pro"}' where project_id = $1`);
    const id = await created({ audienceType: 'SEGMENT', segmentId });
    const { fingerprint } = await reviewed(id);
    const condition = allOf(dataIs('plan', 'free'));
    expect((await call('PATCH', `/segments/${segmentId}`, { condition })).status).toBe(200);
    const stale = await call('POST', `/campaigns/${id}/send`, { fingerprint });
    expect([stale.status, stale.body.error.details.changed]).toEqual([409, ['segment']]);
    const unknown = await call('POST', `/campaigns/${id}/send`, { fingerprint: '0'.repeat(64) });
    expect([unknown.status, unknown.body.error.code]).toEqual([409, 'REVIEW_STALE']);
    const other = await created();
    const late = await reviewed(other);
    await change(`update dry_runs set expires_at = now() - interval '1 second' where project_id = $1`);
    const expired = await call('POST', `/campaigns/${other}/send`, { fingerprint: late.fingerprint });
    expect([expired.status, expired.body.error.message]).toEqual([
      409,
      'The review expires before the send would begin',
    ]);
    expect((await call('POST', `/campaigns/${id}/send`, { fingerprint: 'short' })).status).toBe(422);
    for (const drift of [1.5, -1, 'some']) {
      const { status, body } = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift });
      expect([status, body.error.message]).toEqual([422, '"drift" must be none, fewer or a share between 0 and 1']);
    }
  });

  test('is what a drift needs: without one nothing is sent', async () => {
    const id = await created();
    await reviewed(id);
    for (const drift of ['none', 'fewer', 0]) {
      const { status, body } = await call('POST', `/campaigns/${id}/send`, { drift });
      expect([status, body.error.message]).toEqual([422, '"drift" needs the "fingerprint" of a dry run']);
    }
    expect((await call('GET', `/campaigns/${id}`)).body.data.status).toBe('DRAFT');
  });

  test('goes to exactly those who were reviewed, and names who is left out', async () => {
    await change(`update contacts set data = data || '{"plan": "pro"}' where project_id = $1`);
    const rule = { name: 'QA', kind: 'ADDRESS', pattern: 'watcher-2@example.com' };
    const made = await call('POST', '/suppressions', rule);
    expect(made.status).toBe(201);
    const id = await created({ audienceType: 'FILTERED', audienceCondition: isPro });
    const { fingerprint } = await reviewed(id);
    await change(`delete from suppression_rules where project_id = $1`);
    await change(
      `update contacts set data = '{}' where project_id = $1 and email in ('watcher-5@example.com', 'watcher-6@example.com')`,
    );
    await change(`update contacts set subscribed = false where project_id = $1 and email = 'watcher-7@example.com'`);
    await change(`delete from contacts where project_id = $1 and email = 'watcher-8@example.com'`);
    await joinsLate();
    await change(`update contacts set data = '{"plan": "pro"}' where project_id = $1 and email = 'late@example.com'`);
    const sent = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift: 'none' });
    expect(sent).toMatchObject({ status: 200, body: { data: { status: 'SENDING', approval: null } } });
    expect(await frozen(id)).toEqual({
      PENDING: 5,
      'FAILED: Contact is unsubscribed': 1,
      'FAILED: No longer in the audience that was reviewed': 2,
      'FAILED: Left out at the review: Suppressed by rule "QA"': 1,
    });
    const row = await database.db.row('select skipped_count as skipped from campaigns where id = $1', [id]);
    expect(row).toEqual({ skipped: 4 });
    const rows = await database.db.rows(
      `select from emails where campaign_id = $1 and to_address = 'late@example.com'`,
      [id],
    );
    expect(rows).toEqual([]);
  });

  test('by a review of a sample goes to everybody who was reviewed, rendered or not', async () => {
    for (const sample of [0, -1, 1.5, 'some', 1_000_001]) {
      const { status, body } = await call('POST', `/campaigns/${await created()}/dry-run`, { sample });
      expect([status, body.error.message]).toEqual([422, '"sample" must be all or a whole number from 1 to 1000000']);
    }
    const id = await created();
    const report = await reviewed(id, { sample: 3 });
    expect(report).toMatchObject({ sample: 3, rendered: 3, audience: 10, wouldSend: 10 });
    await joinsLate();
    const sent = await call('POST', `/campaigns/${id}/send`, { fingerprint: report.fingerprint, drift: 'none' });
    expect(sent.status).toBe(200);
    expect(await frozen(id)).toEqual({ PENDING: 10 });
  });

  test('of a number lets a share of the audience come and go, and one of fewer nobody come', async () => {
    const id = await created();
    const { fingerprint } = await reviewed(id);
    await change(`update contacts set subscribed = false where project_id = $1 and email = 'watcher-1@example.com'`);
    await joinsLate();
    const fewer = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift: 'fewer' });
    expect([fewer.status, fewer.body.error.details]).toMatchObject([
      409,
      { changed: ['audience'], joined: 1, left: 1 },
    ]);
    const above = await call('POST', `/campaigns/${id}/send`, { fingerprint, drift: 0.19 });
    expect([above.status, above.body.error.details]).toMatchObject([409, { changed: ['audience'], reviewed: 10 }]);
    expect((await call('POST', `/campaigns/${id}/send`, { fingerprint, drift: 0.2 })).status).toBe(200);
    expect(await frozen(id)).toEqual({ PENDING: 10 });
  });

  test('that was scheduled goes back to draft when the campaign is edited before its time', async () => {
    const id = await created();
    const { fingerprint } = await reviewed(id);
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    expect((await call('POST', `/campaigns/${id}/send`, { fingerprint, scheduledFor })).status).toBe(200);
    expect((await call('PUT', `/campaigns/${id}`, { subject: 'New' })).status).toBe(200);
    await change(`update campaigns set scheduled_for = now() - interval '1 second' where id = $1`, [id]);
    await beginDueSend({ db: database.db, clock: () => new Date(), launchGate }, id, 1);
    const row = await database.db.row('select status, audit_note as note from campaigns where id = $1', [id]);
    expect(row).toEqual({ status: 'DRAFT', note: 'The campaign is not as it was reviewed: subject' });
  });
});

describe('a large send of a member', () => {
  let people: Record<'owner' | 'admin' | 'member', Person>;
  beforeEach(async () => {
    const [owner, admin, member] = await Promise.all(
      ['olga.berg', 'adam.lund', 'maja.nord'].map((name) => aPerson(database.db, api.config, { name })),
    );
    people = { owner, admin, member } as typeof people;
    await joins(database.db, project.id, people.owner, 'OWNER');
    await joins(database.db, project.id, people.admin, 'ADMIN');
    await joins(database.db, project.id, people.member, 'MEMBER');
    const settings = `/users/@me/projects/${project.id}`;
    expect((await as(people.member, 'PATCH', settings, { approvalAbove: null })).status).toBe(403);
    expect((await as(people.admin, 'PATCH', settings, { approvalAbove: 5 })).body).toMatchObject({ approvalAbove: 5 });
  });

  async function asked() {
    const id = await created();
    const { fingerprint } = await reviewed(id);
    const answer = await as(people.member, 'POST', `/campaigns/${id}/send`, { fingerprint });
    return { id, fingerprint, answer };
  }

  test('waits for another admin, who is told by mail, and starts when that one approves', async () => {
    const { id, fingerprint, answer } = await asked();
    expect(answer).toMatchObject({
      status: 202,
      body: {
        message: 'Waiting for the approval of an admin',
        data: {
          status: 'DRAFT',
          approval: {
            state: 'PENDING',
            fingerprint,
            recipients: 10,
            drift: 'none',
            requestedBy: { kind: 'user', name: people.member.email },
          },
        },
      },
    });
    const kinds = async (person: Person) =>
      (await lettersTo(database.db, api.config, person.email)).map(({ kind }) => kind);
    expect(await kinds(people.admin)).toEqual(['approval-requested']);
    expect(await kinds(people.owner)).toEqual(['approval-requested']);
    expect(await kinds(people.member)).toEqual([]);
    const approve = (person: Person, given = fingerprint) =>
      as(person, 'POST', `/campaigns/${id}/approve`, { fingerprint: given });
    expect((await approve(people.member)).status).toBe(403);
    expect((await call('POST', `/campaigns/${id}/approve`, { fingerprint })).status).toBe(403);
    expect((await approve(people.admin, '0'.repeat(64))).status).toBe(409);
    expect(await approve(people.admin)).toMatchObject({
      status: 200,
      body: { data: { status: 'SENDING', approval: null } },
    });
    expect((await approve(people.owner)).status).toBe(409);
    const log = await as(people.admin, 'GET', `/projects/${project.id}/audit-log?target=${id}`);
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
      'campaign.sent',
      'campaign.approved',
      'campaign.approval_requested',
    ]);
    expect(await frozen(id)).toEqual({ PENDING: 10 });
  });

  test('is approved by nobody who asked for it, whatever they are by then, and not when it is stale or over', async () => {
    const { id, fingerprint } = await asked();
    await change(`update memberships set role = 'ADMIN' where project_id = $1 and user_id = $2`, [
      project.id,
      people.member.id,
    ]);
    const own = await as(people.member, 'POST', `/campaigns/${id}/approve`, { fingerprint });
    expect([own.status, own.body.error.message]).toEqual([
      403,
      'Another admin of the project has to approve a send that you asked for',
    ]);
    await call('PUT', `/campaigns/${id}`, { subject: 'New' });
    const stale = await as(people.owner, 'POST', `/campaigns/${id}/approve`, { fingerprint });
    expect([stale.status, stale.body.error.code]).toEqual([409, 'REVIEW_STALE']);
    expect((await call('GET', `/campaigns/${id}`)).body.data.approval).toMatchObject({ state: 'PENDING' });
    await change(`update dry_runs set expires_at = now() - interval '1 second' where project_id = $1`);
    expect((await call('GET', `/campaigns/${id}`)).body.data.approval).toBeNull();
    expect((await as(people.owner, 'POST', `/campaigns/${id}/approve`, { fingerprint })).status).toBe(409);
  });

  test('needs a review, is taken back by its asker or an admin, and none of it concerns a small one or an admin', async () => {
    const id = await created();
    const bare = await as(people.member, 'POST', `/campaigns/${id}/send`, {});
    expect([bare.status, bare.body.error.code]).toEqual([409, 'REVIEW_NEEDED']);
    expect((await as(people.member, 'DELETE', `/campaigns/${id}/approval`)).status).toBe(409);
    const one = await asked();
    const other = await aPerson(database.db, api.config);
    await joins(database.db, project.id, other, 'MEMBER');
    expect((await as(other, 'DELETE', `/campaigns/${one.id}/approval`)).status).toBe(403);
    expect((await as(people.member, 'DELETE', `/campaigns/${one.id}/approval`)).status).toBe(200);
    expect(
      (await as(people.admin, 'POST', `/campaigns/${one.id}/approve`, { fingerprint: one.fingerprint })).status,
    ).toBe(409);
    expect((await as(people.admin, 'POST', `/campaigns/${one.id}/send`, {})).body.data).toMatchObject({
      status: 'SENDING',
    });
    expect((await call('POST', `/campaigns/${id}/send`, {})).body.data).toMatchObject({ status: 'SENDING' });
    await change(`update contacts set data = '{"plan": "pro"}' where project_id = $1 and email like 'watcher-1%'`);
    const small = await created({ audienceType: 'FILTERED', audienceCondition: isPro });
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    expect((await as(people.member, 'POST', `/campaigns/${small}/send`, { scheduledFor })).status).toBe(200);
    // It has grown when its time comes.
    await change(`update contacts set data = '{"plan": "pro"}' where project_id = $1`);
    await change(`update campaigns set scheduled_for = now() - interval '1 second' where id = $1`, [small]);
    await beginDueSend({ db: database.db, clock: () => new Date(), launchGate }, small, 1);
    const row = await database.db.row<{ status: string; note: string }>(
      'select status, audit_note as note from campaigns where id = $1',
      [small],
    );
    expect(row).toMatchObject({ status: 'DRAFT', note: expect.stringContaining('needs the approval of an admin') });
  });
});
