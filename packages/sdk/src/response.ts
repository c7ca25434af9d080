import { type IgnoredField, readIgnoredFields } from './ignored-fields.ts';

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

/** What a response says in its headers, beside its data. */
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
