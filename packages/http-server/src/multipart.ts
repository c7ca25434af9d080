import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';

/** A file of a multipart body, while it arrives. */
export interface ArrivingFile {
  /** Name of the part. */
  field: string;
  /** The client's name for the file. */
  filename: string | undefined;
  mimeType: string;
  bytes: Readable;
}

/** What a multipart body may be, and how it is refused. */
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
  form.on('file', (field, bytes, { filename, mimeType }) => {
    // A body that breaks off is an error of its file as well, and one that nobody reads has no other listener.
    bytes.on('error', () => undefined);
    try {
      const taken = refusal === null ? take({ field, filename, mimeType, bytes }) : null;
      if (taken === null) return void bytes.resume();
      bytes.once('limit', () => {
        refusal = rules.tooLarge();
      });
      // Its failure is told when everything has been read.
      taken.catch(() => bytes.resume());
      work = Promise.all([work, taken]);
      work.catch(() => undefined);
    } catch (error) {
      refusal = error;
      bytes.resume();
    }
  });
  if (takeField !== undefined)
    form.on('field', (name, value, { valueTruncated }) => {
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
  } catch {
    await work.catch(() => undefined);
    throw refusal ?? rules.broken();
  }
  await work;
  if (refusal !== null) throw refusal;
}

function openForm(request: IncomingMessage, rules: MultipartRules): busboy.Busboy {
  const { headers } = request;
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
    request.resume();
    throw rules.notMultipart();
  }
  try {
    // The limit counts as reached when a file has exactly so many bytes.
    const limits = { fileSize: rules.fileBytes + 1, parts: rules.parts, fieldSize: 64 * 1024 };
    return busboy({ headers, defParamCharset: 'utf8', limits });
  } catch {
    request.resume();
    throw rules.broken();
  }
}
