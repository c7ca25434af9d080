import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { erasureActivities } from '../../../activities/erasure.ts';
import { jobActivities } from '../../../activities/jobs.ts';
import { readConfig } from '../../../src/lib/config/config.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { campaignActivitiesFor } from '../../support/campaign-fixtures.ts';
import { cli } from '../../support/cli.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { testSimulations } from '../../support/jobs.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, joins } from '../../support/people.ts';
import { startReceiver } from '../../support/receiver.ts';
import { jobDone, uploaded } from '../../support/uploads.ts';
import { type TestWorker, testWorker } from '../../support/worker.ts';

// Commands that wait for work of the worker.
let database: TestDatabase;
let worker: TestWorker;
let api: TestApi;
let project: TestProject;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  const { encryptionKeys } = readConfig({});
  const shared = {
    db: database.db,
    log: pino({ level: 'silent' }),
    stopping: new AbortController().signal,
    encryptionKeys,
  };
  const retentions = { provider: 'sandbox', providerDays: 0, backupDays: 0, temporalDays: 0 };
  worker = await testWorker({
    queues: ['bulk', 'campaign'],
    activities: {
      ...jobActivities({ ...shared, startsPerHour: 0, simulations: testSimulations, dispatchSoon() {} }),
      ...erasureActivities({ ...shared, retentions, eraseMessages: null }),
      ...campaignActivitiesFor(database.db, new FakeMailer({ name: 'cli' })),
    },
  });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  folder = mkdtempSync(join(tmpdir(), 'fernpost-cli-'));
});
beforeEach(async () => {
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
  rmSync(folder, { recursive: true });
});

const { run, json } = cli(() => ({
  XDG_CONFIG_HOME: folder,
  FERNPOST_URL: api.url,
  FERNPOST_KEY: project.secretKey,
}));
const call = (method: string, path: string, body?: object) => api.call(project.secretKey, method, path, body);
const people = async (...rows: string[]) => {
  const id = await uploaded(api, project, ['email,plan,subscribed', ...rows].join('\n'));
  expect((await jobDone(api, project, `/contacts/import/${id}`)).state).toBe('completed');
  return id;
};

test('reviews a campaign, and launches exactly what was reviewed', async () => {
  await people('ada@kunde.example,pro,true', 'grace@kunde.example,,true', 'alan@kunde.example,pro,false');
  const campaign = { name: 'News', subject: 'News for {{plan}}', body: '<p>{{plan}}</p>', audienceType: 'ALL' };
  const { body } = await call('POST', '/campaigns', { ...campaign, from: project.sender });
  const { id } = body.data;
  const shown = await run(['campaigns', 'review', id]);
  expect([shown.code, shown.out.split('\n')[0]]).toEqual([0, 'Would send to 2 of 2 contacts.']);
  expect(shown.out).toContain('!  1  no value for {{plan}}');
  const latest = await json(['campaigns', 'review', id, '--latest']);
  expect(shown.out).toContain(`Fingerprint: ${latest.fingerprint}`);

  await call('PUT', `/campaigns/${id}`, { subject: 'Other news' });
  const stale = await run(['campaigns', 'launch', id, '--fingerprint', latest.fingerprint, '--yes']);
  expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('review')]);
  expect((await run(['campaigns', 'launch', id, '--drift', 'much'])).code).toBe(2);
  const sent = await run(['campaigns', 'launch', id, '--review', '--yes', '--watch']);
  expect([sent.code, sent.out]).toEqual([0, expect.stringContaining('SENT, 2 of 2 sent')]);
});

test('simulates a workflow over contacts, and cancels a simulation', async () => {
  await people('ada@kunde.example,pro,true');
  const { id } = (await call('POST', '/workflows', { name: 'Signed up', eventName: 'signed.up' })).body;
  const [{ id: contact }] = (await call('GET', '/contacts')).body.data;
  const simulate = ['workflows', 'simulate', id, '--contacts', contact, '--no-events', '--horizon', '1h'];
  const shown = await run(simulate);
  const [, job] = /^Queued as (simulation-\S+)\. /.exec(shown.err) ?? [];
  expect([shown.code, shown.out.split('\n')[0]]).toEqual([
    0,
    '1 executions of 1 contacts: 1 completed, 0 exited, 0 failed, 0 still inside.',
  ]);
  expect(await json(simulate)).toMatchObject({ state: 'completed', result: { executions: 1 } });
  const cancel = (simulation: string) => run(['workflows', 'simulate', id, '--cancel', simulation]);
  expect(await cancel(job ?? '')).toMatchObject({ code: 0, out: `${job} is completed.\n` });
  const spec = { workflowId: id, names: {}, at: null };
  const waiting = await database.db.row<{ id: string }>(
    `insert into jobs (id, project_id, kind, spec) values ('simulation-' || gen_random_uuid(), $1, 'simulation', $2) returning id`,
    [project.id, JSON.stringify(spec)],
  );
  expect(await cancel(waiting?.id ?? '')).toMatchObject({ code: 0, out: `${waiting?.id} is canceled.\n` });
  expect((await run([...simulate, '--segment', id])).code).toBe(2);
});

test('says that a large send waits for approval, which no key gives, and withdraws it', async () => {
  await people('ada@kunde.example,pro,true', 'grace@kunde.example,pro,true');
  await database.db.count('update projects set approval_above = 1 where id = $1', [project.id]);
  const campaign = { name: 'Large', subject: 'Hi', body: '<p>Hi</p>', from: project.sender, audienceType: 'ALL' };
  const { body } = await call('POST', '/campaigns', campaign);
  const { id } = body.data;
  const scopes = ['campaigns:read', 'campaigns:write', 'campaigns:send'];
  const admin = await aPerson(database.db, api.config);
  await joins(database.db, project.id, admin, 'ADMIN');
  const keys = `/users/@me/projects/${project.id}/api-keys`;
  const { key } = (await api.call(null, 'POST', keys, { name: 'CI', scopes }, admin.session)).body;
  const env = { FERNPOST_KEY: key };
  const asked = await run(['campaigns', 'launch', id, '--review', '--yes'], { env });
  expect([asked.code, asked.err, asked.out]).toEqual([0, '', expect.stringContaining('waits for approval')]);
  expect((await call('GET', `/campaigns/${id}`)).body.data.approval).toMatchObject({ recipients: 2 });
  expect((await run(['campaigns', 'withdraw', id], { env })).code).toBe(0);
  expect((await call('GET', `/campaigns/${id}`)).body.data).toMatchObject({ status: 'DRAFT', approval: null });
});

test('revises a paused campaign when it is told to, and corrects what was sent before', async () => {
  await people('ada@kunde.example,pro,true', 'grace@kunde.example,pro,true', 'alan@kunde.example,pro,true');
  const campaign = { name: 'News', subject: 'Old news', body: '<p>Old</p>', from: project.sender, audienceType: 'ALL' };
  const { id } = (await call('POST', '/campaigns', campaign)).body.data;
  const now = async () => (await call('GET', `/campaigns/${id}`)).body.data;
  await call('POST', `/campaigns/${id}/send`, { canary: { recipients: 1, hold: '1h', minDelivered: 0 } });
  await expect.poll(async () => (await now()).canary.state).toBe('HOLDING');
  const better = ['--subject', 'Better news'];
  expect((await run(['campaigns', 'revise', id, ...better, '--yes'])).code).toBe(1);
  await call('POST', `/campaigns/${id}/pause`);
  const nothing = await run(['campaigns', 'revise', id, '--yes']);
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('--subject or --body')]);
  const asked = await run(['campaigns', 'revise', id, ...better]);
  expect([asked.code, asked.err]).toEqual([
    2,
    expect.stringContaining('for the 2 recipients who have not received it'),
  ]);
  expect(await now()).toMatchObject({ subject: 'Old news', contentVersion: 1 });
  expect(await json(['campaigns', 'revise', id, ...better, '--yes'])).toMatchObject({
    subject: 'Better news',
    contentVersion: 2,
    pausedAt: expect.any(String),
  });
  const options = ['--body', '-', '--resume', '--yes'];
  const resumed = await run(['campaigns', 'revise', id, ...options], { input: '<p>New</p>' });
  expect([resumed.code, resumed.out]).toEqual([0, expect.stringContaining('sending continues with version 3')]);
  expect(await now()).toMatchObject({ pausedAt: null, contentVersion: 3, body: expect.stringContaining('New') });
  await call('POST', `/campaigns/${id}/canary/continue`);
  expect((await run(['campaigns', 'watch', id])).code).toBe(0);
  const { versions } = (await call('GET', `/campaigns/${id}/stats`)).body.data;
  expect(versions).toMatchObject([
    { version: 1, sentCount: 1 },
    { version: 2, sentCount: 0 },
    { version: 3, sentCount: 2 },
  ]);

  const correction = ['campaigns', 'correct', id, '--subject', 'Correction', '--body', '<p>Sorry</p>'];
  const corrected = await run(correction);
  expect([corrected.code, corrected.out]).toEqual([0, expect.stringContaining('a draft for 1 contact.')]);
  const draft = /launch (\S+)/.exec(corrected.out)?.[1] ?? '';
  expect((await run(['campaigns', 'launch', draft, '--yes', '--watch'])).out).toContain('SENT, 1 of 1 sent');
  expect(await json([...correction, '--versions', '1', '3'])).toMatchObject({ totalRecipients: 3, status: 'DRAFT' });
  expect((await run([...correction, '--who', 'opened'])).code).toBe(1);
  expect((await run([...correction, '--who', 'everybody'])).code).toBe(2);
  expect((await run(['campaigns', 'correct', id, '--subject', 'Correction'])).code).toBe(2);
});

test('exports contacts, and everything known of one, into files that only the user can read', async () => {
  await people('ada@kunde.example,pro,true', 'grace@kunde.example,free,false');
  const out = join(folder, 'contacts.csv');
  const columns = ['--columns', 'email,data.plan'];
  expect(await json(['contacts', 'export', '--subscribed', ...columns, '--out', out])).toMatchObject({ file: out });
  expect(readFileSync(out, 'utf8').trim().split(/\r?\n/).slice(1)).toEqual(['ada@kunde.example,pro']);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'free' }] }],
  };
  const found = await run(['contacts', 'export', '--condition', JSON.stringify(condition), ...columns]);
  expect([found.code, found.out]).toEqual([0, expect.stringMatching(/grace@kunde\.example,free\r?\n$/)]);
  const dossier = await run(['contacts', 'dossier', 'ADA@kunde.example']);
  expect(JSON.parse(dossier.out).contact).toMatchObject({ email: 'ada@kunde.example', data: { plan: 'pro' } });
  const nobody = await run(['contacts', 'dossier', 'nobody@kunde.example']);
  expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining('No contact has the address')]);
});

test('erases a contact only when it is told to, and keeps the certificate', async () => {
  await people('ada@kunde.example,pro,true');
  const asked = await run(['contacts', 'erase', 'ada@kunde.example']);
  expect([asked.code, asked.err]).toEqual([2, expect.stringContaining('--yes')]);
  const out = join(folder, 'certificate.json');
  const options = ['ada@kunde.example', '--reference', 'DSR-7', '--out', out, '--yes'];
  const erasure = await json(['contacts', 'erase', ...options]);
  expect(erasure).toMatchObject({ status: 'DONE', reference: 'DSR-7' });
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual(erasure.certificate);
  expect((await call('GET', '/contacts')).body.total).toBe(0);
});

test('takes an import back, and shows before what that does', async () => {
  const job = await people('ada@kunde.example,pro,true', 'grace@kunde.example,free,true');
  expect((await run(['jobs', 'list'])).out).toContain(`${job}  `);
  const plan = await run(['jobs', 'undo', job, '--dry-run']);
  expect([plan.code, plan.out]).toEqual([0, expect.stringMatching(/^- {2}2 {2}contacts are deleted/)]);
  expect((await run(['jobs', 'undo', job])).code).toBe(2);
  expect((await call('GET', '/contacts')).body.total).toBe(2);
  expect(await json(['jobs', 'undo', job, '--yes'])).toMatchObject({ state: 'completed' });
  expect((await call('GET', '/contacts')).body.total).toBe(0);
});

test('asks for the preview of an undo, and for the undo, until what it would do is counted', async () => {
  const job = await people('ada@kunde.example,pro,true', 'grace@kunde.example,free,true');
  // What the service answers while it counts millions: two times for the preview, and once more when the undo itself is asked for.
  const asked: boolean[] = [];
  const unfinishedAt = [1, 2, 4];
  await using service = await startReceiver(async ({ method, url, headers, body }, response) => {
    if (url.endsWith('/undo')) asked.push(JSON.parse(body).dryRun ?? false);
    const isUnfinished = url.endsWith('/undo') && unfinishedAt.includes(asked.length);
    const error = { code: 'PREVIEW_UNFINISHED', message: 'What the undo would do is not known yet' };
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const real = isUnfinished
      ? Response.json({ success: false, error }, { status: 409 })
      : await fetch(`${api.url}${url}`, {
          method,
          headers: { authorization, 'content-type': type },
          ...(body === '' ? {} : { body }),
        });
    response.writeHead(real.status, { 'content-type': 'application/json' }).end(await real.text());
  });
  const env = { FERNPOST_URL: `http://127.0.0.1:${service.port}` };
  const { code, out, err } = await run(['jobs', 'undo', job, '--yes'], { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('Undone: 2 contacts, 0 failed.');
  expect(asked).toEqual([true, true, true, false, false]);
  expect((await call('GET', '/contacts')).body.total).toBe(0);
});
