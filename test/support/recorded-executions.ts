import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { migrateDatabase } from '../../src/store/migrate.ts';

/** Executions that an earlier release recorded, with all that they went by: the columns of its tables, each with the values of all rows. */
export interface RecordedExecutions {
  projectId: string;
  /** ISO instants between which they began. */
  from: string;
  until: string;
  tables: Record<string, Record<string, unknown[]>>;
}

const ofThem = 'contact_id in (select contact_id from public.automation_runs where id = any ($1::uuid[]))';

/** The tables that are kept, and which rows: `$1` is the IDs of the executions. */
export const recordedTables: Record<string, string> = {
  projects: 'true order by id',
  templates: 'true order by id',
  contacts: `${ofThem.replace('contact_id', 'id')} order by id`,
  contact_history: `${ofThem} order by contact_id, at`,
  contact_changes: `${ofThem} order by at`,
  events: `${ofThem} order by id`,
  automations: 'id in (select automation_id from public.automation_runs where id = any ($1::uuid[])) order by id',
  automation_versions: 'id in (select version_id from public.automation_runs where id = any ($1::uuid[])) order by id',
  automation_runs: 'id = any ($1::uuid[]) order by id',
  automation_step_runs: 'run_id = any ($1::uuid[]) order by run_id, seq',
};

const rowsAtOnce = 5_000;

/** Loads the executions of a file into a database with nothing in it but the dump of that release, and migrates it to this one. */
export async function loadRecorded(databaseUrl: string, file: string | URL): Promise<RecordedExecutions> {
  const recorded = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as RecordedExecutions;
  const dump = gunzipSync(readFileSync(new URL('../data/earlier-release.sql.gz', import.meta.url))).toString();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(dump);
    // What follows from these rows is recorded as well.
    await client.query('set session_replication_role = replica');
    for (const [table, columns] of Object.entries(recorded.tables)) {
      const names = Object.keys(columns);
      const count = Object.values(columns)[0]?.length ?? 0;
      for (let first = 0; first < count; first += rowsAtOnce) {
        const rows = Array.from({ length: Math.min(rowsAtOnce, count - first) }, (_, n) =>
          Object.fromEntries(names.map((name) => [name, columns[name]?.[first + n]])),
        );
        const quoted = names.map((name) => `"${name}"`).join();
        // The null of JSON, where the column cannot have that of SQL.
        const values = table === 'contact_changes' ? quoted.replace('"data"', `coalesce("data", 'null')`) : quoted;
        await client.query(
          `insert into public.${table} (${quoted}) select ${values} from jsonb_populate_recordset(null::public.${table}, $1::jsonb)`,
          [JSON.stringify(rows)],
        );
      }
    }
  } finally {
    await client.end();
  }
  await migrateDatabase(databaseUrl);
  return recorded;
}

/** Records executions by the release in a folder, with a database that is empty. */
export async function recordExecutions(
  folder: string,
  databaseUrl: string,
  { file, graphs, each, seed }: { file: string; graphs: number; each: number; seed: number },
): Promise<void> {
  const program = fileURLToPath(new URL('./recording-child.ts', import.meta.url));
  const child = spawn(process.execPath, [program, folder, databaseUrl, file, ...[graphs, each, seed].map(String)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The recording ended with ${code}`);
}
