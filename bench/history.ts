import { foldContactChanges } from '../src/contacts/catalogue-queries.ts';
import type { Database } from '../src/store/sql.ts';
import { aList, importFile } from './import.ts';
import { startChild } from './support/child.ts';
import { countingFolds, setHistory } from './support/counting-only.ts';
import { runLoad } from './support/load.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { type BenchWorld, benchWorld } from './support/world.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 8);
const fileBytes = Number(process.env.BENCH_FILE_MB ?? 5) * 1024 * 1024;

/** By what was done, for each round: microseconds of processor time, and bytes of write-ahead log, which other work on the machine leaves alone. */
type Costs = Map<string, Cost[]>;
interface Cost {
  micros: number;
  walBytes: number;
}

/**
 * Measures the cost of the history of contacts: processor time of Postgres and of the process that writes, with the triggers as they are and with
 * those that only counted, in alternation. Processor time, because seconds are shared with whatever else the machine does.
 */
export async function benchHistory(): Promise<void> {
  await using world = await benchWorld();
  const costs = { counting: new Map() as Costs, history: new Map() as Costs };
  const env = {
    ...process.env,
    DATABASE_URL: world.config.DATABASE_URL ?? '',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    RATE_LIMIT_PER_MINUTE: '100000000',
    LOG_LEVEL: 'fatal',
  };
  const api = await startChild('./api-process.ts', [], env);
  console.log(`\nHistory: ${rounds} rounds, ${seconds} s of /v1/track, files of ${fileBytes / 1024 / 1024} MB`);
  try {
    for (let round = 0; round < rounds; round++)
      for (const kind of round % 2 === 0 ? (['counting', 'history'] as const) : (['history', 'counting'] as const)) {
        await setHistory(world.db, kind === 'history');
        await imports(world, kind === 'history' ? world.db : countingFolds(world.db), costs[kind]);
        await tracks(world, api, costs[kind]);
      }
  } finally {
    api.child.kill();
  }
  for (const [name, counting] of costs.counting) tell(name, counting, costs.history.get(name) ?? []);
}

async function imports({ db, project }: BenchWorld, folding: Database, costs: Costs): Promise<void> {
  const [first, second] = [aList(fileBytes, 0), aList(fileBytes, 1)];
  await empty(db);
  const steps = [
    ['new contacts', first],
    ['two values of each changed', second],
  ] as const;
  for (const [name, file] of steps) {
    await note(costs, `import, ${name}`, [process.pid], db, async () => {
      await importFile(db, project.projectId, file);
      return file.rows;
    });
    let changes = 0;
    await note(costs, `fold, ${name}`, [], db, async () => {
      changes = await foldContactChanges(folding, project.projectId);
      // Counting alone notes a change as two rows: the unit is a row of the file.
      return file.rows;
    });
    if (changes === 0) throw new Error('Nothing was folded');
    await db.rows('vacuum contacts, contact_changes');
  }
}

async function tracks({ db, project }: BenchWorld, api: Awaited<ReturnType<typeof startChild>>, costs: Costs) {
  await empty(db);
  const order = {
    url: api.url,
    path: '/v1/track',
    authorization: `Bearer ${project.publicKey}`,
    kind: 'track',
    from: '',
    connections: 50,
  } as const;
  await runLoad({ ...order, seconds: 1 });
  await note(costs, '/v1/track, a tenth of which changes data', [api.child.pid ?? 0], db, async () => {
    const { requests } = await runLoad({ ...order, seconds });
    return requests;
  });
  await foldContactChanges(db, project.projectId);
}

async function empty(db: Database): Promise<void> {
  await db.rows(
    `truncate contacts, contact_history, events, contact_changes, contact_totals, contact_fields, contact_field_values, jobs, import_files
     cascade`,
  );
}

/** Adds what `work` cost for each of the units that it answers. */
async function note(
  costs: Costs,
  name: string,
  pids: readonly number[],
  db: Database,
  work: () => Promise<number>,
): Promise<void> {
  const walBefore = await walPosition(db);
  const before = await cpu(db, pids);
  const units = await work();
  const micros = (1e6 * ((await cpu(db, pids)) - before)) / units;
  const walBytes = ((await walPosition(db)) - walBefore) / units;
  costs.set(name, [...(costs.get(name) ?? []), { micros, walBytes }]);
}

/** Bytes that were written to the write-ahead log since the database was made. */
async function walPosition(db: Database): Promise<number> {
  const row = await db.row<{ bytes: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
  );
  return Number(row?.bytes);
}

/** Seconds of processor time of Postgres and of processes. Of this one without Postgres, which it has started. */
async function cpu(db: Database, pids: readonly number[]): Promise<number> {
  const { Postgres = 0 } = await cpuOfServers(db);
  const { user, system } = process.cpuUsage();
  const own = (pid: number) => (pid === process.pid ? (user + system) / 1e6 : cpuOfTree(pid));
  return pids.reduce((sum, pid) => sum + own(pid), Postgres);
}

function tell(name: string, counting: readonly Cost[], history: readonly Cost[]): void {
  const compare = (what: keyof Cost, unit: string) => {
    const [one, other] = [counting, history].map((costs) => costs.map((cost) => cost[what]));
    const shown = (values: readonly number[] = []) =>
      `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
    const ratio = (median(other ?? []) / median(one ?? [])).toFixed(2);
    console.log(`  ${name.padEnd(44)} counting ${shown(one)}   history ${shown(other)} ${unit}   ratio ${ratio}`);
  };
  compare('micros', 'µs');
  compare('walBytes', 'bytes of log');
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (import.meta.main) await benchHistory();
