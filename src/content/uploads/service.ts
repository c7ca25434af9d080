import type { IncomingMessage } from 'node:http';
import { type ImageStore, newImageKey, StoreUnusable } from '@fernpost/image-store';
import type { Logger } from 'pino';
import { type Database, sql } from '../../core/database/sql.ts';
import { clampLimit, decodeId, pageOf } from '../../core/lib/cursor.ts';
import { AppError, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { Upload } from './entity.ts';
import { withImage } from './receive.ts';
import type { ImagePage, ImageUsage, ListImages, UploadedImage } from './schema.ts';

declare module '../../core/http/context.ts' {
  interface App {
    /** Where uploaded images are kept. */
    images: ImageStore;
  }
}

/** What storing and deleting images needs. */
interface UploadDeps {
  db: Database;
  store: ImageStore;
  log: Logger;
}

/**
 * Takes the image of a multipart request and stores it (docs/contract/platform.md#5). When this rejects, nothing of it is kept.
 * @throws bare 400, 413, 503 when the storage cannot be used, 500 when it did not take the file
 */
export async function uploadImage(
  { db, store, log }: UploadDeps,
  projectId: string,
  request: IncomingMessage,
  now: Date,
): Promise<UploadedImage> {
  try {
    return await withImage(request, store.incoming, async ({ file, filename, type, size }) => {
      const key = newImageKey(projectId, type, now);
      const image = { key, filename, contentType: type.contentType, size };
      await store.put(key, file, type.contentType);
      try {
        await db.em.insert(Upload, { id: newId(), projectId, ...image });
      } catch (error) {
        // An image without a row could never be deleted.
        await store.remove(key).catch(() => undefined);
        throw error;
      }
      return { url: store.url(key), ...image };
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    log.error({ err: error, projectId }, 'an image could not be stored');
    if (error instanceof StoreUnusable)
      throw new AppError(503, 'EXTERNAL_SERVICE_ERROR', 'The image storage is unavailable at the moment', {}, true);
    throw new AppError(500, 'INTERNAL_SERVER_ERROR', 'The image could not be stored', {}, true);
  }
}

/** A page of the images of a project, newest first. @throws 400 for a cursor of another list */
export async function listImages(
  db: Database,
  store: ImageStore,
  projectId: string,
  query: ListImages,
): Promise<ImagePage> {
  const limit = clampLimit(query.limit, 20, 100);
  const id = query.cursor === undefined ? {} : { id: { $lt: decodeId(query.cursor) } };
  const rows = await db.em.find(Upload, { projectId, ...id }, { orderBy: { id: 'desc' }, limit: limit + 1 });
  const { page, cursor } = pageOf(rows, limit, (last) => [last.id]);
  const images = page.map(({ projectId: _, createdAt, ...row }) => ({
    ...row,
    createdAt: createdAt.toISOString(),
    url: store.url(row.key),
  }));
  return { images, nextCursor: cursor };
}

// A body may be as large as a mail, and the search reads all of it.
const searchedCampaigns = 500;

/** Templates and the newest campaigns whose body has the address of an image. @throws 404 */
export async function imageUsage(db: Database, projectId: string, id: string): Promise<ImageUsage> {
  const { key } = await load(db, projectId, id);
  const [templates, campaigns] = await Promise.all([
    db.rows<ImageUsage['templates'][number]>(sql`
      select id, name from templates where project_id = ${projectId} and position(${key} in body) > 0
      order by created_at desc, id limit 100`),
    db.rows<ImageUsage['campaigns'][number]>(sql`
      select id, name, status from (
        select id, name, status, body, created_at from campaigns where project_id = ${projectId}
        order by created_at desc, id limit ${searchedCampaigns}) newest
      where position(${key} in body) > 0 order by created_at desc, id limit 100`),
  ]);
  return { templates, campaigns, searchedCampaigns };
}

/**
 * Deletes an image from the store and then its row, so that a deletion that is interrupted can be repeated: an address
 * that still works never loses the row by which it can be deleted.
 * @throws 404, and 503 when the store does not delete it
 */
export async function deleteImage({ db, store, log }: UploadDeps, projectId: string, id: string): Promise<void> {
  const { key } = await load(db, projectId, id);
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
  await db.transaction(async (tx) => {
    await tx.em.nativeDelete(Upload, { projectId, id });
    await recordChange(tx, projectId, { action: 'upload.deleted', target: id });
  });
}

async function load(db: Database, projectId: string, id: string): Promise<Upload> {
  const upload = await db.em.findOne(Upload, { projectId, id });
  if (upload === null) throw notFound('image', id);
  return upload;
}
