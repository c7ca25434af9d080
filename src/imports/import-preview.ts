import type { IncomingMessage } from 'node:http';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { AppError, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { KeyedTurns } from '../lib/keyed-turns.ts';
import { type Database, sql } from '../store/sql.ts';
import { removeFile } from './csv.ts';
import { wavesOf } from './import.ts';
import { checkFile, mappingFor, readSlices } from './import-file.ts';
import { excessiveRows, type PlacedRow, type RefusedRow, type Subscribing, subscribingOf } from './import-rows.ts';
import type { ImportOptions, ImportPreview } from './schema.ts';
import { receiveCsv } from './upload.ts';

const rowsPerSlice = 1_000;
const mostErrors = 100;
const mostUpdates = 20;
const mostWaiting = 5;
const longestWaitSeconds = 30;

// A file is parsed on the thread that answers everybody, so a project has one parsed at a time.
const previews = new KeyedTurns({
  atOnce: 1,
  waiting: mostWaiting,
  waitMs: longestWaitSeconds * 1000,
  refusal: () =>
    new AppError(429, 'RATE_LIMIT_EXCEEDED', 'This project has other files that are being previewed', {
      details: { limit: 'import previews', atOnce: 1, retryAfter: longestWaitSeconds },
      suggestion: 'Preview one file after the other.',
      headers: { 'Retry-After': String(longestWaitSeconds) },
    }),
});

/**
 * Returns what an import of a file would do now, row by row as the import itself would: an address that is repeated finds what its rows
 * before it would have written. Changes no contact, and the file is gone afterwards.
 * @throws as `receiveCsv`, 422 for a file that cannot be imported, 429 beside too many others of the project
 */
export async function previewImport(db: Database, projectId: string, request: IncomingMessage): Promise<ImportPreview> {
  const id = `preview-${newId()}`;
  try {
    const options = await receiveCsv(db, projectId, request, id);
    return await previews.run(projectId, () => previewFile(db, projectId, id, options));
  } finally {
    await removeFile(db, id);
  }
}

async function previewFile(db: Database, projectId: string, id: string, options: ImportOptions) {
  const file = await checkFile(db, id, await mappingFor(db, projectId, id, options));
  if (typeof file === 'string') throw invalidField('file', `cannot be imported. ${file}`, 'invalid_file');
  const preview = new Preview(db, projectId, subscribingOf(options, file.columns));
  for await (const slice of readSlices(db, id, file.firstRow, rowsPerSlice)) {
    const { waves, refused } = wavesOf(file.columns, slice);
    preview.refuse(refused);
    for (const wave of waves) await preview.add(wave);
  }
  return preview.result;
}

/** A contact as the rows of the file so far would leave it. */
interface Written {
  data: JsonObjectValue;
  isNew: boolean;
  /** Null while no row has said it of a contact that there was. */
  subscribed: boolean | null;
}

class Preview {
  readonly result: ImportPreview = {
    totalRows: 0,
    createdCount: 0,
    updatedCount: 0,
    unchangedCount: 0,
    failureCount: 0,
    repeatedCount: 0,
    repeatedUpdatedCount: 0,
    newSubscribedCount: 0,
    resubscribedCount: 0,
    unsubscribedCount: 0,
    updates: [],
    errors: [],
    reasons: {},
  };
  readonly #db: Database;
  readonly #projectId: string;
  readonly #subscribing: Subscribing;
  readonly #written = new Map<string, Written>();

  constructor(db: Database, projectId: string, subscribing: Subscribing) {
    this.#db = db;
    this.#projectId = projectId;
    this.#subscribing = subscribing;
  }

  refuse(rows: readonly RefusedRow[]): void {
    const { result } = this;
    for (const row of rows) {
      result.totalRows += 1;
      result.failureCount += 1;
      result.reasons[row.error] = (result.reasons[row.error] ?? 0) + 1;
      if (result.errors.length < mostErrors) result.errors.push(row);
    }
  }

  /** Adds rows of which no two have the same address. */
  async add(wave: readonly PlacedRow[]): Promise<void> {
    const before = wave.map(({ email }) => this.#written.get(email) ?? null);
    const whole = wave.map((row, index) => ({ ...row, data: { ...before[index]?.data, ...row.data } }));
    const refused = await excessiveRows(this.#db, this.#projectId, whole, this.#subscribing);
    const isRefused = new Set(refused.map(({ row }) => row));
    this.refuse(refused);
    const rows = wave.flatMap((row, index) =>
      isRefused.has(row.row) ? [] : [{ ...row, written: before[index] ?? null }],
    );
    const changes = await changesOf(this.#db, this.#projectId, rows, this.#subscribing);
    for (const { row, ...change } of changes) {
      const own = rows.find((each) => each.row === row);
      if (own) this.#count(own, change);
    }
  }

  #count(row: PlacedRow & { written: Written | null }, change: Omit<RowChange, 'row'>): void {
    const { result } = this;
    result.totalRows += 1;
    if (change.isNew) result.createdCount += 1;
    else if (change.isChanged) result.updatedCount += 1;
    else result.unchangedCount += 1;
    if (row.written) {
      result.repeatedCount += 1;
      if (change.isChanged) result.repeatedUpdatedCount += 1;
    }
    // A row that repeats a new contact may change what its rows before said.
    const isNew = row.written?.isNew ?? change.isNew;
    const subscribed = change.becomes ?? row.written?.subscribed ?? null;
    if (isNew) result.newSubscribedCount += Number(subscribed === true) - Number(row.written?.subscribed === true);
    else if (change.flips === true) result.resubscribedCount += 1;
    else if (change.flips === false) result.unsubscribedCount += 1;
    if (!change.isNew && change.isChanged && result.updates.length < mostUpdates)
      result.updates.push({
        row: row.row,
        email: row.email,
        subscribed: change.flips,
        before: change.before ?? {},
        after: change.after ?? {},
      });
    this.#written.set(row.email, {
      data: { ...row.written?.data, ...change.writes },
      isNew,
      subscribed,
    });
  }
}

interface RowChange {
  row: number;
  isNew: boolean;
  isChanged: boolean;
  /** The subscription after the row; null when it stays. */
  flips: boolean | null;
  /** The subscription that the row asks for, or that a new contact gets; null when neither. */
  becomes: boolean | null;
  /** The data of the row, with the source of the consent where it subscribes the contact. */
  writes: JsonObjectValue;
  /** Of the keys that change; null where none does. */
  before: JsonObjectValue | null;
  after: JsonObjectValue | null;
}

function changesOf(
  db: Database,
  projectId: string,
  rows: readonly (PlacedRow & { written: Written | null })[],
  { subscribeNew, consent }: Subscribing,
): Promise<RowChange[]> {
  return db.rows<RowChange>(sql`
    select r.row, b.is_new as "isNew", b.flips, b.becomes, w.data as writes, k.changed is not null or b.flips is not null as "isChanged",
      case when not b.is_new then k.before end as before, case when not b.is_new then k.changed end as after
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r ("row" integer, email text, subscribed boolean, data jsonb, written jsonb)
    left join contacts c on c.project_id = ${projectId} and c.email = r.email,
    lateral (
      select c.id is null and jsonb_typeof(r.written) is distinct from 'object' as is_new,
        coalesce(c.data, '{}') || coalesce(r.written -> 'data', '{}') as data,
        coalesce((r.written ->> 'subscribed')::boolean, c.subscribed) as subscribed) a,
    lateral (
      select a.is_new, case when r.subscribed <> a.subscribed then r.subscribed end as flips,
        coalesce(r.subscribed, case when a.is_new then ${subscribeNew}::boolean end) as becomes) b,
    lateral (
      select case when b.becomes and a.subscribed is not true then ${JSON.stringify(consent)}::jsonb || r.data else r.data end as data) w,
    lateral (
      select jsonb_object_agg(key, value) as changed,
        jsonb_object_agg(key, a.data -> key) filter (where a.data ? key) as before
      from jsonb_each(w.data) where a.data -> key is distinct from value) k
    order by r.row`);
}
