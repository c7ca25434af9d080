/** How a client reaches the service. */
export interface ClientOptions {
  /** Where the API is, such as `https://mail.acme.com`. */
  baseUrl: string;
  /** Secret key of a project, a key with scopes, or the public key where only `track` is used. */
  key: string;
  /** Attempts after the first one, where repeating is safe; 2 when absent. */
  retries?: number;
  /** Milliseconds that one attempt may take; 30,000 when absent. */
  timeoutMs?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
}

/** What a call may say besides its body. */
export interface CallOptions {
  /**
   * One is generated for calls that take a key, and kept over their retries. Name your own where your program may restart in between: the
   * same call with the same key is done once and answered the same.
   */
  idempotencyKey?: string;
  /** Further headers, such as `If-Match`. */
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The service refused a request, in its own words. */
export class FernpostError extends Error {
  override name = 'FernpostError';
  readonly status: number;
  /** What went wrong, for programs: `VALIDATION_ERROR`, `RATE_LIMIT_EXCEEDED` and so on. */
  readonly code: string;
  /** The fields that were refused. */
  readonly fields: readonly { field: string; message: string; code: string }[];
  /** Names the request in the logs of the service. */
  readonly requestId: string | null;

  constructor(status: number, body: unknown, requestId: string | null) {
    const { error } = (body ?? {}) as { error?: string | { code?: string; message?: string; errors?: [] } };
    const envelope = typeof error === 'object' ? error : { message: error };
    super(envelope.message ?? `The service answered ${status}.`);
    this.status = status;
    this.code = envelope.code ?? 'UNKNOWN';
    this.fields = envelope.errors ?? [];
    this.requestId = requestId;
  }
}

interface Call extends CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** The route reads `Idempotency-Key`, so that repeating it is safe. */
  takesKey?: boolean;
}

const longestPauseMs = 30_000;

/** Sends requests, and repeats those that may be repeated: reads, and writes that carry an Idempotency-Key. */
export class Http {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * @throws FernpostError for a refusal; what `fetch` throws when nobody answers
   */
  async call<Reply>(method: string, path: string, call: Call = {}): Promise<Reply> {
    const isSafe = method === 'GET' || call.takesKey === true;
    const key = call.takesKey ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const attempts = isSafe ? 1 + (this.#options.retries ?? 2) : 1;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attempts;
      const response = await this.#attempt(method, path, call, key).catch((cause: unknown) => {
        if (isLast || call.signal?.aborted) throw cause;
        return null;
      });
      if (response?.ok) return (await answerOf(response)) as Reply;
      if (response !== null && (isLast || !(response.status === 429 || response.status >= 500)))
        throw await errorOf(response);
      await response?.body?.cancel();
      await pause(response, attempt);
    }
  }

  #attempt(method: string, path: string, call: Call, key: string | undefined): Promise<Response> {
    const { query, body, headers, signal } = call;
    const url = new URL(path, this.#options.baseUrl);
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const isForm = body instanceof FormData;
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? 30_000);
    return (this.#options.fetch ?? fetch)(url, {
      method,
      headers: {
        Authorization: `Bearer ${this.#options.key}`,
        // A repetition of a request that was done gets the answer that was lost.
        ...(key === undefined ? {} : { 'Idempotency-Key': key, 'Idempotency-Mode': 'replay' }),
        ...headers,
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  }
}

function answerOf(response: Response): Promise<unknown> {
  const isJson = response.headers.get('content-type')?.includes('json');
  return response.status === 204 ? Promise.resolve(undefined) : isJson ? response.json() : response.text();
}

async function errorOf(response: Response): Promise<FernpostError> {
  const body: unknown = await response.json().catch(() => null);
  return new FernpostError(response.status, body, response.headers.get('x-request-id'));
}

// As long as the service says, otherwise twice as long each time, with jitter so that clients do not come back together.
function pause(response: Response | null, attempt: number): Promise<void> {
  const told = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
  const ms = told > 0 ? told : 250 * 2 ** (attempt - 1) * (0.5 + Math.random());
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, longestPauseMs)));
}
