import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import * as v from 'valibot';
import { type ArrivingFile, type MultipartRules, readMultipart } from '../http/server/multipart.ts';
import { AppError, bareBadRequest, invalid, invalidField } from '../lib/errors.ts';
import { KeyedTurns } from '../lib/keyed-turns.ts';
import { cutText } from '../lib/text.ts';
import { fieldProblems } from '../lib/validation/problems.ts';
import type { Database } from '../store/sql.ts';
import { partBytes, removeFile, storePart } from './csv.ts';
import { ImportOptions } from './schema.ts';

const megabyte = 1024 * 1024;
/** Largest file that is imported (docs/contract/core.md#1-10). */
const largestFile = 5 * megabyte;
const longestName = 255;
// Many files that a project uploads at once are taken no faster than this, a part after the other; their clients wait.
const storing = new KeyedTurns({ atOnce: 1, rest: { freeMs: 200, times: 6, mostMs: 400 } });

const rules: MultipartRules = {
  fileBytes: largestFile,
  bodyBytes: 4 * largestFile,
  parts: 100,
  notMultipart: () => bareBadRequest('Send the CSV as the part "file" of a multipart/form-data body'),
  broken: () =>
    new AppError(400, 'INVALID_REQUEST_BODY', 'The body is not complete multipart/form-data', {
      suggestion: 'Let your HTTP client build the multipart body and set its Content-Type.',
    }),
  tooLarge: () =>
    new AppError(413, 'PAYLOAD_TOO_LARGE', `The file is larger than ${largestFile / megabyte} MB`, {
      details: { limitBytes: largestFile },
      headers: { Connection: 'close' },
    }),
};

/**
 * Takes the part `file` of a multipart request as a stream and stores it under the job's id, a part of 256 kB at a time;
 * no more than that is held in memory. When this rejects, nothing is stored.
 * Other parts are its options. @throws bare 400 without such a part or when it is no CSV by type and name, 413 over 5 MB, 400 for a broken body
 */
export async function receiveCsv(
  db: Database,
  projectId: string,
  request: IncomingMessage,
  jobId: string,
): Promise<ImportOptions & { filename: string }> {
  let filename: string | null = null;
  const fields: Record<string, unknown> = {};
  try {
    const take = (file: ArrivingFile) => {
      if (file.field !== 'file' || filename !== null) return null;
      filename = cutText(file.filename ?? '', longestName).replaceAll('\0', '\ufffd');
      if (file.mimeType.toLowerCase() !== 'text/csv' && !/\.csv$/i.test(filename))
        throw bareBadRequest('"file" must be of the type text/csv, or its name must end with .csv');
      return store(file.bytes, (part, bytes) => storing.run(projectId, () => storePart(db, jobId, part, bytes)));
    };
    await readMultipart(request, rules, take, (name, value) => {
      if (Object.hasOwn(ImportOptions.entries, name) && value !== '')
        fields[name] = name === 'mapping' ? parsedMapping(value) : value;
    });
    if (filename === null) throw bareBadRequest('The body has no part "file" with the CSV');
    const options = v.safeParse(ImportOptions, fields);
    if (!options.success) throw invalid(fieldProblems(options.issues));
    return { ...options.output, filename };
  } catch (error) {
    // Should this fail as well, retention finds what is left.
    await removeFile(db, jobId).catch(() => undefined);
    throw error;
  }
}

function parsedMapping(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField('mapping', 'must be JSON, such as {"Full name": "data.name", "Notes": null}', 'invalid_string');
  }
}

async function store(stream: Readable, keep: (part: number, bytes: Buffer) => Promise<void>): Promise<void> {
  let held: Buffer[] = [];
  let bytes = 0;
  let part = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    held.push(piece);
    bytes += piece.length;
    while (bytes >= partBytes) {
      const all = Buffer.concat(held);
      await keep(part++, all.subarray(0, partBytes));
      held = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0 || part === 0) await keep(part, Buffer.concat(held));
}
