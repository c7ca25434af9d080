import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type Audience, audienceFile, importInMemory } from '../support/audience-model.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import { jobDone, uploaded } from '../support/uploads.ts';

let database: TestDatabase;
let api: TestApi;
let queuePrefix: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  queuePrefix = api.config.TEMPORAL_TASK_QUEUE;
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const finished = (project: TestProject, jobId: string) => jobDone(api, project, `/contacts/import/${jobId}`);

/** A worker process that comes to a stop in the middle of a job and is then killed as by the kernel. */
async function killedInTheMiddle(
  stopAt: 'before-commit' | 'after-commit',
  start: () => Promise<string>,
): Promise<string> {
  const child = fork(
    fileURLToPath(new URL('../support/job-worker.ts', import.meta.url)),
    [database.url, inject('temporalAddress'), queuePrefix, stopAt],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const exited = once(child, 'exit');
  expect((await once(child, 'message'))[0]).toBe('ready');
  const jobId = await start();
  expect((await once(child, 'message'))[0]).toBe('there');
  child.kill('SIGKILL');
  expect((await exited)[1]).toBe('SIGKILL');
  return jobId;
}

const servingJobs = () => jobsWorker(database, { queuePrefix });

async function stored(project: TestProject): Promise<Audience> {
  const rows = await database.db.rows<{ email: string; subscribed: boolean; data: Record<string, string> }>(
    'select email, subscribed, data from contacts where project_id = $1',
    [project.id],
  );
  return new Map(rows.map(({ email, subscribed, data }) => [email, { subscribed, data }]));
}

async function flipEvents(project: TestProject) {
  const rows = await database.db.rows<{ email: string; name: string }>(
    `select c.email, e.name from events e join contacts c on c.id = e.contact_id
     where e.project_id = $1 order by e.created_at, e.id`,
    [project.id],
  );
  return rows.map(({ email, name }) => ({ email, subscribed: name === 'contact.subscribed' }));
}

// The column that says whether somebody wants mail carries another name in this export. Renamed, it flips people who
// stand in the list twice.
const list = audienceFile.toString('utf8');
const withSubscriptions = list.replace('Newsletter', 'Subscribed');

describe.each(['before-commit', 'after-commit'] as const)('a worker killed %s of a slice', (stopAt) => {
  test('leaves an import that goes on exactly where it was, and tells the same numbers as an undisturbed one', async () => {
    const project = await aProject(database, 'Killed');
    const neighbour = await aProject(database, 'Undisturbed');
    const audience: Audience = new Map();
    const expected = importInMemory(audience, withSubscriptions, 'email address');
    expect(expected.createdCount).toBeGreaterThan(1_000);
    expect(expected.updatedCount).toBeGreaterThan(20);
    expect(expected.failureCount).toBeGreaterThan(10);
    expect(expected.flips.length).toBeGreaterThan(0);

    const jobId = await killedInTheMiddle(stopAt, () => uploaded(api, project, withSubscriptions));
    const halfway = await api.call(project.secretKey, 'GET', `/contacts/import/${jobId}`);
    expect(halfway.body).toMatchObject({ state: 'active', result: null, failedReason: null });
    const begun = await database.db.row<{ rows: number }>('select total_count as rows from jobs where id = $1', [
      jobId,
    ]);
    expect(begun?.rows).toBe(stopAt === 'before-commit' ? 1_000 : 2_000);

    await using _worker = await servingJobs();
    const other = finished(neighbour, await uploaded(api, neighbour, withSubscriptions));
    const first = await finished(project, jobId);
    expect(first).toMatchObject({ state: 'completed', progress: 100, failedReason: null });
    expect(first.result).toEqual(resultOf(expected));
    expect((await other).result).toEqual(resultOf(expected));
    expect(await stored(project)).toEqual(audience);
    expect(await stored(neighbour)).toEqual(audience);
    const byAddress = (flips: { email: string }[]) => flips.toSorted((one, two) => (one.email < two.email ? -1 : 1));
    expect(byAddress(await flipEvents(project))).toEqual(byAddress(expected.flips));
    expect(byAddress(await flipEvents(neighbour))).toEqual(byAddress(expected.flips));

    const again = importInMemory(audience, withSubscriptions, 'email address');
    expect(again.createdCount).toBe(0);
    expect(again.unchangedCount).toBeGreaterThan(1_000);
    const second = await finished(project, await uploaded(api, project, withSubscriptions));
    expect(second.result).toEqual(resultOf(again));
    expect(await stored(project)).toEqual(audience);
    expect(await flipEvents(project)).toHaveLength(expected.flips.length + again.flips.length);
    expect(await stored(neighbour)).toHaveProperty('size', audience.size);
  });
});

const texts = { missing: 'No email address', malformed: 'Not a valid email address' };

function resultOf({ failures, flips: _, ...counts }: ReturnType<typeof importInMemory>) {
  const reasons: Record<string, number> = {};
  for (const { fault } of failures) reasons[texts[fault]] = (reasons[texts[fault]] ?? 0) + 1;
  return {
    ...counts,
    successCount: counts.createdCount + counts.updatedCount + counts.unchangedCount,
    errors: failures.map(({ row, email, fault }) => ({ row, email, error: texts[fault] })),
    reasons,
  };
}
