import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { AppError, bareBadRequest } from '../../core/lib/errors.ts';
import { decidingBytes, declaredType, detectedType, type ImageType } from './image-type.ts';
import { StoreUnusable } from './store.ts';

const megabyte = 1024 * 1024;
/** Largest image (contract page 3, 5). */
const largestImage = 10 * megabyte;
// What follows after the refusal is read and thrown away, so that the caller hears it; not for ever.
const largestBody = 2 * largestImage;
const longestName = 255;

/** An image that has arrived whole. */
export interface ReceivedImage {
  /** Where it lies until it is stored. */
  file: string;
  /** The client's name for it, to be shown only. */
  filename: string;
  type: ImageType;
  size: number;
}

/**
 * Takes the part `image` of a multipart request into a file of the folder and passes it to `use`; little of it is held in
 * memory. The file is gone afterwards, however this ends.
 * @throws bare 400 without exactly one such part, for a type that is not taken, or for bytes of another type than the one
 * declared; bare 413 over 10 MB; StoreUnusable when the folder cannot be made
 */
export async function withImage<T>(
  request: IncomingMessage,
  folder: string,
  use: (image: ReceivedImage) => Promise<T>,
): Promise<T> {
  const form = openForm(request);
  await usable(folder);
  const file = join(folder, randomBytes(16).toString('hex'));
  try {
    return await use(await receive(request, form, file));
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

async function receive(request: IncomingMessage, form: busboy.Busboy, file: string): Promise<ReceivedImage> {
  const parts: Part[] = [];
  let refusal: AppError | null = null;
  let writing: Promise<void> = Promise.resolve();
  form.on('file', (name, stream, info) => {
    if (name !== 'image') return void stream.resume();
    const part: Part = {
      filename: shownName(info.filename),
      declared: declaredType(info.mimeType),
      start: Buffer.alloc(0),
      size: 0,
    };
    parts.push(part);
    refusal ??= refusalOf(parts, info.mimeType);
    if (refusal !== null) return void stream.resume();
    stream.once('limit', () => {
      refusal = tooLarge();
    });
    writing = write(part, stream, file);
    // Its failure is told when everything has been read.
    writing.catch(() => stream.resume());
  });
  let received = 0;
  request.on('data', (bytes: Buffer) => {
    received += bytes.length;
    if (received > largestBody) request.unpipe(form).destroy(tooLarge());
  });
  try {
    await pipeline(request, form);
  } catch (error) {
    await writing.catch(() => undefined);
    if (refusal !== null) throw refusal;
    throw error instanceof AppError ? error : bareBadRequest('The body is not complete multipart/form-data');
  }
  await writing;
  if (refusal !== null) throw refusal;
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

function refusalOf(parts: readonly Part[], mimeType: string): AppError | null {
  if (parts.length > 1) return bareBadRequest('Send exactly one file in the part "image"');
  if (parts[0]?.declared === null)
    return bareBadRequest(
      `Files of the type ${shownName(mimeType)} are not taken: send image/jpeg, image/png, image/gif or image/webp`,
    );
  return null;
}

async function usable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new StoreUnusable('The folder of arriving files cannot be made', { cause: error });
  }
}

function openForm(request: IncomingMessage): busboy.Busboy {
  if (!/^multipart\/form-data\s*;/i.test(request.headers['content-type'] ?? '')) {
    request.resume();
    throw bareBadRequest('Send the image as the part "image" of a multipart/form-data body');
  }
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      // The limit counts as reached when a file has exactly so many bytes.
      limits: { fileSize: largestImage + 1, parts: 20, fieldSize: 64 * 1024 },
    });
  } catch {
    request.resume();
    throw bareBadRequest('The body is not complete multipart/form-data');
  }
}

// Only shown, never used as a name of ours.
function shownName(name: string | undefined): string {
  return (name ?? 'image')
    .replace(/\p{Cc}/gu, '')
    .slice(0, longestName)
    .toWellFormed();
}

function tooLarge(): AppError {
  const message = `The image is larger than ${largestImage / megabyte} MB`;
  return new AppError(413, 'PAYLOAD_TOO_LARGE', message, { headers: { Connection: 'close' } }, true);
}
