import { field, nameSchemas } from '@fernpost/openapi/names';
import { Instant, limitParameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

/** The answer to an upload (docs/contract/platform.md#5). */
export const UploadedImage = v.object({
  url: field('Public URL of the image, for use in emails. It never changes.', v.string()),
  key: field('Key of the file in the image store.', v.string()),
  filename: field('File name as the client sent it.', v.string()),
  contentType: field(
    'Media type, detected from the file: `image/jpeg`, `image/png`, `image/gif` or `image/webp`.',
    v.string(),
  ),
  size: field('Size of the file in bytes.', v.number()),
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
  searchedCampaigns: field('How many of the newest campaigns were searched. Older ones are not searched.', v.number()),
});
export type ImageUsage = v.InferOutput<typeof ImageUsage>;

nameSchemas({ UploadedImage, ImagePage });
