import type { IncomingMessage } from 'node:http';
import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { Logger } from 'pino';
import * as v from 'valibot';
import { AppError, beyondRecipients, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { CursorParameter, clampLimit, decodeId, pageOf } from '../../lib/pages.ts';
import { likeText } from '../../lib/text.ts';
import { field, Instant, Integer, limitParameter, nameSchemas, Uuid } from '../../lib/validation/fields.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';
import { type Database, limitingKey, sql } from '../../store/sql.ts';
import { type ImageStore, newImageKey, StoreUnusable } from '../images/store.ts';
import { Template } from '../queries.ts';
import { withImage } from './receive.ts';

const p = defineEntity.properties;

/** A file that templates refer to. */
export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.uuid().primary(),
    projectId: ofProject(),
    key: p.text(),
    filename: p.text(),
    contentType: p.text(),
    size: p.integer(),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'uploads_project', properties: ['projectId', 'id'] }],
});
export type Upload = InferEntity<typeof Upload>;

/** The answer to an upload (docs/contract/platform.md#5). */
export const UploadedImage = v.object({
  url: field('Public URL of the image, for use in emails. It never changes.', v.string()),
  key: field('Key of the file in the image store.', v.string()),
  filename: field('File name as the client sent it.', v.string()),
  contentType: field(
    'Media type, detected from the file: `image/jpeg`, `image/png`, `image/gif` or `image/webp`.',
    v.string(),
  ),
  size: field('Size of the file in bytes.', Integer),
});
export type UploadedImage = v.InferOutput<typeof UploadedImage>;

/** `GET /uploads`. */
export const ListImages = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListImages = v.InferOutput<typeof ListImages>;

/** A page of uploaded images, newest first. */
export const ImagePage = v.object({
  images: field(
    'Uploaded images, newest first.',
    v.array(
      v.object({
        id: field('ID of the image.', Uuid),
        ...UploadedImage.entries,
        createdAt: field('When the image was uploaded.', Instant),
      }),
    ),
  ),
  nextCursor: field('Pass it as `cursor` to get the next page; null on the last page.', v.nullable(v.string())),
});
export type ImagePage = v.InferOutput<typeof ImagePage>;

/** `GET /uploads/{id}/usage`: templates and campaigns whose body has the image's address, at most 100 of each. */
export const ImageUsage = v.object({
  templates: field(
    'Templates whose body contains the image, newest first; up to 100.',
    v.array(
      v.object({ id: field('ID of the template.', v.string()), name: field('Name of the template.', v.string()) }),
    ),
  ),
  campaigns: field(
    'Campaigns whose body contains the image, newest first; up to 100.',
    v.array(
      v.object({
        id: field('ID of the campaign.', v.string()),
        name: field('Name of the campaign.', v.string()),
        status: field('Status of the campaign: `DRAFT`, `SCHEDULED`, `SENDING`, `SENT` or `CANCELLED`.', v.string()),
      }),
    ),
  ),
  searchedCampaigns: field('How many of the newest campaigns were searched. Older ones are not searched.', Integer),
});
export type ImageUsage = v.InferOutput<typeof ImageUsage>;

nameSchemas({ UploadedImage, ImagePage });

declare module '../../http/context.ts' {
  interface App {
    /** Where uploaded images are kept. */
    images: ImageStore;
  }
}

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
    db.em.find(
      Template,
      { projectId, body: { $like: `%${likeText(key)}%` } },
      { fields: ['name'], orderBy: { createdAt: 'desc', id: 'asc' }, limit: 100 },
    ),
    db.rows<ImageUsage['campaigns'][number]>(sql`
      select id, name, status from (
        select id, name, status, body, created_at from campaigns where project_id = ${projectId}
        order by created_at desc, id limit ${searchedCampaigns}) newest
      where position(${key} in body) > 0 order by created_at desc, id limit 100`),
  ]);
  return { templates: templates.map(({ id, name }) => ({ id, name })), campaigns, searchedCampaigns };
}

/**
 * Deletes an image from the store and then its row, so that a deletion that is interrupted can be repeated: an address
 * that still works never loses the row by which it can be deleted.
 * @throws 404, 403 for a key with limits, and 503 when the store does not delete it
 */
export async function deleteImage({ db, store, log }: UploadDeps, projectId: string, id: string): Promise<void> {
  if (limitingKey(db) !== null) throw beyondRecipients('cannot delete images, which emails to everybody show');
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
