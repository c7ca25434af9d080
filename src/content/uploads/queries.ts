import { isoInstant } from '../../core/database/columns.ts';
import type { Sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import type { UploadedImage } from './schema.ts';

/** An uploaded image as its row tells of it; its address depends on the settings. */
export interface UploadRow extends Omit<UploadedImage, 'url'> {
  id: string;
  createdAt: string;
}

const columns = 'id, key, filename, content_type as "contentType", size, created_at::text as "createdAt"';

/** Notes an image that the store has taken. */
export async function insertUpload(sql: Sql, projectId: string, image: Omit<UploadedImage, 'url'>): Promise<void> {
  const { key, filename, contentType, size } = image;
  await sql.count(
    'insert into uploads (id, project_id, key, filename, content_type, size) values ($1, $2, $3, $4, $5, $6)',
    [newId(), projectId, key, filename, contentType, size],
  );
}

/** The images of a project, newest first, from the one after `after`. */
export async function listUploads(
  sql: Sql,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<UploadRow[]> {
  const rows = await sql.rows<UploadRow>(
    `select ${columns} from uploads where project_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by id desc limit $3`,
    [projectId, after, limit],
  );
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

/** The key of an image; null when the project has no such image. */
export async function uploadKey(sql: Sql, projectId: string, id: string): Promise<string | null> {
  const row = await sql.row<{ key: string }>('select key from uploads where project_id = $1 and id = $2', [
    projectId,
    id,
  ]);
  return row?.key ?? null;
}

/** Forgets an image. */
export async function deleteUpload(sql: Sql, projectId: string, id: string): Promise<void> {
  await sql.count('delete from uploads where project_id = $1 and id = $2', [projectId, id]);
}

/** A template or campaign whose body shows an image. */
interface Place {
  id: string;
  name: string;
}

/** The templates of a project whose body has a text. */
export function templatesWith(sql: Sql, projectId: string, text: string): Promise<Place[]> {
  return sql.rows<Place>(
    `select id, name from templates where project_id = $1 and position($2 in body) > 0 order by created_at desc, id limit 100`,
    [projectId, text],
  );
}

/** Those of the newest campaigns whose body has a text; bodies are large, so that not all of them are read. */
export function campaignsWith(
  sql: Sql,
  projectId: string,
  text: string,
  newest: number,
): Promise<(Place & { status: string })[]> {
  return sql.rows<Place & { status: string }>(
    `select id, name, status from (
       select id, name, status, body, created_at from campaigns where project_id = $1 order by created_at desc, id limit $3) newest
     where position($2 in body) > 0 order by created_at desc, id limit 100`,
    [projectId, text, newest],
  );
}
