import { connect } from 'node:net';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recoverableJobs } from '../../../src/imports/service.ts';
import { newId } from '../../../src/lib/ids.ts';
import { isOpen } from '../../../src/store/outbox/calls.ts';
import { createRecovery } from '../../../src/store/outbox/recovery.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { audienceFile, importInMemory } from '../../support/audience-model.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { jobDone, upload, uploaded } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
let project: TestProject;
const megabyte = 1024 * 1024;

beforeAll(async () => {
  database = await testDatabase();
  worker = await jobsWorker(database);
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

async function imported(content: string | Uint8Array, owner = project) {
  return jobDone(api, owner, `/contacts/import/${await uploaded(api, owner, content)}`);
}
async function contact(email: string, owner = project) {
  const { body } = await api.call(owner.secretKey, 'GET', `/contacts?search=${encodeURIComponent(email)}&limit=1`);
  return body.data[0];
}
/** Parts of files that no job owns, or whose job is over. */
const storedParts = () =>
  database.db.rows(
    `select job_id from import_files f
     where not exists (select from jobs j where j.id = f.job_id and j.finished_at is null)`,
  );
const jobCount = async () => (await database.db.row<{ n: number }>('select count(*)::int as n from jobs'))?.n;

describe('what a file says', () => {
  test('cells get their types, columns their keys, and every row its fate', async () => {
    const own = await aProject(database);
    const file = [
      '\ufeff"Email" , First Name ,Subscribed,ID,createdAt,Plan,plan,Number,Flag,Zip,Big,Day,,Locale,__proto__,Note',
      ' ADA@Example.com ,Ada,YES,77,2020-01-01,,pro,-0.50,no,007,9007199254740993,2025-08-07,x,5,evil,"=1+1"',
      'grace@example.com, Grace Hopper ,0',
      '',
      'not-an-address,Bob',
      ',Nobody,true',
      'alan@example.com,"Alan ""T"" Turing\r\nand, two lines",maybe,,,free,,1e5,Yes,+4,1.10,,,de,,<b>bold</b>,more,cells',
      'ada@example.com,Ada,,,,,,-0.5',
      'ada@example.com,Augusta,false',
    ].join('\r\n');
    const job = await imported(file, own);
    expect(job).toEqual({
      id: job.id,
      state: 'completed',
      progress: 100,
      failedReason: null,
      data: { projectId: own.id, filename: 'list.csv' },
      result: {
        totalRows: 7,
        successCount: 5,
        createdCount: 3,
        updatedCount: 1,
        unchangedCount: 1,
        failureCount: 2,
        errors: [
          { row: 5, email: 'not-an-address', error: 'Not a valid email address' },
          { row: 6, email: null, error: 'No email address' },
        ],
        reasons: { 'Not a valid email address': 1, 'No email address': 1 },
      },
    });
    expect(await contact('ada@example.com', own)).toMatchObject({
      subscribed: false,
      data: {
        'first name': 'Augusta',
        plan: 'pro',
        number: -0.5,
        flag: false,
        zip: '007',
        big: '9007199254740993',
        day: '2025-08-07',
        locale: '5',
        note: '=1+1',
      },
    });
    expect((await contact('ada@example.com', own)).data).not.toHaveProperty('id');
    expect(Object.keys((await contact('ada@example.com', own)).data)).toHaveLength(9);
    expect(await contact('grace@example.com', own)).toMatchObject({
      subscribed: false,
      data: { 'first name': 'Grace Hopper' },
    });
    expect(await contact('alan@example.com', own)).toMatchObject({
      subscribed: false,
      data: {
        'first name': 'Alan "T" Turing\r\nand, two lines',
        plan: 'free',
        number: '1e5',
        flag: true,
        zip: '+4',
        big: 1.1,
        locale: 'de',
        note: '<b>bold</b>',
      },
    });
    const events = await database.db.rows<{ name: string }>(
      'select name from events where project_id = $1 order by name',
      [own.id],
    );
    expect(events.map(({ name }) => name)).toEqual(['contact.unsubscribed', 'import.finished']);
    const { body } = await api.call(own.secretKey, 'GET', '/contacts/fields');
    expect(body.fields).toContainEqual({ field: 'data.day', type: 'date', isCustom: true, coverage: 33 });
  });

  test('the list of a mailing tool is taken as it is', async () => {
    const expected = importInMemory(new Map(), audienceFile.toString('utf8'), 'email address');
    const { result } = await imported(audienceFile);
    expect(result).toMatchObject({
      totalRows: 2_000,
      createdCount: expected.createdCount,
      updatedCount: expected.updatedCount,
      unchangedCount: expected.unchangedCount,
      failureCount: expected.failureCount,
    });
    expect(result.errors.map(({ row }: { row: number }) => row)).toEqual(expected.failures.map(({ row }) => row));
    expect(await storedParts()).toEqual([]);
  });

  test('a known contact is left alone where the file says nothing of it', async () => {
    await api.call(project.secretKey, 'POST', '/contacts', {
      email: 'known@example.com',
      subscribed: false,
      data: { plan: 'pro', score: 5 },
    });
    const { result } = await imported('email,plan,score\nknown@example.com,,\nnew@example.com,free,1');
    expect(result).toMatchObject({ createdCount: 1, updatedCount: 0, unchangedCount: 1 });
    expect(await contact('known@example.com')).toMatchObject({ subscribed: false, data: { plan: 'pro', score: 5 } });
    expect(await contact('new@example.com')).toMatchObject({ subscribed: true });
  });

  test('more bad rows than are kept are still counted', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => (index % 2 ? `bad ${index}` : `good${index}@example.net`));
    const { result } = await imported(`email\n${rows.join('\n')}\n`);
    expect(result).toMatchObject({ totalRows: 2_500, createdCount: 1_250, failureCount: 1_250 });
    expect(result.errors).toHaveLength(1_000);
    expect(result.reasons).toEqual({ 'Not a valid email address': 1_250 });
    expect(result.errors[999]).toEqual({ row: 2_001, email: 'bad 1999', error: 'Not a valid email address' });
  });

  test('one address on every row is one contact that has seen them all', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `same@example.net,${index % 2},${index}`);
    const { result } = await imported(`email,subscribed,n\n${rows.join('\n')}`);
    expect(result).toMatchObject({ totalRows: 300, createdCount: 1, updatedCount: 299 });
    const { id, data } = await contact('same@example.net');
    expect(data).toEqual({ n: 299 });
    const flips = await database.db.rows('select 1 from events where contact_id = $1', [id]);
    expect(flips).toHaveLength(299);
  });

  test('quotes that are never closed cost one row', async () => {
    const { result } = await imported(
      'email,note\nfine@example.net,ok\nbroken@example.net,"never closed\nlast@example.net,x\n',
    );
    expect(result).toMatchObject({ totalRows: 2, createdCount: 1, failureCount: 1 });
    expect(result.errors).toEqual([{ row: 3, email: null, error: 'A cell in quotes is never closed' }]);
  });

  test('U+0000 is refused by row', async () => {
    const { result } = await imported('email,note\nnul@example.net,a\0b\nok@example.net,x');
    expect(result).toMatchObject({ createdCount: 1, failureCount: 1 });
    expect(result.errors[0]).toMatchObject({ row: 2, email: 'nul@example.net' });
  });
});

describe('files that fail as a whole', () => {
  test.each([
    ['no column with addresses', 'name,plan\nAda,pro\n', /no column "email".*name, plan/],
    ['a header alone', 'email,plan\r\n', /no data row/],
    ['nothing', '', /empty/],
    ['blank lines', '\n\n\n', /no header/],
    ['a header of megabytes', `email,${'name'.repeat(megabyte)}\nada@example.com,x\n`, /header is longer than 256 kB/],
    [
      'very many columns',
      `email${',a'.repeat(2_000)}\nada@example.com\n`,
      /header has 2001 columns; the most are 2000/,
    ],
    ['another encoding', Buffer.from('email,name\nzo\u00eb@example.net,Zo\u00eb\n', 'latin1'), /UTF-8/],
    ['no text at all', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]), /UTF-8/],
  ])('%s', async (_, content, reason) => {
    const job = await imported(content);
    expect(job).toMatchObject({ state: 'failed', result: null });
    expect(job.failedReason).toMatch(reason);
    expect(await storedParts()).toEqual([]);
  });
});

test('a project has one import under way in a process, and others of it wait outside of the worker', async () => {
  const own = await aProject(database);
  const segment = await api.call(own.secretKey, 'POST', '/segments', { name: 'Held', type: 'STATIC' });
  const csv = 'email\nada@example.net';
  const put = async () => {
    const form = new FormData();
    form.set('segmentId', segment.body.id);
    form.set('file', new Blob([csv], { type: 'text/csv' }), 'list.csv');
    const headers = { Authorization: `Bearer ${own.secretKey}` };
    const answer = await fetch(`${api.url}/contacts/import`, { method: 'POST', headers, body: form });
    return ((await answer.json()) as { jobId: string }).jobId;
  };
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`begin; select 1 from segments where id = '${segment.body.id}' for update`);
  const first = await put();
  const state = async (id: string) => (await api.call(own.secretKey, 'GET', `/contacts/import/${id}`)).body.state;
  await expect.poll(() => state(first)).toBe('active');
  const second = await put();
  const sleeps = async () => {
    const { events } = await worker.client.workflow.getHandle(workflowId.import(second)).fetchHistory();
    return (events ?? []).some(({ timerStartedEventAttributes: timer }) => timer !== null && timer !== undefined);
  };
  await expect.poll(sleeps).toBe(true);
  expect(await state(second)).toBe('waiting');
  // Somebody else's goes on meanwhile.
  expect(await imported(csv, await aProject(database))).toMatchObject({ state: 'completed' });
  await holder.end();
  for (const id of [first, second])
    expect(await jobDone(api, own, `/contacts/import/${id}`)).toMatchObject({ state: 'completed' });
});

describe('uploads that are refused', () => {
  const csv = 'email\nada@example.com\n';

  test.each([
    ['no part of the right name', { content: csv, part: 'csv' }],
    ['neither the type nor the name of a CSV', { content: csv, name: 'list.xlsx', type: 'application/octet-stream' }],
  ])('%s is a bare 400', async (_, file) => {
    const before = await jobCount();
    const answer = await upload(api, project, file);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.any(String) });
    expect([await jobCount(), await storedParts()]).toEqual([before, []]);
  });

  test('either the type or the name is enough', async () => {
    const type = 'application/vnd.ms-excel';
    expect((await upload(api, project, { content: csv, name: 'LIST.CSV', type })).status).toBe(202);
    expect((await upload(api, project, { content: csv, name: 'list' })).status).toBe(202);
  });

  test('a body that is no multipart is a bare 400', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/contacts/import', { file: csv });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringContaining('multipart') }]);
  });

  test('a multipart body that breaks off is a 400 and leaves nothing', async () => {
    const answer = await fetch(`${api.url}/contacts/import`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${project.secretKey}`, 'Content-Type': 'multipart/form-data; boundary=x' },
      body: `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nemail\nada@`,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'INVALID_REQUEST_BODY' } });
    expect(await storedParts()).toEqual([]);
  });

  test('5 MB are taken, one byte more is a 413 that names the limit and leaves nothing', async () => {
    const before = await jobCount();
    const row = 'someone@example.com,xxxxxxxxxx\n';
    const full = Buffer.from(`email,note\n${row.repeat(Math.ceil((5 * megabyte) / row.length))}`).subarray(
      0,
      5 * megabyte,
    );
    const answer = await upload(api, project, { content: Buffer.concat([full, Buffer.from('x')]) });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(answer.body.error.details).toEqual({ limitBytes: 5 * megabyte });
    expect([await jobCount(), await storedParts()]).toEqual([before, []]);
    // Nobody serves the queue of this one: what matters is that the file is taken.
    await using idle = await testApi(database);
    expect((await upload(idle, await aProject(database), { content: full })).status).toBe(202);
  });

  test('a caller who hangs up leaves nothing', async () => {
    const before = await jobCount();
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST /contacts/import HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${project.secretKey}\r\n` +
        'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 4000000\r\n\r\n' +
        `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${'email\n'.repeat(100_000)}`,
    );
    await expect.poll(async () => (await storedParts()).length).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(storedParts).toEqual([]);
    expect(await jobCount()).toBe(before);
  });

  test('an upload needs a key', async () => {
    const answer = await upload(api, { ...project, secretKey: 'sk_unknown' }, { content: csv });
    expect(answer.status).toBe(401);
  });
});

describe('jobs', () => {
  test('are known to their own project and under their own kind only', async () => {
    const jobId = await uploaded(api, project, 'email\nmine@example.net\n');
    const stranger = await aProject(database);
    for (const [key, path] of [
      [stranger.secretKey, `/contacts/import/${jobId}`],
      [project.secretKey, `/contacts/bulk/${jobId}`],
      [project.secretKey, `/contacts/import/import-${newId()}`],
      [project.secretKey, '/contacts/import/nonsense'],
      [project.secretKey, '/contacts/import/%00'],
    ] as const) {
      const answer = await api.call(key, 'GET', path);
      expect([answer.status, answer.body]).toEqual([404, { error: expect.any(String) }]);
    }
    expect((await jobDone(api, project, `/contacts/import/${jobId}`)).state).toBe('completed');
  });

  test('wait while no worker is there, and tell nothing yet', async () => {
    await using idle = await testApi(database);
    const jobId = await uploaded(idle, project, 'email\nwaits@example.net\n');
    const { body } = await idle.call(project.secretKey, 'GET', `/contacts/import/${jobId}`);
    expect(body).toEqual({
      id: jobId,
      state: 'waiting',
      progress: 0,
      result: null,
      data: { projectId: project.id, filename: 'list.csv' },
      failedReason: null,
    });
  });

  test('an operator who cancels one ends it as failed, and what was done stays done', async () => {
    const paused = await testApi(database);
    const jobId = await uploaded(paused, project, 'email\ncancelled@example.net\n');
    await paused.close();
    // The execution of the API above stands in a queue that nobody serves; this one is told to stop at once.
    const start = { type: 'start', workflow: 'importContacts', id: `import/${jobId}`, input: { jobId } } as const;
    await worker.client.workflow
      .getHandle(start.id)
      .terminate('moved to another queue by the test')
      .catch(() => undefined);
    const handle = await worker.client.workflow.start('importContacts', {
      workflowId: `${start.id}/cancelled`,
      taskQueue: `${worker.queuePrefix}-bulk`,
      args: [{ jobId }],
      startDelay: '1 second',
    });
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ state: expect.stringMatching(/cancelled|finished/) });
    const job = await jobDone(api, project, `/contacts/import/${jobId}`);
    expect(job).toMatchObject({ state: 'failed', result: null, failedReason: 'Cancelled by an operator' });
  });

  test('go on when the Temporal store was lost', async () => {
    const jobId = `import-${newId()}`;
    await database.db.count('insert into import_files (job_id, part, bytes) values ($1, 0, $2)', [
      jobId,
      Buffer.from('email\nfound.again@example.net\n'),
    ]);
    await database.db.count(
      `insert into jobs (id, project_id, kind, spec, updated_at) values ($1, $2, 'import', $3::jsonb, now() - interval '10 minutes')`,
      [jobId, project.id, JSON.stringify({ projectId: project.id, filename: 'lost.csv' })],
    );
    const started: Promise<unknown>[] = [];
    const deps = {
      db: database.db,
      isOpen: (id: string) => isOpen(worker.temporal, id),
      dispatchSoon: () => api.app.outbox.dispatchDue(100).then(() => undefined),
    };
    const recover = createRecovery(
      { ...deps, dispatchSoon: () => void started.push(deps.dispatchSoon()) },
      recoverableJobs,
    );
    expect(await recover()).toBe(1);
    await Promise.all(started);
    expect((await jobDone(api, project, `/contacts/import/${jobId}`)).result).toMatchObject({ createdCount: 1 });
    expect(await recover()).toBe(0);
  });

  test('a project that is deleted takes its jobs along', async () => {
    const doomed = await aProject(database);
    await using idle = await testApi(database);
    const jobId = await uploaded(idle, doomed, 'email\ngone@example.net\n');
    await database.db.count('delete from projects where id = $1', [doomed.id]);
    const handle = await worker.client.workflow.start('importContacts', {
      workflowId: `import/${jobId}/gone`,
      taskQueue: `${worker.queuePrefix}-bulk`,
      args: [{ jobId }],
    });
    expect(await handle.result()).toMatchObject({ state: 'gone' });
    expect(await database.db.rows('select 1 from contacts where project_id = $1', [doomed.id])).toEqual([]);
  });
});
