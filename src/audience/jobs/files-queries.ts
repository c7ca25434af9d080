import { type Database, sql } from '../../core/database/sql.ts';

/** Bytes of one stored part of a file. */
export const partBytes = 256 * 1024;

/** Stores one part of a job's file. All parts but the last have `partBytes` bytes. */
export async function storePart(db: Database, jobId: string, part: number, bytes: Buffer): Promise<void> {
  await db.count(sql`insert into import_files (job_id, part, bytes) values (${jobId}, ${part}, ${bytes})`);
}

/** Removes the file of a job that was not created. */
export async function removeFile(db: Database, jobId: string): Promise<void> {
  await db.count(sql`delete from import_files where job_id = ${jobId}`);
}

/** The file of a job from a byte on, a part at a time. */
export async function* readFileFrom(db: Database, jobId: string, offset: number): AsyncGenerator<Buffer> {
  let skip = offset % partBytes;
  for (let part = Math.floor(offset / partBytes); ; part++) {
    const row = await db.row<{ bytes: Buffer }>(
      sql`select bytes from import_files where job_id = ${jobId} and part = ${part}`,
    );
    if (row === null) return;
    if (row.bytes.length > skip) yield row.bytes.subarray(skip);
    skip = 0;
  }
}

/** Removes up to `limit` parts of files whose upload was cut off more than an hour ago. */
export function removeLostParts(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from import_files where (job_id, part) in (
      select f.job_id, f.part from import_files f
      where f.created_at < now() - interval '1 hour'
        and not exists (select from jobs j where j.id = f.job_id and j.finished_at is null) limit ${limit})`);
}
