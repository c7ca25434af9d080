import type { Logger } from 'pino';
import type { Sql } from '../../core/database/sql.ts';
import { clampLimit, decodeCursor, encodeCursor } from '../../core/lib/cursor.ts';
import { AppError, badRequest, notFound } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { campaignsWith, deleteUpload, listUploads, templatesWith, uploadKey } from './queries.ts';
import type { ImagePage, ImageUsage, ListImages } from './schema.ts';
import type { ImageStore } from './store.ts';

// A body may be as large as a mail, and looking for an image reads all of each.
const searchedCampaigns = 500;

/** A page of the images of a project, newest first. @throws 400 for a cursor of another list */
export async function listImages(
  sql: Sql,
  store: ImageStore,
  projectId: string,
  query: ListImages,
): Promise<ImagePage> {
  const limit = clampLimit(query.limit, 20, 100);
  const after = query.cursor === undefined ? null : place(query.cursor);
  const rows = await listUploads(sql, projectId, after, limit + 1);
  const images = rows.slice(0, limit).map((row) => ({ ...row, url: store.url(row.key) }));
  const last = images.at(-1);
  return { images, nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null };
}

/** Where the address of an image stands: templates, and the newest campaigns. @throws 404 */
export async function imageUsage(sql: Sql, projectId: string, id: string): Promise<ImageUsage> {
  const key = await uploadKey(sql, projectId, id);
  if (key === null) throw notFound('image', id);
  const [templates, campaigns] = await Promise.all([
    templatesWith(sql, projectId, key),
    campaignsWith(sql, projectId, key, searchedCampaigns),
  ]);
  return { templates, campaigns, searchedCampaigns };
}

/**
 * Deletes an image from the store and then from the list, so that what breaks off in between can be repeated: an address
 * that still works never loses the row by which it can be deleted.
 * @throws 404, and 503 when the store does not delete it
 */
export async function deleteImage(
  { sql, store, log }: { sql: Sql; store: ImageStore; log: Logger },
  projectId: string,
  id: string,
): Promise<void> {
  const key = await uploadKey(sql, projectId, id);
  if (key === null) throw notFound('image', id);
  try {
    await store.remove(key);
  } catch (error) {
    log.error({ err: error, projectId, key }, 'an image could not be deleted');
    throw new AppError(
      503,
      'EXTERNAL_SERVICE_ERROR',
      'The storage cannot delete images at the moment: try again later',
    );
  }
  await deleteUpload(sql, projectId, id);
}

function place(cursor: string): string {
  const [id] = decodeCursor(cursor, 1);
  if (typeof id === 'string' && isUuid(id)) return id;
  throw badRequest('"cursor" is not a cursor of this list: pass the value of the previous page unchanged');
}
