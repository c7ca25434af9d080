import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { erasureActivities } from '../../activities/erasure.ts';
import { jobActivities } from '../../activities/jobs.ts';
import { readConfig } from '../../src/core/config/config.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { campaignActivitiesFor } from '../support/campaign-fixtures.ts';
import { cli } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { aPerson, joins } from '../support/people.ts';
import { jobDone, uploaded } from '../support/uploads.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

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
      ...jobActivities(shared),
      ...erasureActivities({ ...shared, retentions, eraseMessages: null }),
      ...campaignActivitiesFor(database.db, new FakeMailer({ name: 'cli' })),
    },
  });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  folder = mkdtempSync(join(tmpdir(), 'posthorn-cli-'));
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
  POSTHORN_URL: api.url,
  POSTHORN_KEY: project.secretKey,
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
  const env = { POSTHORN_KEY: key };
  const asked = await run(['campaigns', 'launch', id, '--review', '--yes'], { env });
  expect([asked.code, asked.err, asked.out]).toEqual([0, '', expect.stringContaining('waits for approval')]);
  expect((await call('GET', `/campaigns/${id}`)).body.data.approval).toMatchObject({ recipients: 2 });
  expect((await run(['campaigns', 'withdraw', id], { env })).code).toBe(0);
  expect((await call('GET', `/campaigns/${id}`)).body.data).toMatchObject({ status: 'DRAFT', approval: null });
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
