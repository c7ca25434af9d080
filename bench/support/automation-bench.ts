import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pause } from '../../src/lib/time.ts';
import type { Store } from '../../src/store/orm.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { sql } from '../../src/store/sql.ts';
import type { TemporalConnection } from '../../temporal/connection.ts';

const longestMs = 30 * 60_000;

/** Shared by the parts of the benchmark of automations. */
export interface Bench {
  store: Store;
  temporal: TemporalConnection;
  projectId: string;
  queuePrefix: string;
  /** The worker as it is shipped. */
  worker: ChildProcess;
  /** The worker of the floor's workflows. */
  floor: ChildProcess;
}

/** Counts the runs of an automation in a status. */
export const countOf = 'select count(*)::int as count from automation_runs where automation_id = $1 and status = $2';

/** Inserts contacts and answers their ids. */
export async function people(
  { store, projectId }: Pick<Bench, 'store' | 'projectId'>,
  count: number,
): Promise<string[]> {
  const rows = await store.db.rows<{ id: string }>(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'walker-' || uuidv7() || '@example.com', true, '{"plan":"pro"}' from generate_series(1, $2::int)
     returning id`,
    [projectId, count],
  );
  await store.db.rows('analyze contacts');
  return rows.map(({ id }) => id);
}

/** Stores an event of each contact, by statements of a thousand, as an import writes them. */
export async function tell(
  { store, projectId }: Pick<Bench, 'store' | 'projectId'>,
  contacts: readonly string[],
  name: string,
): Promise<void> {
  for (let first = 0; first < contacts.length; first += 1_000) {
    const from = sql`unnest(${contacts.slice(first, first + 1_000)}::uuid[]) as id`;
    await store.db.count(recordingEvents({ events: [{ projectId, contactId: sql`id`, name, from }] }));
  }
}

/** Resolves when the statement counts that many. Fails after half an hour. */
export async function until(store: Store, sql: string, values: unknown[], count: number, everyMs = 20): Promise<void> {
  const started = performance.now();
  for (;;) {
    const row = await store.db.row<{ count: number }>(sql, values);
    if (row !== null && row.count >= count) return;
    if (performance.now() - started > longestMs) throw new Error(`${row?.count} of ${count} after half an hour`);
    await pause(everyMs);
  }
}

/** Resident memory of a process, where Linux tells. */
export function memoryMb({ pid }: ChildProcess): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Milliseconds in a readable form. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
