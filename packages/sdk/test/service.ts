import { type ClientOptions, Fernpost } from '../src/index.ts';

/** A request that a client made. */
interface Asked {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
}

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | Error;

/** A client of a service that gives these answers one after the other, the last one for ever, with what it was asked. */
export function clientOf(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const asked: Asked[] = [];
  const warnings: string[] = [];
  const ask = async (url: string | URL | Request, init: RequestInit = {}) => {
    const { method = 'GET', headers, body } = init;
    init.signal?.throwIfAborted();
    asked.push({
      method,
      url: new URL(String(url)),
      headers: new Headers(headers),
      body: typeof body === 'string' ? JSON.parse(body) : body,
    });
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    const { status = 200, body: told = {}, headers: more = {} } = answer;
    const content = typeof told === 'string' ? told : JSON.stringify(told);
    const type = typeof told === 'string' ? 'text/html' : 'application/json';
    return new Response(status === 204 ? null : content, { status, headers: { 'Content-Type': type, ...more } });
  };
  const fernpost = new Fernpost({
    baseUrl: 'https://mail.acme.com',
    key: 'sk_1',
    fetch: ask as typeof fetch,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  return { fernpost, asked, warnings };
}
