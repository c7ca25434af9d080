import { FernpostError } from '@fernpost/sdk';

/** What the program ends with. */
export const exitCodes = { refused: 1, usage: 2, unreachable: 3 } as const;

/** Something that the user has to change: a missing file, a missing key. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** An error for people, the same for programs, and how the program ends. */
export function explainError(error: unknown): { text: string; json: object; code: number } {
  if (error instanceof FernpostError) {
    const fields = error.fields.map(({ field, message }) => `\n  ${field}: ${message}`).join('');
    const request = error.requestId === null ? '' : `\n  Request: ${error.requestId}`;
    const { status, code, message, requestId } = error;
    return {
      text: `${error.message}${fields}${request}`,
      json: { error: { status, code, message, fields: error.fields, requestId } },
      code: exitCodes.refused,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError)
    return { text: message, json: { error: { code: 'USAGE', message } }, code: exitCodes.usage };
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  // `fetch` says so when nobody answers, and fails with a TimeoutError when it takes too long.
  if (error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError')) {
    const text = `The service did not answer (${message}${cause}). Is the address right? --url, FERNPOST_URL or fernpost login set it.`;
    return { text, json: { error: { code: 'UNREACHABLE', message: text } }, code: exitCodes.unreachable };
  }
  return { text: message, json: { error: { code: 'FAILED', message } }, code: exitCodes.refused };
}
