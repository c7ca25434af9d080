import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

/** A picture of the project as the API lists it. */
export type UploadedImage = components['schemas']['ImagePage']['images'][number];

/** The pictures that the service takes, for the file chooser. */
export const imageTypes = 'image/jpeg,image/png,image/gif,image/webp';
/** The largest one, in bytes. */
export const largestImage = 10 * 1024 * 1024;

/**
 * Uploads a picture for mail; its address never changes.
 * @throws ApiError for another type or a larger file
 */
export function uploadImage(file: File) {
  return answer(
    api.POST('/uploads/image', {
      // The description of the API leaves multipart bodies open; the browser sends the file as a stream.
      body: { image: '' } as never,
      bodySerializer: () => {
        const form = new FormData();
        form.set('image', file, file.name);
        return form;
      },
    }),
  );
}

/** The tag that shows a picture in mail, with a text for those who do not see it. */
export function imageTag(url: string, description: string): string {
  const text = description.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<img src="${url}" alt="${text}" style="max-width: 100%" />`;
}
