import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { Sql } from '../../core/database/sql.ts';
import { AppError, bareBadRequest } from '../../core/lib/errors.ts';
import { cutText } from '../../core/lib/text.ts';
import { partBytes, removeFile, storePart } from './files-queries.ts';

const megabyte = 1024 * 1024;
/** Largest file that is imported (contract page 1, 1.10). */
const largestFile = 5 * megabyte;
// What comes after the file was found too large is read and thrown away, so that the caller hears the answer; not for ever.
const largestBody = 4 * largestFile;
const longestName = 255;

/**
 * Takes the part `file` of a multipart request as a stream and stores it under the job's id, a part of 256 kB at a time;
 * no more than that is held in memory. When this rejects, nothing is stored.
 * @throws bare 400 without such a part or when it is no CSV by type and name, 413 over 5 MB, 400 for a broken body
 */
export async function receiveCsv(sql: Sql, request: IncomingMessage, jobId: string): Promise<{ filename: string }> {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    request.resume();
    throw bareBadRequest('Send the CSV as the part "file" of a multipart/form-data body');
  }
  try {
    return await receive(sql, request, jobId);
  } catch (error) {
    // Should this fail as well, retention finds what is left.
    await removeFile(sql, jobId).catch(() => undefined);
    throw error;
  }
}

async function receive(sql: Sql, request: IncomingMessage, jobId: string): Promise<{ filename: string }> {
  const form = openForm(request);
  let filename: string | null = null;
  let refusal: AppError | null = null;
  let storing: Promise<void> = Promise.resolve();
  form.on('file', (name, stream, info) => {
    if (name !== 'file' || filename !== null) return void stream.resume();
    filename = cutText(info.filename ?? '', longestName).replaceAll('\0', '\ufffd');
    if (info.mimeType.toLowerCase() !== 'text/csv' && !/\.csv$/i.test(filename)) {
      refusal = bareBadRequest('"file" must be of the type text/csv, or its name must end with .csv');
      return void stream.resume();
    }
    stream.once('limit', () => {
      refusal = tooLarge();
    });
    storing = store(sql, jobId, stream);
    // Its failure is told when everything has been read.
    storing.catch(() => stream.resume());
  });
  let received = 0;
  request.on('data', (bytes: Buffer) => {
    received += bytes.length;
    if (received > largestBody) request.unpipe(form).destroy(tooLarge());
  });
  try {
    await pipeline(request, form);
  } catch (error) {
    await storing.catch(() => undefined);
    if (refusal !== null) throw refusal;
    if (error instanceof AppError) throw error;
    throw brokenBody();
  }
  await storing;
  if (refusal !== null) throw refusal;
  if (filename === null) throw bareBadRequest('The body has no part "file" with the CSV');
  return { filename };
}

function openForm(request: IncomingMessage): busboy.Busboy {
  try {
    // The limit counts as reached when a file has exactly so many bytes.
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: { fileSize: largestFile + 1, parts: 100, fieldSize: 64 * 1024 },
    });
  } catch {
    request.resume();
    throw brokenBody();
  }
}

async function store(sql: Sql, jobId: string, stream: Readable): Promise<void> {
  let held: Buffer[] = [];
  let bytes = 0;
  let part = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    held.push(piece);
    bytes += piece.length;
    while (bytes >= partBytes) {
      const all = Buffer.concat(held);
      await storePart(sql, jobId, part++, all.subarray(0, partBytes));
      held = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0 || part === 0) await storePart(sql, jobId, part, Buffer.concat(held));
}

function tooLarge(): AppError {
  return new AppError(413, 'PAYLOAD_TOO_LARGE', `The file is larger than ${largestFile / megabyte} MB`, {
    details: { limitBytes: largestFile },
    headers: { Connection: 'close' },
  });
}

function brokenBody(): AppError {
  return new AppError(400, 'INVALID_REQUEST_BODY', 'The body is not complete multipart/form-data', {
    suggestion: 'Let your HTTP client build the multipart body and set its Content-Type.',
  });
}
