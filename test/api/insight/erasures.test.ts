import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { erasureActivities } from '../../../activities/erasure.ts';
import { erasedAmong, findErasureKey } from '../../../src/contacts/erased.ts';
import { certify } from '../../../src/insight/erasures/certificate.ts';
import { eraseRows, startOfErasure } from '../../../src/insight/erasures/work.ts';
import { instantOf, newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { aCampaign } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { aPerson, joins } from '../../support/people.ts';
import { uploaded } from '../../support/uploads.ts';
import { testWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const call = (project: TestProject, method: string, path: string, body?: unknown) =>
  api.call(path === '/v1/track' ? project.publicKey : project.secretKey, method, path, body);

async function aContact(project: TestProject, email: string, data: object = { firstName: 'Ottilie' }): Promise<string> {
  return (await call(project, 'POST', '/contacts', { email, data })).body.id;
}

const share = () => ({
  encryptionKeys: api.config.encryptionKeys,
  longestMs: 600_000,
  stop: new AbortController().signal,
  onStep: () => undefined,
});
const retentions = { provider: 'sandbox', providerDays: 0, backupDays: 0, temporalDays: 0 };
const issue = (id: string, changes: Partial<typeof retentions> = {}, now = new Date()) =>
  certify(database.db, id, {
    encryptionKeys: api.config.encryptionKeys,
    retentions: { ...retentions, ...changes },
    now,
  });

/** Erases a contact as the worker does; answers the erasure. */
async function erased(project: TestProject, contact: string, body: object = {}) {
  const { body: asked } = await call(project, 'POST', `/contacts/${contact}/erase`, body);
  expect(await eraseRows(database.db, asked.id, share())).toBe('emptied');
  await issue(asked.id);
  return (await call(project, 'GET', `/erasures/${asked.id}`)).body;
}

test('a contact is gone, what was stored of it is empty, and the certificate verifies with node:crypto alone', async () => {
  const project = await aProject(database);
  const email = 'ottilie@needle.example';
  const id = await aContact(project, email);
  await call(project, 'POST', '/v1/track', { email, event: 'bought', data: { what: 'Secret thing' } });
  await call(project, 'POST', '/v1/send', {
    to: { email, name: 'Ottilie Nadel' },
    subject: 'Hi',
    body: '<p>x</p>',
    from: project.sender,
  });
  await call(project, 'PATCH', `/contacts/${id}`, { subscribed: false });
  await call(project, 'PATCH', `/contacts/${id}`, { subscribed: true, reason: 'Ottilie called' });
  const erasure = await erased(project, id, { reference: 'DSR-1' });
  expect(erasure).toMatchObject({ status: 'DONE', reference: 'DSR-1', ledgersChanged: [], mentions: [] });
  const { json, signature, publicKey } = erasure.certificate;
  expect(verify(null, Buffer.from(json), createPublicKey(publicKey), Buffer.from(signature, 'base64'))).toBe(true);
  expect(verify(null, Buffer.from(`${json} `), createPublicKey(publicKey), Buffer.from(signature, 'base64'))).toBe(
    false,
  );
  expect((await call(project, 'GET', `/contacts/${id}`)).status).toBe(404);
  const { body: verified } = await call(project, 'GET', `/erasures/${erasure.id}/verify`);
  expect(verified).toEqual({ valid: true, signed: true, keyOfProject: true, left: [] });
  const mail = await database.db.row<{ to: string; status: string }>(
    'select to_address as to, status from emails where contact_id = $1',
    [id],
  );
  expect(mail).toEqual({ to: `erased-${erasure.subject.slice(0, 8)}@erased.invalid`, status: 'CANCELLED' });
  const values = await database.db.rows('select 1 from contact_field_values where project_id = $1', [project.id]);
  expect(values).toEqual([]);
});

test('a repeated request answers the same erasure, and another project sees neither the contact nor the erasure', async () => {
  const [project, other] = [await aProject(database), await aProject(database)];
  const id = await aContact(project, 'twice@needle.example');
  const untouched = await aContact(other, 'twice@needle.example', { firstName: 'Twice' });
  expect((await call(other, 'POST', `/contacts/${id}/erase`, {})).status).toBe(404);
  const first = await call(project, 'POST', `/contacts/${id}/erase`, {});
  expect(first.status).toBe(202);
  const again = await call(project, 'POST', `/contacts/${id}/erase`, { keepSuppressed: false });
  expect(again.body).toEqual(first.body);
  await call(project, 'POST', `/contacts/${id}/erase`, { reference: 'Request 42' });
  const erasure = await erased(project, id);
  // Also once everything that names the contact is gone from the log.
  const log = await call(project, 'GET', `/projects/${project.id}/audit-log?action=contact.erasure_repeated`);
  expect(log.body.data).toMatchObject([{ target: id, after: { erasureId: erasure.id, reference: 'Request 42' } }]);
  for (const path of [`/erasures/${erasure.id}`, `/erasures/${erasure.id}/verify`, `/contacts/${id}/export`])
    expect((await call(other, 'GET', path)).status, path).toBe(404);
  expect((await call(other, 'GET', '/erasures')).body.data).toEqual([]);
  expect((await call(project, 'GET', '/erasures')).body.data).toHaveLength(1);
  expect((await call(other, 'GET', `/contacts/${untouched}`)).body).toMatchObject({ data: { firstName: 'Twice' } });
  expect((await call(other, 'POST', '/v1/track', { email: 'twice@needle.example', event: 'x' })).status).toBe(200);
});

test('requests refuse a suppressed address, imports refuse it always, and a second erasure without keepSuppressed lets requests through', async () => {
  const project = await aProject(database);
  const email = 'back@needle.example';
  await erased(project, await aContact(project, email));
  const someone = await aContact(project, 'someone@needle.example');
  const mail = { subject: 'Hi', body: '<p>x</p>', from: project.sender };
  const refused = [
    await call(project, 'POST', '/contacts', { email }),
    await call(project, 'PATCH', `/contacts/${someone}`, { email }),
    await call(project, 'POST', '/events/track', { email, event: 'x' }),
    await call(project, 'POST', '/v1/send', { ...mail, to: ['someone@needle.example', email] }),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
    refused.map(() => [422, 'CONTACT_ERASED']),
  );
  expect(refused.at(-1)?.body.error.errors).toMatchObject([{ field: 'to.1', code: 'erased' }]);
  expect(JSON.stringify(refused.map(({ body }) => body))).not.toContain(email);
  await using _worker = await jobsWorker(database, { queuePrefix: api.config.TEMPORAL_TASK_QUEUE });
  const jobId = await uploaded(api, project, `email\n${email}\nnew@needle.example\n`);
  const { result } = await vi.waitFor(
    async () => {
      const { body } = await call(project, 'GET', `/contacts/import/${jobId}`);
      expect(body.state).toBe('completed');
      return body;
    },
    { timeout: 600_000, interval: 200 },
  );
  expect(result).toMatchObject({
    createdCount: 1,
    failureCount: 1,
    errors: [{ row: 2, error: expect.stringMatching(/^erased/) }],
  });
  expect(JSON.stringify(result)).not.toContain(email);

  await database.db.count('update erased_addresses set suppressed = false where project_id = $1', [project.id]);
  const second = await aContact(project, email);
  await erased(project, second, { keepSuppressed: false });
  expect((await call(project, 'POST', '/v1/track', { email, event: 'x' })).status).toBe(200);
});

test('a visitor who tracks an erased address gets the usual response, and nothing is stored', async () => {
  const project = await aProject(database);
  const email = 'quiet@needle.example';
  const before = await call(project, 'POST', '/v1/track', { email, event: 'seen' });
  await erased(project, before.body.data.contact);
  const counted = () =>
    database.db.row<object>(
      `select (select count(*)::int from contacts where project_id = $1) as contacts,
          (select count(*)::int from events where project_id = $1) as events,
          (select count(*)::int from contact_fields where project_id = $1) as fields`,
      [project.id],
    );
  const stored = await counted();
  const shape = { success: true, data: { contact: expect.any(String), event: expect.any(String) } };
  for (const publicKeyMode of ['contract', 'hardened']) {
    await call(project, 'PATCH', `/users/@me/projects/${project.id}`, { publicKeyMode });
    const tracked = [
      await call(project, 'POST', '/v1/track', { email, event: 'seen', data: { shoe: 42 }, subscribed: true }),
      await call(project, 'POST', '/v1/track', { email: email.toUpperCase(), event: 'seen' }),
    ];
    for (const { status, body } of tracked) {
      expect([status, body]).toEqual([200, { ...shape, data: { ...shape.data, timestamp: body.data.timestamp } }]);
      expect(Object.keys(body.data)).toEqual(Object.keys(before.body.data));
      expect(body.data.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const [one, two] = tracked.map(({ body }) => body.data);
    expect(one.contact).toBe(two.contact);
    expect(one.event).not.toBe(two.event);
    // An ID like those of other contacts: of version 7, and made since the project was.
    expect(one.contact[14]).toBe(before.body.data.contact[14]);
    expect(instantOf(one.contact).getTime()).toBeGreaterThanOrEqual(instantOf(project.id).getTime());
    expect(instantOf(one.contact).getTime()).toBeLessThanOrEqual(Date.now());
    expect(one.contact).not.toBe(before.body.data.contact);
    // Whatever is refused for others is refused here as well.
    const keys = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, 1]));
    for (const body of [{ event: 'email.open' }, { event: 'x', data: { locale: 5 } }, { event: 'x', data: keys }]) {
      const other = await call(project, 'POST', '/v1/track', { email: 'other@needle.example', ...body });
      const refused = await call(project, 'POST', '/v1/track', { email, ...body });
      expect(other.status).toBeGreaterThanOrEqual(400);
      expect([refused.status, refused.body.error.message]).toEqual([other.status, other.body.error.message]);
    }
    const headers = { 'idempotency-key': `seen-${publicKeyMode}` };
    const keyed = () => api.call(project.publicKey, 'POST', '/v1/track', { email, event: 'seen' }, headers);
    expect([(await keyed()).status, (await keyed()).status]).toEqual([200, 409]);
  }
  expect(await counted()).toEqual(stored);
  const other = await aProject(database);
  const elsewhere = await call(other, 'POST', '/contacts', { email });
  await erased(other, elsewhere.body.id);
  const [here, there] = [project, other].map((of) => call(of, 'POST', '/v1/track', { email, event: 'seen' }));
  expect((await here)?.body.data.contact).not.toBe((await there)?.body.data.contact);
});

test('an owner lifts the suppression of an erased address, with a reason, and imports go on refusing it', async () => {
  const project = await aProject(database);
  const email = 'returns@needle.example';
  const id = await aContact(project, email);
  const { body: asked } = await call(project, 'POST', `/contacts/${id}/erase`, {});
  const owner = await aPerson(database.db, api.config);
  await joins(database.db, project.id, owner, 'ADMIN');
  const session = { ...owner.session, 'X-Project-Id': project.id };
  const lift = (body: object) => api.call(null, 'POST', `/erasures/${asked.id}/lift`, body, session);
  expect((await lift({ reason: 'She asked' })).status).toBe(403);
  await database.db.count(`update memberships set role = 'OWNER' where user_id = $1`, [owner.id]);
  expect((await lift({ reason: 'She asked' })).status).toBe(409);
  expect(await eraseRows(database.db, asked.id, share())).toBe('emptied');
  await issue(asked.id);
  expect((await call(project, 'POST', `/erasures/${asked.id}/lift`, { reason: 'x' })).status).toBe(403);
  expect((await lift({ reason: ' ' })).status).toBe(422);
  const other = await aProject(database);
  await joins(database.db, other.id, owner, 'OWNER');
  const elsewhere = { ...session, 'X-Project-Id': other.id };
  const foreign = await api.call(null, 'POST', `/erasures/${asked.id}/lift`, { reason: 'x' }, elsewhere);
  expect(foreign.status).toBe(404);
  expect((await call(project, 'POST', '/contacts', { email })).status).toBe(422);

  const lifted = await lift({ reason: 'She asked for mail again' });
  expect(lifted.body).toMatchObject({ id: asked.id, keepSuppressed: true, suppressed: false });
  expect((await lift({ reason: 'Again' })).body).toMatchObject({ suppressed: false });
  expect((await call(project, 'GET', `/erasures/${asked.id}/verify`)).body.valid).toBe(true);
  expect((await call(project, 'POST', '/contacts', { email })).status).toBe(201);
  const { data } = (await call(project, 'GET', `/projects/${project.id}/audit-log`)).body;
  expect(data.filter(({ action }: { action: string }) => action === 'erasure.suppression_lifted')).toMatchObject([
    { target: asked.id, after: { reason: 'She asked for mail again' } },
  ]);
  const key = await findErasureKey(database.db, project.id, api.config.encryptionKeys);
  if (key === null) throw new Error('The project has no key');
  expect([...(await erasedAmong(database.db, project.id, key, [email])).keys()]).toEqual([email]);
});

test('the audit log stays verifiable after its details were redacted, and shows a change of them', async () => {
  const project = await aProject(database);
  const email = 'logged@needle.example';
  const id = await aContact(project, email);
  await call(project, 'PATCH', `/contacts/${id}`, { subscribed: false });
  await call(project, 'PATCH', `/contacts/${id}`, { subscribed: true, reason: 'Lorenza called' });
  await call(project, 'POST', '/suppressions', {
    name: `No ${email}`,
    kind: 'ADDRESS',
    pattern: email,
    enabled: false,
  });
  await erased(project, id);
  const path = `/projects/${project.id}/audit-log`;
  const { data } = (await call(project, 'GET', path)).body;
  expect(JSON.stringify(data)).not.toMatch(/Lorenza|logged@/);
  expect(data.map(({ action }: { action: string }) => action)).toContain('audit_log.redacted');
  expect((await call(project, 'GET', `${path}/verify`)).body).toMatchObject({ valid: true, missing: 0 });
  await database.db.count(
    `update audit_log set after = '{"reason": "none"}' where project_id = $1 and action = 'contact.resubscribed'`,
    [project.id],
  );
  expect((await call(project, 'GET', `${path}/verify`)).body).toMatchObject({ valid: false });
});

test('mail that is being handed over is settled first; a campaign that has not reached the contact skips it', async () => {
  const project = await aProject(database);
  const id = await aContact(project, 'leaving@needle.example');
  const mail = { subject: 'Hi', body: '<p>x</p>', from: project.sender };
  const sent = await call(project, 'POST', '/v1/send', { ...mail, to: 'leaving@needle.example' });
  const emailId = sent.body.data.emails[0].email;
  const campaign = await aCampaign(database.db, project);
  await database.db.count(`update campaigns set status = 'SENDING', send_seq = 1, total_recipients = 1 where id = $1`, [
    campaign,
  ]);
  await database.db.count('insert into campaign_sends (campaign_id, send_seq, project_id) values ($1, 1, $2)', [
    campaign,
    project.id,
  ]);
  await database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq)
     values ($1, $2, $3, 'leaving@needle.example', $4, 'CAMPAIGN', 'MARKETING', $5, 1)`,
    [newId(), project.id, id, project.sender, campaign],
  );
  await database.db.count(`update email_queue set claim_id = 'a-claim' where email_id = $1`, [emailId]);
  const { body: asked } = await call(project, 'POST', `/contacts/${id}/erase`, {});
  expect(await eraseRows(database.db, asked.id, share())).toBe('leaving');
  expect((await call(project, 'GET', `/contacts/${id}`)).status).toBe(200);
  await database.db.count('delete from email_queue where email_id = $1', [emailId]);
  await database.db.count(`update emails set status = 'SENT', sent_at = now(), message_id = 'm-1' where id = $1`, [
    emailId,
  ]);
  expect(await eraseRows(database.db, asked.id, share())).toBe('emptied');
  const rows = await database.db.rows('select status from emails where contact_id = $1 order by status', [id]);
  expect(rows).toEqual([{ status: 'CANCELLED' }, { status: 'SENT' }]);
  const counted = await database.db.row('select skipped_count as skipped from campaigns where id = $1', [campaign]);
  expect(counted).toEqual({ skipped: 1 });
});

test('waits for retention elsewhere, empties late reports, and completes the certificate', async () => {
  const project = await aProject(database);
  const id = await aContact(project, 'waiting@needle.example');
  const { body: asked } = await call(project, 'POST', `/contacts/${id}/erase`, {});
  await eraseRows(database.db, asked.id, share());
  const { waitMs } = await issue(asked.id, { backupDays: 14, temporalDays: 7 });
  expect(waitMs).toBeGreaterThan(6 * 86_400_000);
  const waiting = (await call(project, 'GET', `/erasures/${asked.id}`)).body;
  expect(waiting.status).toBe('WAITING');
  expect(waiting.steps.filter(({ state }: { state: string }) => state === 'waiting')).toHaveLength(2);
  await database.db.count(
    `insert into events (id, project_id, contact_id, name, data) values ($1, $2, $3, 'email.bounce', '{"to": "waiting@needle.example"}')`,
    [newId(), project.id, id],
  );
  expect((await call(project, 'GET', `/erasures/${asked.id}/verify`)).body).toMatchObject({
    valid: false,
    left: [{ rows: 1 }],
  });
  expect(await eraseRows(database.db, asked.id, share())).toBe('emptied');
  const later = new Date(Date.now() + 15 * 86_400_000);
  expect(await issue(asked.id, { backupDays: 14, temporalDays: 7 }, later)).toEqual({ waitMs: null });
  const final = (await call(project, 'GET', `/erasures/${asked.id}`)).body;
  expect(final.status).toBe('DONE');
  expect(JSON.parse(final.certificate.json)).toMatchObject({ final: true });
  expect((await call(project, 'GET', `/erasures/${asked.id}/verify`)).body.valid).toBe(true);
});

test('a report that comes after the final certificate leaves nothing of the contact', async () => {
  const project = await aProject(database);
  const email = 'late@needle.example';
  const id = await aContact(project, email);
  const mail = { to: email, subject: 'Hi', body: '<p>x</p>', from: project.sender };
  const sent = await call(project, 'POST', '/v1/send', mail);
  const emailId = sent.body.data.emails[0].email;
  await database.db.count('delete from email_queue where email_id = $1', [emailId]);
  await database.db.count(`update emails set status = 'SENT', sent_at = now(), message_id = 'm-late' where id = $1`, [
    emailId,
  ]);
  const erasure = await erased(project, id);
  expect(erasure.status).toBe('DONE');
  const written = () =>
    database.db.rows(
      `select (select to_jsonb(e) from emails e where e.id = $1) as mail,
         (select count(*)::int from events where contact_id = $2) as events, (select count(*)::int from webhook_receipts) as receipts,
         (select count(*)::int from campaign_links) as links`,
      [emailId, id],
    );
  const before = await written();
  const metadata = { eid: emailId, pid: project.id };
  const about = { MessageID: 'm-late', Metadata: metadata, ReceivedAt: new Date().toISOString() };
  const reports = [
    { RecordType: 'Open', Recipient: email, ...about },
    { RecordType: 'Click', Recipient: email, OriginalLink: `https://shop.example/?mail=${email}`, ...about },
    { RecordType: 'Delivery', Recipient: email, DeliveredAt: about.ReceivedAt, ...about },
    {
      RecordType: 'Bounce',
      Type: 'HardBounce',
      ID: 1,
      Email: email,
      BouncedAt: about.ReceivedAt,
      Description: `no ${email}`,
      Details: `550 ${email}`,
      ...about,
    },
    { RecordType: 'SpamComplaint', Type: 'SpamComplaint', ID: 2, Email: email, BouncedAt: about.ReceivedAt, ...about },
  ];
  const { POSTMARK_WEBHOOK_USER: user, POSTMARK_WEBHOOK_PASSWORD: password } = api.config;
  for (const report of reports) {
    const answer = await fetch(`${api.url}/webhooks/postmark`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      },
      body: JSON.stringify(report),
    });
    expect([report.RecordType, answer.status, await answer.json()]).toEqual([
      report.RecordType,
      200,
      { success: true, message: 'Ignored: the recipient was erased' },
    ]);
  }
  expect(await written()).toEqual(before);
  expect((await call(project, 'GET', `/erasures/${erasure.id}/verify`)).body.valid).toBe(true);
});

test('what members wrote is told and not changed', async () => {
  const project = await aProject(database);
  const email = 'named@needle.example';
  const id = await aContact(project, email);
  const { body: template } = await call(project, 'POST', '/templates', {
    name: 'T',
    subject: 'x',
    body: `<p>Write to ${email}, not to un${email}</p>`,
    from: project.sender,
  });
  await aContact(project, 'friend@needle.example', { invitedBy: email });
  const erasure = await erased(project, id);
  expect(erasure.mentions).toEqual(
    expect.arrayContaining([
      { type: 'template', count: 1, ids: [template.id] },
      { type: 'contact', count: 1, ids: [expect.any(String)] },
    ]),
  );
  expect((await call(project, 'GET', `/templates/${template.id}`)).body.body).toContain(email);
});

test('a worker that dies between steps leaves an erasure that the next one finishes', async () => {
  const project = await aProject(database);
  const id = await aContact(project, 'killed@needle.example');
  for (let n = 0; n < 5; n++)
    await call(project, 'POST', '/v1/track', { email: 'killed@needle.example', event: 'x', data: { n } });
  const { body: asked } = await call(project, 'POST', `/contacts/${id}/erase`, {});
  let steps = 0;
  for (;;) {
    // Each share ends after one step, and its successor knows nothing but the row.
    const stop = new AbortController();
    const state = await eraseRows(database.db, asked.id, { ...share(), stop: stop.signal, onStep: () => stop.abort() });
    steps += 1;
    if (state !== 'unfinished') break;
  }
  expect(steps).toBeGreaterThan(10);
  await issue(asked.id);
  expect((await call(project, 'GET', `/erasures/${asked.id}/verify`)).body.valid).toBe(true);
});

test('the workflow erases by itself, and its history names nobody', async () => {
  const project = await aProject(database);
  const email = 'history@needle.example';
  const id = await aContact(project, email);
  await using worker = await testWorker({
    // The API starts it as well, whoever comes first.
    queuePrefix: api.config.TEMPORAL_TASK_QUEUE,
    queues: ['bulk'],
    activities: erasureActivities({
      db: database.db,
      log: api.app.log,
      stopping: new AbortController().signal,
      encryptionKeys: api.config.encryptionKeys,
      retentions,
      eraseMessages: async () => 3,
    }),
  });
  const { body: asked } = await call(project, 'POST', `/contacts/${id}/erase`, {});
  const start = startOfErasure(asked.id, project.id);
  await worker.perform(start);
  await worker.result(start.id);
  const { body } = await call(project, 'GET', `/erasures/${asked.id}`);
  expect(body.status).toBe('DONE');
  expect(body.steps).toContainEqual(expect.objectContaining({ system: 'Mail sandbox', rows: 3 }));
  const history = await worker.client.workflow.getHandle(start.id).fetchHistory();
  expect(JSON.stringify(history)).not.toContain('needle.example');
});

test('an export has everything known of a contact, is written down, and is limited', async () => {
  const project = await aProject(database);
  const email = 'exported@needle.example';
  const id = await aContact(project, email, { firstName: 'Ottilie' });
  for (let n = 0; n < 450; n++)
    await database.db.count(
      `insert into events (id, project_id, contact_id, name, data) values ($1, $2, $3, 'x', '{"n": 1}')`,
      [newId(), project.id, id],
    );
  await call(project, 'POST', '/v1/send', {
    to: email,
    subject: 'Hello',
    body: '<p>Body of it</p>',
    from: project.sender,
  });
  const { status, body } = await call(project, 'GET', `/contacts/${id}/export`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    format: 'fernpost-contact/1',
    contact: { email, data: { firstName: 'Ottilie' } },
    emails: [{ to_address: email }],
    segments: [],
    workflowExecutions: [],
  });
  expect(body.events).toHaveLength(450);
  expect(JSON.stringify(body.emails)).toContain('Body of it');
  const { data } = (await call(project, 'GET', `/projects/${project.id}/audit-log`)).body;
  expect(data[0]).toMatchObject({ action: 'contact.exported', target: id });
  for (let n = 0; n < 9; n++) await call(project, 'GET', `/contacts/${id}/export`);
  expect((await call(project, 'GET', `/contacts/${id}/export`)).status).toBe(429);
});
