import { setTimeout as sleep } from 'node:timers/promises';

/** An answer of the API or of the sandbox. */
interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a script that reads a few fields of many kinds of answers.
  body: any;
}

/** Calls one server with JSON. */
export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

const answerMs = 10_000;
const retryMs = 250;

/** A client of a server that may be away; each call is tried once and rejects when no answer comes. */
export function client(baseUrl: string, key: string | null): Call {
  return async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
    return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text };
  };
}

/** Tries again until an attempt answers something, as a caller does whose server is away for a moment. */
export async function until<T>(attempt: () => Promise<T | null>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const answer = await attempt().catch(() => null);
    if (answer !== null) return answer;
    await sleep(retryMs, undefined, { signal });
  }
}
