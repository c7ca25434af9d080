/** A field that was refused. */
export interface FieldProblem {
  /** Its path with dots, such as `to.0.email`. */
  field: string;
  message: string;
  code: string;
}

interface Envelope {
  code?: string;
  message?: string;
  errors?: readonly FieldProblem[];
  details?: Readonly<Record<string, unknown>>;
  suggestion?: string;
}

/**
 * A response with a status of 400 or more. The service has two forms of them, `{ "error": { "code", "message", … } }` and
 * `{ "error": "message" }`; both have every property here.
 */
export class FernpostError extends Error {
  override name = 'FernpostError';
  readonly status: number;
  /** Error code, for programs: `VALIDATION_ERROR`, `RATE_LIMIT_EXCEEDED` and so on. From the status where the body has none. */
  readonly code: string;
  /** Facts about the refusal, such as `reason`, `needed` or `limitBytes`; empty where there are none. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Advice on how to fix it; null where the service has none. */
  readonly suggestion: string | null;
  /** The fields that were refused. */
  readonly fields: readonly FieldProblem[];
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | null;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers: Headers;

  /** @param body the parsed response body; null where it is not JSON */
  constructor(status: number, body: unknown, headers: Headers = new Headers()) {
    const { error } = (body ?? {}) as { error?: string | Envelope };
    const envelope: Envelope =
      typeof error === 'object' && error !== null ? error : { ...(error && { message: error }) };
    super(envelope.message ?? `The service responded with status ${status}.`);
    this.status = status;
    this.code = typeof envelope.code === 'string' ? envelope.code : codeOf(status);
    this.details = envelope.details ?? {};
    this.suggestion = envelope.suggestion ?? null;
    this.fields = envelope.errors ?? [];
    this.requestId = headers.get('x-request-id');
    this.headers = headers;
  }
}

// The service's own codes for these statuses.
const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'BILLING_LIMIT_EXCEEDED',
  403: 'FORBIDDEN',
  404: 'RESOURCE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  410: 'TOO_LATE',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMIT_EXCEEDED',
};

function codeOf(status: number): string {
  if (status >= 500) return status === 500 ? 'INTERNAL_SERVER_ERROR' : 'SERVICE_UNAVAILABLE';
  return codes[status] ?? `HTTP_${status}`;
}

/** How much of the project's rate limit is left. */
export interface RateLimit {
  /** Requests of one window. */
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
}

/** A response: the value that the method resolves to, and what the service said beside it. */
export interface ApiResponse<Data> {
  data: Data;
  status: number;
  headers: Headers;
  /** Identifies the request in the logs of the service. */
  requestId: string | null;
  /** The version of the resource, for `ifMatch` of the next update. */
  etag: string | null;
  rateLimit: RateLimit | null;
  /** Fields and query parameters of the request that the service did not read. */
  ignoredFields: readonly IgnoredField[];
}

/** Returns the data of a response with the facts in its headers. */
export function responseOf<Data>(data: Data, { status, headers }: Response): ApiResponse<Data> {
  const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers.get(`ratelimit-${name}`);
    return value === null ? null : Number(value);
  });
  const rateLimit =
    limit == null || remaining == null || resetSeconds == null ? null : { limit, remaining, resetSeconds };
  return {
    data,
    status,
    headers,
    requestId: headers.get('x-request-id'),
    etag: headers.get('etag'),
    rateLimit,
    ignoredFields: readIgnoredFields(headers.get('x-ignored-fields')),
  };
}

/** A promise of a value, which also gives the response around it. The request is sent at once, awaited or not. */
export class ApiPromise<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'ApiPromise';
  readonly #response: Promise<ApiResponse<Data>>;

  constructor(response: Promise<ApiResponse<Data>>) {
    this.#response = response;
  }

  /** The value with the headers of its response: ETag, rate limits, the ID of the request. */
  withResponse(): Promise<ApiResponse<Data>> {
    return this.#response;
  }

  /** The same response with another value. */
  map<Other>(change: (data: Data) => Other): ApiPromise<Other> {
    return new ApiPromise(this.#response.then((response) => ({ ...response, data: change(response.data) })));
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, whose data is taken out only for whoever asks for it
  then<Kept = Data, Failed = never>(
    onDone?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    onError?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Kept | Failed> {
    return this.#response.then(({ data }) => data).then(onDone, onError);
  }

  catch<Failed = never>(onError?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null): Promise<Data | Failed> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Data> {
    return this.#response.then(({ data }) => data).finally(onEnd);
  }
}

/** A field or query parameter that the service did not read. */
export interface IgnoredField {
  /** Its path with dots, such as `steps.0.subjekt`. */
  name: string;
  /** The field that was probably meant. */
  use: string | null;
  /** It is a query parameter: unknown, or with a value that its default replaced. */
  inQuery: boolean;
}

// An item of a list of RFC 9651: a token or a quoted string, with parameters.
const value = String.raw`"(?:[^"\\]|\\.)*"|[^\s",;]+`;
const items = new RegExp(String.raw`(${value})((?:\s*;\s*[a-z]+=(?:${value}))*)`, 'g');
const parameters = new RegExp(String.raw`;\s*([a-z]+)=(${value})`, 'g');

/** Reads the header `X-Ignored-Fields`, such as `first_name;use="data.firstName", limit;in=query`. */
function readIgnoredFields(header: string | null): IgnoredField[] {
  return [...(header ?? '').matchAll(items)].map(([, name = '', rest = '']) => {
    const named = new Map([...rest.matchAll(parameters)].map(([, key = '', given = '']) => [key, plain(given)]));
    return { name: plain(name), use: named.get('use') ?? null, inQuery: named.get('in') === 'query' };
  });
}

/** One warning for each: `upsertContact ignored "first_name": use "data.firstName"`. */
export function warningOf(operation: string, { name, use, inQuery }: IgnoredField): string {
  const kind = inQuery ? 'the query parameter ' : '';
  const hint = use === null ? '' : `: use ${JSON.stringify(use)}`;
  return `${operation} ignored ${kind}${JSON.stringify(name)}${hint}.`;
}

function plain(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner = text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  try {
    return decodeURIComponent(inner);
  } catch {
    return inner;
  }
}
