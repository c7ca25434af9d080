import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { audienceFile } from '../../support/audience-model.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';
import { jobDone } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;
let own: SegmentHand;

beforeAll(async () => {
  database = await testDatabase();
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
});
beforeEach(async () => {
  project = await aProject(database);
  own = segmentHand(api, database, project);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

interface Options {
  subscribeNew?: string;
  consentSource?: string;
  matchFields?: string;
  mapping?: unknown;
  segmentId?: string;
  segmentName?: string;
}

async function post(path: string, content: string | Uint8Array, options: Options = {}): Promise<Answer> {
  const form = new FormData();
  form.set('file', new Blob([content as string | Uint8Array<ArrayBuffer>], { type: 'text/csv' }), 'list.csv');
  for (const [name, value] of Object.entries(options))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const answer = await fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${project.secretKey}` },
    body: form,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}
const preview = (content: string | Uint8Array, options?: Options) => post('/contacts/import/preview', content, options);
async function imported(content: string | Uint8Array, options?: Options) {
  const { status, body } = await post('/contacts/import', content, options);
  expect(status).toBe(202);
  return jobDone(api, project, `/contacts/import/${body.jobId}`);
}
const contact = async (email: string) =>
  (await own.call('GET', `/contacts?search=${encodeURIComponent(email)}&limit=1`)).body.data[0];
const counts = ({ createdCount, updatedCount, unchangedCount, failureCount, totalRows, reasons }: Answer['body']) => ({
  createdCount,
  updatedCount,
  unchangedCount,
  failureCount,
  totalRows,
  reasons,
});

test('a preview refuses a header that is too large, and a project previews one file after the other', async () => {
  const wide = await preview(`email${',a'.repeat(2_000)}\nada@example.com\n`);
  expect([wide.status, wide.body.error.errors]).toEqual([
    422,
    [expect.objectContaining({ field: 'file', code: 'invalid_file', message: expect.stringContaining('columns') })],
  ]);
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; lock table contacts in access exclusive mode');
  const early: number[] = [];
  const previews = Array.from({ length: 7 }, () => preview('email\nada@example.com\n'));
  for (const answer of previews) void answer.then(({ status }) => early.push(status));
  // One is read, five wait.
  await expect.poll(() => early).toEqual([429]);
  await holder.end();
  const statuses = (await Promise.all(previews)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 200, 429]);
});

test('a preview says what the import then does, row by row, also of repeated addresses, and writes nothing', async () => {
  const file = audienceFile;
  const mapping = {
    'first name': 'data.firstName',
    SCORE: { field: 'data.score', type: 'number' },
    newsletter: 'subscribed',
    notes: null,
  };
  // Some are contacts already: as the file has them, with other values, and unsubscribed.
  await imported(file.toString().split('\r\n').slice(0, 400).join('\r\n'), { mapping });
  await database.db.count(
    `update contacts set subscribed = false, data = data || '{"company": "Before"}'
     where project_id = $1 and email in (select email from contacts where project_id = $1 order by email limit 90)`,
    [project.id],
  );
  const before = (await own.call('GET', '/contacts?limit=1')).body.total;
  const told = await preview(file, { mapping });
  expect(told.status).toBe(200);
  expect((await own.call('GET', '/contacts?limit=1')).body.total).toBe(before);
  const { result } = await imported(file, { mapping });
  expect(counts(told.body)).toEqual(counts(result));
  expect(told.body.updatedCount).toBeGreaterThan(0);
  expect(told.body.unchangedCount).toBeGreaterThan(0);
  expect(told.body.resubscribedCount).toBeGreaterThan(0);
  expect(told.body.reasons['“score” is not a number']).toBeGreaterThan(0);
  expect(told.body.updates.length).toBe(20);
  expect(told.body.updates.some((update: { before: object }) => 'company' in update.before)).toBe(true);
  const again = await preview(file, { mapping });
  expect(again.body).toMatchObject({ createdCount: 0, failureCount: told.body.failureCount });
  expect(await database.db.rows(`select 1 from import_files where job_id like 'preview-%'`)).toEqual([]);
});

test('columns go where the mapping says, as the types it names, and others as without one', async () => {
  const file = [
    'Mail,Full name,Zip,Member,Since,Plan,Skipped',
    'ada@example.com,Ada,01067,yes,2026-02-28,pro,secret',
    'bob@example.com,Bob,10115,perhaps,2026-02-28,free,secret',
    'cleo@example.com,Cleo,20095,no,28.02.2026,free,secret',
  ].join('\n');
  const mapping = {
    mail: 'email',
    'full NAME ': 'data.fullName',
    Zip: { field: 'data.zip', type: 'text' },
    member: { field: 'data.member', type: 'boolean' },
    Since: { field: 'data.since', type: 'date' },
    Skipped: null,
  };
  const { result } = await imported(file, { mapping });
  expect(result).toMatchObject({ createdCount: 1, failureCount: 2 });
  expect(result.reasons).toEqual({
    '“member” is not yes or no': 1,
    '“since” is not a date like 2026-11-30': 1,
  });
  expect((await contact('ada@example.com')).data).toEqual({
    fullName: 'Ada',
    zip: '01067',
    member: true,
    since: '2026-02-28',
    plan: 'pro',
  });
});

test('the contacts of an import join a segment that there is, or a new one, with their events', async () => {
  const segment = await own.segment({ name: 'Speakers', type: 'STATIC', trackMembership: true });
  await own.contact('ada@example.com');
  const file = 'email\nada@example.com\nnonsense\nBEN@example.com\nben@example.com\n';
  const job = await imported(file, { segmentId: segment.id });
  expect(job).toMatchObject({ state: 'completed', data: { segmentId: segment.id } });
  expect(await own.members(segment.id)).toEqual(['ada@example.com', 'ben@example.com']);
  expect(await own.told(segment.id)).toHaveLength(2);
  expect(await own.memberCount(segment.id)).toBe(2);
  const second = await imported(file, { segmentName: ' From the fair ' });
  const made = (await own.call('GET', `/segments/${second.data.segmentId}`)).body;
  expect(made).toMatchObject({ name: 'From the fair', type: 'STATIC', memberCount: 2 });
});

test('a segment that takes nobody by hand or is unknown refuses the import, and one that goes away ends it', async () => {
  const file = 'email\nada@example.com\n';
  const dynamic = await own.segment({ name: 'Pros', condition: allOf(dataIs('plan', 'pro')) });
  const theirs = await segmentHand(api, database, await aProject(database)).segment({ name: 'T', type: 'STATIC' });
  expect((await post('/contacts/import', file, { segmentId: dynamic.id })).status).toBe(400);
  expect((await post('/contacts/import', file, { segmentId: theirs.id })).status).toBe(404);
  expect((await post('/contacts/import', file, { segmentId: 'speakers' })).status).toBe(422);
  expect(await database.db.rows('select 1 from import_files')).toEqual([]);
  const jobId = `import-${newId()}`;
  await database.db.count('insert into import_files (job_id, part, bytes) values ($1, 0, $2)', [
    jobId,
    Buffer.from(file),
  ]);
  await database.db.count(`insert into jobs (id, project_id, kind, spec) values ($1, $2, 'import', $3)`, [
    jobId,
    project.id,
    JSON.stringify({ projectId: project.id, filename: 'list.csv', segmentId: newId() }),
  ]);
  const { importRows } = await import('../../../src/imports/import.ts');
  const share = { stop: new AbortController().signal, longestMs: 1_000, onStep() {} };
  await importRows(database.db, jobId, share, []);
  expect((await own.call('GET', `/contacts/import/${jobId}`)).body).toMatchObject({
    state: 'failed',
    failedReason: 'The segment of the import was deleted while it ran',
  });
  expect(await contact('ada@example.com')).toBeUndefined();
});

test.each<[string, unknown]>([
  ['no JSON', 'Mail to email'],
  ['a list', ['email']],
  ['a field that there is not', { mail: 'plan' }],
  ['a reserved key', { mail: 'data.__proto__' }],
  ['a type that there is not', { mail: { field: 'data.x', type: 'money' } }],
])('a mapping that is %s is refused by its name', async (_, mapping) => {
  for (const path of ['/contacts/import', '/contacts/import/preview']) {
    const { status, body } = await post(path, 'mail\nada@example.com\n', { mapping });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('mapping');
  }
});

test('a preview says why a file cannot be imported', async () => {
  const refused = async (content: string, mapping?: unknown) => {
    const { status, body } = await preview(content, mapping === undefined ? {} : { mapping });
    expect(status).toBe(422);
    return body.error.errors[0].message;
  };
  expect(await refused('name\nAda\n')).toContain('The file has no column "email"');
  expect(await refused('email,b\nada@example.com,1\n', { c: null })).toContain('The file has no column "c"');
  expect(await refused('email\n')).toContain('The file has a header but no data row');
  expect(await database.db.rows(`select 1 from import_files where job_id like 'preview-%'`)).toEqual([]);
});

test('matchFields puts columns into the fields that they match, and keeps the case of new ones', async () => {
  await own.call('POST', '/contacts', {
    email: 'known@example.com',
    data: { firstName: 'Ada', last_name: 'Byron', score: 1, Score_: 2 },
  });
  const file = 'Email,First Name,LASTNAME,Favorite Color,SCORE,subscribed\nnew@example.com,Grace,Hopper,green,9,no\n';
  const shown = await preview(file, { matchFields: 'true' });
  expect(shown.body).toMatchObject({ createdCount: 1, failureCount: 0 });
  await imported(file, { matchFields: 'true' });
  expect(await contact('new@example.com')).toMatchObject({
    subscribed: false,
    // Two fields are like "SCORE", so it is imported as without matching.
    data: { firstName: 'Grace', last_name: 'Hopper', 'Favorite Color': 'green', score: 9 },
  });
  // A column that the mapping names is what the mapping says, and without matching every name is in lower case.
  await imported(file, { matchFields: 'true', mapping: { 'first name': 'data.given', 'favorite color': null } });
  expect((await contact('new@example.com')).data).toMatchObject({ given: 'Grace', firstName: 'Grace' });
  await imported('email,Nick Name\nplain@example.com,Ada\n');
  expect((await contact('plain@example.com')).data).toEqual({ 'nick name': 'Ada' });
  const { status, body } = await post('/contacts/import', file, { matchFields: 'yes' });
  expect([status, body.error.errors[0].field]).toEqual([422, 'matchFields']);
});

test('new contacts are subscribed only if their row says so with subscribeNew=false, and keep the source of their consent', async () => {
  await own.call('POST', '/contacts', { email: 'left@example.com', subscribed: false });
  await own.call('POST', '/contacts', { email: 'here@example.com', subscribed: true });
  const file = [
    'email,newsletter,plan',
    'silent@example.com,,pro',
    'yes@example.com,yes,pro',
    'no@example.com,no,pro',
    'left@example.com,yes,pro',
    'here@example.com,yes,pro',
    // A repeated address decides anew.
    'later@example.com,,pro',
    'later@example.com,yes,pro',
  ].join('\n');
  const options = { mapping: { newsletter: 'subscribed' }, subscribeNew: 'false', consentSource: ' Fair, Berlin ' };
  const told = await preview(file, options);
  expect(told.body).toMatchObject({
    createdCount: 4,
    updatedCount: 3,
    repeatedCount: 1,
    repeatedUpdatedCount: 1,
    newSubscribedCount: 2,
    resubscribedCount: 1,
    unsubscribedCount: 0,
    failureCount: 0,
  });
  expect(told.body.updates).toContainEqual(
    expect.objectContaining({
      email: 'left@example.com',
      subscribed: true,
      after: { plan: 'pro', consentSource: 'Fair, Berlin' },
    }),
  );
  const job = await imported(file, options);
  expect(job.data).toEqual({
    projectId: project.id,
    filename: 'list.csv',
    subscribeNew: false,
    consentSource: 'Fair, Berlin',
  });
  expect(counts(told.body)).toEqual(counts(job.result));
  const consented = { plan: 'pro', consentSource: 'Fair, Berlin' };
  for (const [email, subscribed, data] of [
    ['silent@example.com', false, { plan: 'pro' }],
    ['yes@example.com', true, consented],
    ['no@example.com', false, { plan: 'pro' }],
    ['left@example.com', true, consented],
    ['here@example.com', true, { plan: 'pro' }],
    ['later@example.com', true, consented],
  ] as const)
    expect([email, await contact(email)]).toEqual([email, expect.objectContaining({ subscribed, data })]);
  expect((await preview(file, options)).body).toMatchObject({ updatedCount: 0, newSubscribedCount: 0 });
});

test('without subscribeNew new contacts are subscribed, and a column consentSource takes the place of the option', async () => {
  const file = 'email,consentSource\nada@example.com,Paper form\nben@example.com,\n';
  const options = { matchFields: 'true', consentSource: 'Fair' };
  expect((await preview(file, options)).body).toMatchObject({ createdCount: 2, newSubscribedCount: 2 });
  await imported(file, options);
  expect(await contact('ada@example.com')).toMatchObject({ subscribed: true, data: { consentSource: 'Paper form' } });
  expect(await contact('ben@example.com')).toMatchObject({ subscribed: true, data: {} });
  const refusals: [string, Options][] = [
    ['subscribeNew', { subscribeNew: 'yes' }],
    ['consentSource', { consentSource: 'x'.repeat(201) }],
    ['consentSource', { consentSource: '  ' }],
  ];
  for (const [field, wrong] of refusals)
    for (const path of ['/contacts/import', '/contacts/import/preview']) {
      const { status, body } = await post(path, file, wrong);
      expect([status, body.error.errors[0].field]).toEqual([422, field]);
    }
});
