import { Client } from 'pg';
import { pino } from 'pino';
import { jobActivities } from '../activities/jobs.ts';
import { foldContactChanges } from '../src/contacts/catalogue-queries.ts';
import { partBytes, storePart } from '../src/imports/csv.ts';
import { importRows } from '../src/imports/import.ts';
import { findJob, insertJob } from '../src/imports/queries.ts';
import { readConfig } from '../src/lib/config/config.ts';
import { newId } from '../src/lib/ids.ts';
import { startApi } from '../src/main/api/api-runtime.ts';
import { createFirstProject, type FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { createLogger } from '../src/main/setup/process.ts';
import { temporalSettings } from '../src/main/temporal/temporal-server.ts';
import { installTemporalRuntime, runTemporalWorkers } from '../src/main/worker/temporal-workers.ts';
import { workflowBundle } from '../src/main/worker/workflow-bundle.ts';
import type { Database } from '../src/store/sql.ts';
import { taskQueue } from '../temporal/commands.ts';
import { openTemporal } from '../temporal/connection.ts';
import { prepareNamespace } from '../temporal/setup.ts';
import { testSimulations } from '../test/support/jobs.ts';
import { copyFrom } from './support/copy.ts';
import { benchServices, benchStore } from './support/services.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const largest = 5 * 1024 * 1024;

/** A CSV file as it is uploaded. */
export interface CsvFile {
  bytes: Buffer;
  rows: number;
}

/** A list as tools export it, of up to `bytes`; about one address in fifty comes twice, in other letter case. */
export function aList(bytes: number, seed: number): CsvFile {
  const lines = ['email,first name,last name,company,plan,score,signed up,newsletter'];
  let size = (lines[0]?.length ?? 0) + 1;
  for (let row = 0; ; row++) {
    const who = row % 50 === 49 ? row - 7 : row;
    const email = `person.${who}@kunde.example`;
    const line = [
      row % 50 === 49 ? email.toUpperCase() : email,
      `Name ${who % 5_000}`,
      `Family ${who % 3_001}`,
      row % 4 === 0 ? `"Company ${who}, Ltd."` : '',
      ['free', 'pro', 'team', 'enterprise'][(who + seed) % 4],
      (who * 7 + seed) % 1_000,
      `2025-0${1 + (who % 9)}-1${who % 10}`,
      who % 3 === 0 ? '' : who % 2 === 0,
    ].join(',');
    if (size + line.length + 1 > bytes) return { bytes: Buffer.from(`${lines.join('\n')}\n`), rows: row };
    lines.push(line);
    size += line.length + 1;
  }
}

/** Rows a second of imports, each as a ratio to a bare COPY and merge of the same file in the same run. */
export async function benchImport(): Promise<void> {
  await using services = await benchServices({ temporal: true });
  const config = readConfig({
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    TEMPORAL_TASK_QUEUE: `bench-${process.pid}`,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  });
  const project = await createFirstProject(config);
  if (project === null) throw new Error('The database of a benchmark must be empty');
  await using store = await benchStore(services.databaseUrl, 4);
  const db = store.db;
  const client = new Client({ connectionString: services.databaseUrl });
  await client.connect();
  try {
    await rates(db, client, project, config);
    await memory(db, project);
  } finally {
    await client.end();
  }
}

type Side = 'floor' | 'ours' | 'whole';
type Config = ReturnType<typeof readConfig>;

async function rates(db: Database, client: Client, project: FirstProjectFacts, config: Config): Promise<void> {
  const [first, second] = [aList(largest, 0), aList(largest, 1)];
  console.log(`\nImport: ${first.rows} rows, ${(largest / 1024 / 1024).toFixed(0)} MB, ${rounds} rounds`);
  await using whole = await wholePath(config, project, db);
  const steps = [
    ['into an empty project', first],
    ['again, nothing changed', first],
    ['again, every plan and score changed', second],
  ] as const;
  const times = new Map<string, number[]>();
  const sides: Side[] = ['floor', 'ours', 'whole'];
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < sides.length; turn++) {
      const side = sides[(turn + round) % sides.length] as Side;
      // Everybody starts from an empty table with indexes as small as they were.
      await db.rows(
        'truncate contacts, events, contact_changes, contact_totals, contact_fields, contact_field_values, jobs, import_files cascade',
      );
      for (const [step, file] of steps) {
        const began = performance.now();
        if (side === 'floor') await copyAndMerge(client, project.projectId, file);
        else if (side === 'ours') await importFile(db, project.projectId, file);
        else await whole.import(file);
        const key = `${step}/${side}`;
        times.set(key, [...(times.get(key) ?? []), performance.now() - began]);
        await foldContactChanges(db, project.projectId);
        await db.rows('vacuum contacts');
      }
    }
  }
  for (const [step, { rows }] of steps) {
    const rate = (side: Side) => rows / (median(times.get(`${step}/${side}`) ?? []) / 1_000);
    const line = (name: string, side: Side) =>
      console.log(
        `  ${name.padEnd(46)} ${rate(side).toFixed(0).padStart(8)} rows/s   ratio ${(rate(side) / rate('floor')).toFixed(2)}${side === 'floor' ? '' : ' (goal 0.6)'}`,
      );
    console.log(` ${step}`);
    line('floor: COPY and merge', 'floor');
    line('the import itself', 'ours');
    line('from the upload to "completed", with Temporal', 'whole');
  }
}

// As one would write it by hand for this very file: rows are not distinguished, nothing is recorded about fields.
async function copyAndMerge(client: Client, projectId: string, { bytes }: CsvFile): Promise<void> {
  await client.query('begin');
  await client.query('alter table contacts disable trigger user');
  await client.query(`create temporary table list (line bigserial, email text, first_name text, last_name text,
    company text, plan text, score text, signed_up text, newsletter text) on commit drop`);
  await copyFrom(
    client,
    `copy list (email, first_name, last_name, company, plan, score, signed_up, newsletter) from stdin with (format csv, header)`,
    bytes,
  );
  await client.query(
    `insert into contacts as c (id, project_id, email, subscribed, data)
     select distinct on (lower(trim(email))) uuidv7(), $1, lower(trim(email)), true, jsonb_strip_nulls(jsonb_build_object(
       'first name', first_name, 'last name', last_name, 'company', company, 'plan', plan, 'score', score::numeric,
       'signed up', signed_up, 'newsletter', newsletter::boolean))
     from list where email ~ '^[^@ ]+@[^@ ]+$' order by lower(trim(email)), line desc
     on conflict (project_id, email) do update set data = c.data || excluded.data, updated_at = now()
     where c.data || excluded.data <> c.data`,
    [projectId],
  );
  await client.query('alter table contacts enable trigger user');
  await client.query('commit');
}

/** Imports a file as the worker does, without Temporal. */
export async function importFile(db: Database, projectId: string, file: CsvFile): Promise<void> {
  const jobId = `import-${newId()}`;
  for (let part = 0; part * partBytes < file.bytes.length; part++)
    await storePart(db, jobId, part, file.bytes.subarray(part * partBytes, (part + 1) * partBytes));
  await insertJob(db.session(), { id: jobId, projectId, kind: 'import', spec: { projectId, filename: 'list.csv' } });
  const share = { stop: new AbortController().signal, longestMs: 600_000, onStep: () => undefined };
  const { state } = await importRows(db, jobId, share, []);
  const job = await findJob(db, jobId);
  if (state !== 'finished' || job?.total !== file.rows || job.failed > 0) throw new Error('The import went wrong');
}

interface WholePath extends AsyncDisposable {
  import(file: CsvFile): Promise<void>;
}

async function wholePath(config: Config, project: FirstProjectFacts, db: Database): Promise<WholePath> {
  installTemporalRuntime(pino({ level: 'silent' }), null);
  const temporal = openTemporal(temporalSettings(config));
  await prepareNamespace(temporal);
  const log = createLogger(config, 'worker');
  const workers = runTemporalWorkers({
    temporal,
    queues: [
      {
        taskQueue: taskQueue(config.TEMPORAL_TASK_QUEUE, 'bulk'),
        activities: jobActivities({
          db,
          log,
          stopping: new AbortController().signal,
          encryptionKeys: config.encryptionKeys,
          startsPerHour: 0,
          simulations: testSimulations,
          dispatchSoon() {},
        }),
        maxCachedWorkflows: 10,
        maxActivities: 4,
      },
    ],
    bundle: await workflowBundle(),
    sharesThread: config.TEMPORAL_SHARED_WORKFLOW_THREAD,
    log,
    interceptors: [],
  });
  const api = await startApi({ ...config, PORT: 0 }, log);
  await workers.ready;
  const headers = { authorization: `Bearer ${project.secretKey}` };
  return {
    async import({ bytes, rows }) {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(bytes)], { type: 'text/csv' }), 'list.csv');
      const queued = await fetch(`${api.url}/contacts/import`, { method: 'POST', headers, body: form });
      const { jobId } = (await queued.json()) as { jobId: string };
      for (;;) {
        const answer = await fetch(`${api.url}/contacts/import/${jobId}`, { headers });
        const job = (await answer.json()) as { state: string; result: { totalRows: number; failureCount: number } };
        if (job.state === 'failed') throw new Error('The import failed');
        if (job.state === 'completed') {
          if (job.result.totalRows !== rows || job.result.failureCount > 0) throw new Error('The import went wrong');
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async [Symbol.asyncDispose]() {
      await api.close();
      await workers.stop();
      await temporal.close();
    },
  };
}

/** How far memory rises above its level before, for a small file, the largest that is taken, and one that is not. */
async function memory(db: Database, project: FirstProjectFacts): Promise<void> {
  console.log(' memory of the process during an import, above what it was before');
  for (const bytes of [largest / 5, largest, largest * 4]) {
    const file = aList(bytes, 2);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 5);
    await importFile(db, project.projectId, file);
    clearInterval(watch);
    console.log(
      `  ${(bytes / 1024 / 1024).toFixed(1)} MB, ${file.rows} rows: ${((most - before) / 1024 / 1024).toFixed(0)} MB`,
    );
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (import.meta.main) await benchImport();
