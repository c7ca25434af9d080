import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins } from '../../support/people.ts';

// No worker runs here: what a worker would leave is written down. That everybody gets one version is tested with the workflow.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let campaign: string;

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
  await contacts(database.db, project.id, 6);
  const created = await call('POST', '/campaigns', {
    name: 'Spring count',
    subject: 'The herons are back',
    body: '<p>Wrong link</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  campaign = created.body.data.id;
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  api.call(project.secretKey, method, path, body, headers);
const at = (path = '') => `/campaigns/${campaign}${path}`;
const revise = (body: object = { body: '<p>Right link</p>' }) => call('POST', at('/revise'), body);
const sent = async () => {
  expect((await call('POST', at('/send'))).status).toBe(200);
};
const pause = async () => {
  await sent();
  expect((await call('POST', at('/pause'))).status).toBe(200);
};

/** Rows of the first contacts as a worker leaves them once they are handed over; the others wait. */
async function handedOver(count: number, version: number | null = null): Promise<void> {
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status,
       subject, sent_at, message_id, content_version)
     select uuidv7(), project_id, id, email, $3, 'CAMPAIGN', 'MARKETING', $1, 1, 'SENT', 'The herons are back', now(), 'm-' || id, $5
     from contacts c where project_id = $2
       and not exists (select from emails e where e.contact_id = c.id) order by id limit $4`,
    [campaign, project.id, project.sender, count, version],
  );
  await database.db.count('update campaigns set sent_count = sent_count + $2 where id = $1', [campaign, count]);
}
const claim = (id: string, columns: string, values: string) =>
  database.db.count(
    `insert into campaign_claims (id, campaign_id, send_seq, through_contact, size ${columns})
     select $1, $2, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 6 ${values}`,
    [id, campaign],
  );

describe('a revision', () => {
  test('is refused unless the campaign is paused, and for what would change nothing', async () => {
    expect(await revise()).toMatchObject({ status: 400, body: { error: { details: { status: 'DRAFT' } } } });
    await sent();
    expect((await revise()).body.error.message).toContain('pause it first');
    expect((await call('POST', at('/pause'))).status).toBe(200);
    expect((await revise({})).body.error.message).toContain('Nothing would change');
    expect((await revise({ body: '<p>Wrong link</p>' })).status).toBe(400);
    expect((await revise({ subject: '{% if %}' })).status).toBe(400);
    expect((await revise({ subject: '' })).status).toBe(422);
    const stale = await call('POST', at('/revise'), { subject: 'Else' }, { 'If-Match': '"99"' });
    expect(stale.status).toBe(412);
    expect((await call('GET', at())).body.data).toMatchObject({ contentVersion: 1, body: '<p>Wrong link</p>' });
  });

  test('replaces the content, and stats, ledger and mail say who got which', async () => {
    await pause();
    await handedOver(2);
    const answer = await revise({ subject: 'The herons are really back', body: '<p>Right link</p>' });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { contentVersion: 2, status: 'SENDING', body: '<p>Right link</p>' }, message: expect.any(String) },
    });
    await handedOver(3, 2);
    const { versions } = (await call('GET', at('/stats'))).body.data;
    expect(versions).toEqual([
      { version: 1, subject: 'The herons are back', sentCount: 2, replacedAt: expect.stringMatching(/Z$/) },
      { version: 2, subject: 'The herons are really back', sentCount: 3, replacedAt: null },
    ]);
    const rows = (await call('GET', at('/recipients'))).body.data as { version: number; emailId: string }[];
    expect(rows.map(({ version }) => version)).toEqual([1, 1, 2, 2, 2]);
    const bodies = await Promise.all(
      [rows[0], rows[4]].map(async (row) => (await call('GET', `/emails/${row?.emailId}?include=body`)).body),
    );
    expect(bodies).toMatchObject([
      { campaignVersion: 1, body: expect.stringContaining('Wrong link') },
      { campaignVersion: 2, body: expect.stringContaining('Right link') },
    ]);
    const history = (await call('GET', at('/versions'))).body.data;
    expect(history).toMatchObject([{ subject: 'The herons are really back' }, { subject: 'The herons are back' }]);
    const log = await database.db.row<{ after: object }>(
      `select after from audit_log where project_id = $1 and action = 'campaign.revised'`,
      [project.id],
    );
    expect(log?.after).toMatchObject({ version: 2 });
  });

  test('waits while anything is still leaving, and says how much', async () => {
    await pause();
    await handedOver(2);
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status)
       select uuidv7(), project_id, id, email, 'a@b.test', 'CAMPAIGN', 'MARKETING', $1, 1, 'PENDING'
       from contacts c where project_id = $2 and not exists (select from emails e where e.contact_id = c.id)`,
      [campaign, project.id],
    );
    for (const [columns, values] of [
      [', holder, handed_at', `, 'somebody', now()`],
      [', handed_at', ', now()'],
    ] as const) {
      await claim(`run/${columns.length}`, columns, values);
      const refused = await revise();
      expect(refused).toMatchObject({
        status: 409,
        body: {
          error: { code: 'STILL_LEAVING', details: { leaving: 4 }, message: expect.stringContaining('4 messages') },
        },
      });
      await database.db.count('delete from campaign_claims where campaign_id = $1', [campaign]);
    }
    expect((await call('GET', at())).body.data).toMatchObject({ contentVersion: 1, body: '<p>Wrong link</p>' });
  });

  test('splits a claim that was put back, so that its rest belongs to the new version alone', async () => {
    await pause();
    await database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status)
       select uuidv7(), project_id, id, email, 'a@b.test', 'CAMPAIGN', 'MARKETING', $1, 1, 'PENDING' from contacts where project_id = $2`,
      [campaign, project.id],
    );
    await claim('run/1', '', '');
    expect((await revise()).status).toBe(200);
    expect((await revise({ subject: 'Third' })).status).toBe(200);
    const claims = await database.db.rows(
      'select id, settled, version, former_version, size from campaign_claims where campaign_id = $1 order by id',
      [campaign],
    );
    // Nobody has taken the rest between the two revisions, so that it is no claim of a second version.
    expect(claims).toEqual([
      { id: 'run/1', settled: true, version: 1, former_version: null, size: 6 },
      { id: 'run/1.v2', settled: false, version: 3, former_version: 1, size: 6 },
    ]);
  });

  test('needs an admin where more contacts are left than a member may write to', async () => {
    await pause();
    await database.db.count('update projects set approval_above = 3 where id = $1', [project.id]);
    const member = await aPerson(database.db, api.config, { name: 'maja.nord' });
    await joins(database.db, project.id, member, 'MEMBER');
    const asMember = { ...member.session, 'X-Project-Id': project.id };
    const refused = await api.call(null, 'POST', at('/revise'), { subject: 'By a member' }, asMember);
    expect(refused).toMatchObject({ status: 403, body: { error: { details: { recipients: 6, approvalAbove: 3 } } } });
    expect((await revise()).status).toBe(200);
  });
});

describe('a follow-up', () => {
  const followUp = (body: object, path = '') => call('POST', at(`/follow-up${path}`), body);

  /** Five got it: two opened it, of whom one clicked, and one bounced. The others did nothing. */
  async function finished(): Promise<void> {
    await sent();
    await handedOver(5);
    await database.db.count(
      `update emails e set opened_at = case when n <= 2 then now() end, clicked_at = case when n = 1 then now() end,
         bounced_at = case when n = 3 then now() end
       from (select id, row_number() over (order by contact_id) as n from emails where campaign_id = $1) r where r.id = e.id`,
      [campaign],
    );
    await database.db.count("update campaigns set status = 'SENT' where id = $1", [campaign]);
  }

  test.for([
    ['got', 5],
    ['opened', 2],
    ['clicked', 1],
    ['not_opened', 2],
    ['not_clicked', 3],
  ] as const)('of those who %s goes to %i, with the same content', async ([who, recipients]) => {
    await finished();
    expect((await followUp({ who }, '/audience')).body.data).toEqual({ recipients, unsubscribed: 0 });
    const original = (await call('GET', at(''))).body.data;
    const created = await followUp({ who });
    const { subject, body, document, from } = original;
    expect(created).toMatchObject({
      status: 201,
      body: {
        data: {
          name: 'Spring count (Follow-up)',
          status: 'DRAFT',
          resendOf: campaign,
          correction: { versions: [1], who },
          totalRecipients: recipients,
          ...{ subject, body, document, from },
        },
      },
    });
    const { id } = created.body.data;
    expect((await call('PUT', `/campaigns/${id}`, { subject: 'Did you see it?' })).status).toBe(200);
    expect((await call('GET', at(''))).body.data.subject).toBe(subject);
  });

  test('leaves out who opens the first campaign before it is sent, and says so to whoever asks why', async () => {
    await finished();
    const { id } = (await followUp({ who: 'not_opened', subject: 'Did you see it?' })).body.data;
    const quiet = await database.db.rows<{ id: string }>(
      `select contact_id as id from emails where campaign_id = $1 and opened_at is null and bounced_at is null order by contact_id`,
      [campaign],
    );
    const [late, still] = quiet.map((row) => row.id);
    await database.db.count('update emails set opened_at = now() where campaign_id = $1 and contact_id = $2', [
      campaign,
      late,
    ]);
    expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(200);
    expect((await call('GET', `/campaigns/${id}`)).body.data.totalRecipients).toBe(1);
    const whyOf = async (contact: string | undefined) =>
      (await call('POST', '/explain', { contact, about: { campaignId: id } })).body.decisions.find(
        ({ check }: { check: string }) => check === 'audience.correction',
      );
    expect(await whyOf(still)).toMatchObject({
      outcome: 'pass',
      sentence: 'The contact did not open version 1 of the earlier campaign.',
    });
    expect(await whyOf(late)).toMatchObject({ outcome: 'stop' });
  });

  test('is refused while the campaign is sent, for words it does not know, and where nobody is left', async () => {
    expect((await followUp({ who: 'got' })).body.error).toMatchObject({ details: { status: 'DRAFT' } });
    await finished();
    expect((await followUp({ who: 'saw' })).status).toBe(422);
    expect((await followUp({})).status).toBe(422);
    await database.db.count('update contacts set subscribed = false where project_id = $1', [project.id]);
    expect((await followUp({ who: 'got' }, '/audience')).body.data).toEqual({ recipients: 0, unsubscribed: 5 });
    expect((await followUp({ who: 'got' })).status).toBe(400);
  });
});

describe('a correction', () => {
  const correction = (body: object) => call('POST', at('/correction'), body);
  const content = { subject: 'Correction', body: '<p>Here is the right link.</p>' };

  /** Two got the first version, three the second; of each one opened it and one clicked. */
  async function revised(): Promise<void> {
    await pause();
    await handedOver(2);
    expect((await revise()).status).toBe(200);
    await handedOver(3, 2);
    await database.db.count(
      `update emails e set opened_at = now(), clicked_at = case when n = 2 then now() end
       from (select id, row_number() over (partition by content_version order by contact_id) as n from emails where campaign_id = $1) r
       where r.id = e.id and n <= 2`,
      [campaign],
    );
  }
  const audienceOf = async (id: string) =>
    (await call('POST', `/campaigns/${id}/dry-run`)).status === 202 &&
    (await call('GET', `/campaigns/${id}`)).body.data.totalRecipients;

  test.for([
    [[1], 'got', 2],
    [[2], 'got', 3],
    [[1, 2], 'got', 5],
    [[1], 'opened', 2],
    [[2], 'clicked', 1],
  ] as const)('of versions %j to those who %s it goes to %i', async ([versions, who, recipients]) => {
    await revised();
    const counted = await call('POST', at('/correction/audience'), { versions, who });
    expect(counted.body.data).toEqual({ recipients, unsubscribed: 0 });
    const created = await correction({ versions, who, ...content });
    expect(created).toMatchObject({
      status: 201,
      body: {
        data: {
          name: 'Spring count (Correction)',
          status: 'DRAFT',
          resendOf: campaign,
          correction: { versions, who },
          contentVersion: 1,
          totalRecipients: recipients,
          ...content,
        },
      },
    });
    expect(await audienceOf(created.body.data.id)).toBe(recipients);
  });

  test('leaves out who has unsubscribed since, and its audience cannot be changed', async () => {
    await revised();
    await database.db.count(
      `update contacts set subscribed = false where id in (
         select contact_id from emails where campaign_id = $1 and content_version is null order by contact_id limit 1)`,
      [campaign],
    );
    const counted = await call('POST', at('/correction/audience'), { versions: [1], who: 'got' });
    expect(counted.body.data).toEqual({ recipients: 1, unsubscribed: 1 });
    const { id } = (await correction({ versions: [1], who: 'got', ...content })).body.data;
    expect((await correction({ versions: [1], who: 'got', ...content })).status).toBe(201);
    const changed = await call('PUT', `/campaigns/${id}`, { audienceType: 'FILTERED', audienceCondition: {} });
    expect([400, 422]).toContain(changed.status);
    expect((await call('PUT', `/campaigns/${id}`, { subject: 'Better words' })).status).toBe(200);
  });

  test('is refused before anybody got the campaign, for unknown versions, and where nobody is left', async () => {
    const asked = { versions: [1], who: 'got', ...content };
    expect(await correction(asked)).toMatchObject({ status: 400, body: { error: { details: { status: 'DRAFT' } } } });
    await revised();
    expect((await correction({ ...asked, versions: [3] })).body.error.message).toContain('versions up to 2');
    expect((await correction({ ...asked, versions: [] })).status).toBe(422);
    expect((await correction({ ...asked, who: 'saw' })).status).toBe(422);
    expect((await correction({ ...asked, body: undefined })).status).toBe(422);
    await database.db.count('update contacts set subscribed = false where project_id = $1', [project.id]);
    expect((await correction(asked)).body.error.message).toContain('None of the recipients');
  });

  test('is explained: who got the corrected version is in its audience, and nobody else', async () => {
    await revised();
    const { id } = (await correction({ versions: [1], who: 'got', ...content })).body.data;
    const people = await database.db.rows<{ id: string; version: number | null }>(
      'select contact_id as id, content_version as version from emails where campaign_id = $1 order by contact_id',
      [campaign],
    );
    const why = (contact: string, about: string) => call('POST', '/explain', { contact, about: { campaignId: about } });
    const first = people[0]?.id ?? '';
    const last = people[4]?.id ?? '';
    const checkOf = async (contact: string) =>
      (await why(contact, id)).body.decisions.find(({ check }: { check: string }) => check === 'audience.correction');
    expect(await checkOf(first)).toMatchObject({ outcome: 'pass', actual: 1 });
    expect(await checkOf(last)).toMatchObject({ outcome: 'stop', actual: 2 });
    const got = (await why(last, campaign)).body.decisions;
    expect(got).toContainEqual(expect.objectContaining({ check: 'mail.version', actual: 2 }));
  });
});
