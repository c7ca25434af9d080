import * as v from 'valibot';

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
