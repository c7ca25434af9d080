import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, limitParameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

/** The answer to an upload (contract page 3, 5). */
export const UploadedImage = v.object({
  url: v.string(),
  key: v.string(),
  /** The client's name for the file. */
  filename: v.string(),
  contentType: v.string(),
  size: v.number(),
});
export type UploadedImage = v.InferOutput<typeof UploadedImage>;

/** `GET /uploads`. */
export const ListImages = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListImages = v.InferOutput<typeof ListImages>;

/** A page of uploaded images, newest first. */
export const ImagePage = v.object({
  images: v.array(
    v.object({
      id: Uuid,
      ...UploadedImage.entries,
      createdAt: Instant,
    }),
  ),
  nextCursor: v.nullable(v.string()),
});
export type ImagePage = v.InferOutput<typeof ImagePage>;

/** `GET /uploads/{id}/usage`: templates and campaigns whose body has the image's address, at most 100 of each. */
export const ImageUsage = v.object({
  templates: v.array(v.object({ id: v.string(), name: v.string() })),
  campaigns: v.array(v.object({ id: v.string(), name: v.string(), status: v.string() })),
  /** How many of the newest campaigns were searched. */
  searchedCampaigns: v.number(),
});
export type ImageUsage = v.InferOutput<typeof ImageUsage>;

nameSchemas({ UploadedImage, ImagePage });
