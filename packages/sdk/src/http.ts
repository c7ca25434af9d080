import { type ApiResponse, FernpostError, responseOf } from './responses.ts';
import { version } from './version.ts';

/** How a client reaches the service. */
export interface ClientOptions {
  /** Where the API is, such as `https://mail.acme.com`; a path stays: `https://acme.com/mail`. */
  baseUrl: string;
  /** Secret key of a project, a key with scopes, or the public key where only `track` is used. */
  key: string;
  /** Attempts after the first one, where repeating is safe; 2 when absent. */
  retries?: number;
  /** Milliseconds that one attempt may take; 30,000 when absent. */
  timeoutMs?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
  /** Turns a React element into HTML, where `@react-email/render` cannot be loaded at run time, as in a bundle. */
  render?: (element: never) => string | Promise<string>;
  /** Gets warnings, such as fields that the service ignored; `console.warn` when absent. Each warning comes once. */
  onWarning?: (warning: string) => void;
}

/** Options of a call besides its body. */
export interface CallOptions {
  /**
   * One is generated for calls that take a key, and kept over their retries. Name your own where your program may restart in between: the
   * same call with the same key is done once and returns the same.
   */
  idempotencyKey?: string;
  /** The `etag` of the version that you read: the call fails with 412 if somebody else has changed it since. */
  ifMatch?: string;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds that one attempt may take, in place of the client's `timeoutMs`. */
  timeoutMs?: number;
  /** Ends the call, also while it waits to be repeated. */
  signal?: AbortSignal;
}

interface Call extends CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** The route reads `Idempotency-Key`, so that repeating it is safe. */
  takesKey?: boolean;
}

const longestPauseMs = 30_000;

// A browser names itself, and would ask the service first whether the header is allowed.
const isBrowser = () => 'document' in globalThis || 'WorkerGlobalScope' in globalThis;

/** Sends requests, and repeats those that may be repeated: reads, and writes that carry an Idempotency-Key. */
export class Http {
  readonly #options: ClientOptions;

  /** @throws TypeError for an address that is not one, and without a key */
  constructor(options: ClientOptions) {
    if (!isHttpUrl(options.baseUrl))
      throw new TypeError(
        `baseUrl must be an address such as https://mail.acme.com, not ${JSON.stringify(options.baseUrl)}.`,
      );
    if (!options.key) throw new TypeError('key is missing: pass a key of your project.');
    this.#options = options;
  }

  /**
   * @throws FernpostError for a refusal; what `fetch` throws when there is no response; the reason of the signal when it aborts
   */
  async call(method: string, path: string, call: Call = {}): Promise<ApiResponse<unknown>> {
    const isSafe = method === 'GET' || call.takesKey === true;
    const key = call.takesKey ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const attempts = isSafe ? 1 + (this.#options.retries ?? 2) : 1;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attempts;
      const outcome = await this.#attempt(method, path, call, key).catch((cause: unknown) => {
        if (isLast || call.signal?.aborted) throw cause;
        return null;
      });
      if (outcome !== null && !(outcome instanceof FernpostError)) return outcome;
      if (outcome !== null && (isLast || !(outcome.status === 429 || outcome.status >= 500))) throw outcome;
      await pause(delayOf(outcome, attempt), call.signal);
    }
  }

  /** One request with its whole response: a refusal is returned, so that the caller may repeat it. */
  async #attempt(method: string, path: string, call: Call, key: string | undefined) {
    const { query, body, headers, signal, ifMatch } = call;
    const url = urlOf(this.#options.baseUrl, path);
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const isForm = body instanceof FormData;
    const timeout = AbortSignal.timeout(call.timeoutMs ?? this.#options.timeoutMs ?? 30_000);
    const response = await (this.#options.fetch ?? fetch)(url, {
      method,
      headers: {
        Authorization: `Bearer ${this.#options.key}`,
        ...(isBrowser() ? {} : { 'User-Agent': `fernpost-js/${version}` }),
        // A repetition of a request that was done gets the response that was lost.
        ...(key === undefined ? {} : { 'Idempotency-Key': key, 'Idempotency-Mode': 'replay' }),
        ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
        ...headers,
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (response.ok) return responseOf(await contentOf(response), response);
    const refusal: unknown = await response.json().catch(() => null);
    return new FernpostError(response.status, refusal, response.headers);
  }
}

/** An address below a base whose path stays. */
export function urlOf(base: string, path: string): URL {
  const url = new URL(base);
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, '')}${path}`);
}

/** Resolves after so many milliseconds. @throws the reason of the signal, as soon as it aborts */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function contentOf(response: Response): Promise<unknown> {
  const isJson = response.headers.get('content-type')?.includes('json');
  return response.status === 204 ? Promise.resolve(undefined) : isJson ? response.json() : response.text();
}

// As long as the service says, otherwise twice as long each time, with jitter so that clients do not come back together.
function delayOf(refusal: FernpostError | null, attempt: number): number {
  const asked = Number(refusal?.headers.get('retry-after') ?? 0) * 1_000;
  const ms = asked > 0 ? asked : 250 * 2 ** (attempt - 1) * (0.5 + Math.random());
  return Math.min(ms, longestPauseMs);
}
