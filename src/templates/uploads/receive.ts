import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type MultipartRules, readMultipart } from '../../http/server/multipart.ts';
import { AppError, bareBadRequest } from '../../lib/errors.ts';
import { decidingBytes, declaredType, detectedType, type ImageType, StoreUnusable } from '../images/store.ts';

const megabyte = 1024 * 1024;
/** Largest image (docs/contract/platform.md#5). */
const largestImage = 10 * megabyte;
const longestName = 255;

const rules: MultipartRules = {
  fileBytes: largestImage,
  bodyBytes: 2 * largestImage,
  parts: 20,
  notMultipart: () => bareBadRequest('Send the image as the part "image" of a multipart/form-data body'),
  broken: () => bareBadRequest('The body is not complete multipart/form-data'),
  tooLarge: () => {
    const message = `The image is larger than ${largestImage / megabyte} MB`;
    return new AppError(413, 'PAYLOAD_TOO_LARGE', message, { headers: { Connection: 'close' } }, true);
  },
};

/** An image that was received in full. */
export interface ReceivedImage {
  /** Path of the temporary file. */
  file: string;
  /** The client's name for it, for display only. */
  filename: string;
  type: ImageType;
  size: number;
}

/**
 * Takes the part `image` of a multipart request into a file of the folder and passes it to `use`; little of it is held in
 * memory. The file is removed in the end.
 * @throws bare 400 without exactly one such part, for a type that is not accepted, or for bytes of another type than the one
 * declared; bare 413 over 10 MB; StoreUnusable when the folder cannot be created
 */
export async function withImage<T>(
  request: IncomingMessage,
  folder: string,
  use: (image: ReceivedImage) => Promise<T>,
): Promise<T> {
  await usable(folder);
  const file = join(folder, randomBytes(16).toString('hex'));
  try {
    return await use(await receive(request, file));
  } finally {
    await rm(file, { force: true });
  }
}

interface Part {
  filename: string;
  declared: ImageType | null;
  start: Buffer;
  size: number;
}

async function receive(request: IncomingMessage, file: string): Promise<ReceivedImage> {
  const parts: Part[] = [];
  await readMultipart(request, rules, ({ field, filename, mimeType, bytes }) => {
    if (field !== 'image') return null;
    const part = { filename: shownName(filename), declared: declaredType(mimeType), start: Buffer.alloc(0), size: 0 };
    if (parts.push(part) > 1) throw bareBadRequest('Send exactly one file in the part "image"');
    if (part.declared === null)
      throw bareBadRequest(
        `Files of the type ${shownName(mimeType)} are not taken: send image/jpeg, image/png, image/gif or image/webp`,
      );
    return write(part, bytes, file);
  });
  const [part] = parts;
  if (part === undefined) throw bareBadRequest('The body has no file in the part "image"');
  const type = await detectedType(part.start);
  if (type === null || type.extension !== part.declared?.extension)
    throw bareBadRequest('The bytes of "image" are not of the type that its Content-Type names');
  return { file, filename: part.filename, type, size: part.size };
}

async function write(part: Part, stream: Readable, file: string): Promise<void> {
  await pipeline(
    stream,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        const missing = decidingBytes - part.start.length;
        if (missing > 0) part.start = Buffer.concat([part.start, piece.subarray(0, missing)]);
        part.size += piece.length;
        yield piece;
      }
    },
    createWriteStream(file, { flags: 'wx', mode: 0o644, flush: true }),
  );
}

async function usable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new StoreUnusable('The folder for incoming files cannot be created', { cause: error });
  }
}

// For display only, never the name of a file here.
function shownName(name: string | undefined): string {
  return (name ?? 'image')
    .replace(/\p{Cc}/gu, '')
    .slice(0, longestName)
    .toWellFormed();
}
