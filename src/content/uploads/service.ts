import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Sql } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { newImageKey } from './key.ts';
import { insertUpload } from './queries.ts';
import { withImage } from './receive.ts';
import type { UploadedImage } from './schema.ts';
import { type ImageStore, StoreUnusable } from './store.ts';

/** What taking images needs. */
export interface UploadDeps {
  sql: Sql;
  store: ImageStore;
  log: Logger;
  now: Date;
}

/**
 * Takes the image of a multipart request and stores it (contract page 3, 5). When this rejects, nothing of it is kept.
 * @throws bare 400, 413, 503 when the storage cannot be used, 500 when it did not take the file
 */
export async function uploadImage(
  { sql, store, log, now }: UploadDeps,
  projectId: string,
  request: IncomingMessage,
): Promise<UploadedImage> {
  try {
    return await withImage(request, store.incoming, async ({ file, filename, type, size }) => {
      const key = newImageKey(projectId, type, now);
      const image = { key, filename, contentType: type.contentType, size };
      await store.put(key, file, type.contentType);
      try {
        await insertUpload(sql, projectId, image);
      } catch (error) {
        // What is in no list could never be deleted.
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
