import { FernpostError } from '@fernpost/sdk';

/** What the program ends with. */
export const exitCodes = { refused: 1, usage: 2, unreachable: 3 } as const;

/** Something that the user has to change: a missing file, a missing key. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A failure that belongs to a file of the user. */
class FileError extends Error {
  override name = 'FileError';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(file, { cause });
    this.file = file;
  }
}

/** Does the work; a failure names the file. @throws FileError */
export async function ofFile<Value>(file: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new FileError(file, error);
  }
}

interface Explanation {
  text: string;
  json: { error: Record<string, unknown> };
  code: number;
}

/** An error for people, the same for programs, and how the program ends. */
export function explainError(error: unknown): Explanation {
  if (error instanceof FileError) {
    const { text, json, code } = explainError(error.cause);
    const named = text.includes(error.file) ? text : `${error.file}: ${text}`;
    return { text: named, json: { error: { ...json.error, file: error.file } }, code };
  }
  if (error instanceof FernpostError) {
    const { status, code, message, fields, details, suggestion, requestId } = error;
    const lines = [
      message,
      ...fields.map((one) => `  ${one.field}: ${one.message}`),
      ...(suggestion === null ? [] : [`  ${suggestion}`]),
      ...(requestId === null ? [] : [`  Request: ${requestId}`]),
    ];
    const json = { error: { status, code, message, fields, details, suggestion, requestId } };
    return { text: lines.join('\n'), json, code: exitCodes.refused };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError)
    return { text: message, json: { error: { code: 'USAGE', message } }, code: exitCodes.usage };
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  // `fetch` says so when there is no response, and fails with a TimeoutError when it takes too long.
  if (error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError')) {
    const text = `The service did not answer (${message}${cause}). Is the address right? --url, FERNPOST_URL or fernpost login set it.`;
    return { text, json: { error: { code: 'UNREACHABLE', message: text } }, code: exitCodes.unreachable };
  }
  return { text: message, json: { error: { code: 'FAILED', message } }, code: exitCodes.refused };
}
