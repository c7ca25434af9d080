import { type Sql, statement } from '../../core/database/sql.ts';

/** Bytes of one stored part of a file. */
export const partBytes = 256 * 1024;

const store = statement('imports.store_part', 'insert into import_files (job_id, part, bytes) values ($1, $2, $3)');
const read = statement('imports.read_part', 'select bytes from import_files where job_id = $1 and part = $2');

/** Stores one part of a job's file. All parts but the last have `partBytes` bytes. */
export async function storePart(sql: Sql, jobId: string, part: number, bytes: Buffer): Promise<void> {
  await sql.count(store, [jobId, part, bytes]);
}

/** Removes the file of a job that will not be. */
export async function removeFile(sql: Sql, jobId: string): Promise<void> {
  await sql.count('delete from import_files where job_id = $1', [jobId]);
}

/** The file of a job from a byte on, a part at a time. */
export async function* readFileFrom(sql: Sql, jobId: string, offset: number): AsyncGenerator<Buffer> {
  let skip = offset % partBytes;
  for (let part = Math.floor(offset / partBytes); ; part++) {
    const row = await sql.row<{ bytes: Buffer }>(read, [jobId, part]);
    if (row === null) return;
    if (row.bytes.length > skip) yield row.bytes.subarray(skip);
    skip = 0;
  }
}

/** Removes up to `limit` parts of files whose upload was cut off more than an hour ago. */
export function removeLostParts(sql: Sql, limit: number): Promise<number> {
  return sql.count(
    `delete from import_files where (job_id, part) in (
       select f.job_id, f.part from import_files f
       where f.created_at < now() - interval '1 hour'
         and not exists (select from jobs j where j.id = f.job_id and j.finished_at is null) limit $1)`,
    [limit],
  );
}
