import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';

/** A file of a multipart body, while it arrives. */
export interface ArrivingFile {
  /** Name of the part. */
  field: string;
  /** The client's name for the file. */
  filename: string | undefined;
  mimeType: string;
  bytes: Readable;
}

/** The limits of a multipart body, and its refusals. */
export interface MultipartRules {
  /** Most bytes of a file. */
  fileBytes: number;
  /** Most bytes that are read of a body that is refused already, so that the caller hears the answer. */
  bodyBytes: number;
  /** Most parts. */
  parts: number;
  notMultipart(): Error;
  broken(): Error;
  tooLarge(): Error;
}

/**
 * Reads the files of a multipart/form-data body as streams; nothing is held in memory. `take` answers the work that reads a
 * file, null for one that is not wanted, or throws to refuse the request; `takeField` hears parts that are no files. Resolves when all of them are read and worked on.
 * @throws the refusals of `rules`, what `take` throws, and what its work rejects with
 */
export async function readMultipart(
  request: IncomingMessage,
  rules: MultipartRules,
  take: (file: ArrivingFile) => Promise<void> | null,
  takeField?: (name: string, value: string) => void,
): Promise<void> {
  const form = openForm(request, rules);
  let refusal: unknown = null;
  let work: Promise<unknown> = Promise.resolve();
  let last = null as Readable | null;
  form.on('file', (field, bytes, filename, _encoding, mimeType) => {
    last = bytes;
    // A body that breaks off is an error of its file as well, and one that nobody reads has no other listener.
    bytes.on('error', () => undefined);
    try {
      const taken = refusal === null ? take({ field, filename, mimeType, bytes }) : null;
      if (taken === null) return void bytes.resume();
      bytes.once('limit', () => {
        refusal = rules.tooLarge();
      });
      // Its failure is reported when everything has been read.
      taken.catch(() => bytes.resume());
      work = Promise.all([work, taken]);
      work.catch(() => undefined);
    } catch (error) {
      refusal = error;
      bytes.resume();
    }
  });
  if (takeField !== undefined)
    form.on('field', (name, value, _nameTruncated, valueTruncated) => {
      try {
        if (valueTruncated) throw rules.tooLarge();
        takeField(name, value);
      } catch (error) {
        refusal ??= error;
      }
    });
  let received = 0;
  request.on('data', (bytes: Buffer) => {
    received += bytes.length;
    if (received <= rules.bodyBytes) return;
    refusal ??= rules.tooLarge();
    request.unpipe(form).destroy(rules.tooLarge());
  });
  try {
    await pipeline(request, form);
  } catch (error) {
    // Nobody else ends the file that has not come to its end, and its reader would wait for ever.
    last?.destroy(error as Error);
    await work.catch(() => undefined);
    throw refusal ?? rules.broken();
  }
  await work;
  if (refusal !== null) throw refusal;
}

function openForm(request: IncomingMessage, rules: MultipartRules): BusboyInstance {
  const { headers } = request;
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    request.resume();
    throw rules.notMultipart();
  }
  try {
    const limits = { fileSize: rules.fileBytes, parts: rules.parts, fieldSize: 64 * 1024 };
    const form = new Busboy({ headers: { ...headers, 'content-type': type }, limits });
    // Its parser may report the same body again after the pipeline has ended with the first error.
    return form.on('error', () => undefined);
  } catch {
    request.resume();
    throw rules.broken();
  }
}
