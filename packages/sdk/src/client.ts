import { type CallOptions, type ClientOptions, Http } from './http.ts';
import { operationTable } from './operations.ts';
import { PagePromise } from './pages.ts';
import { withHtml } from './react.ts';
import { ApiPromise, type ApiResponse, warningOf } from './responses.ts';
import type { InputArguments, Item, ListOperation, OperationId, Reply } from './types.ts';

interface AnyInput {
  path?: Readonly<Record<string, string | number>>;
  query?: object;
  body?: unknown;
}

/** Calls the operations of the API by their names. */
export class OperationClient {
  readonly #http: Http;
  readonly #options: ClientOptions;
  readonly #warned = new Set<string>();

  /** @throws TypeError for an address that is not one, and without a key */
  constructor(options: ClientOptions) {
    this.#http = new Http(options);
    this.#options = options;
  }

  /**
   * Calls an operation by the name that it has in `/openapi.json`.
   * @throws FernpostError for a refusal; what `fetch` throws when there is no response; TypeError for an empty path parameter
   */
  call<Id extends OperationId>(id: Id, ...given: [...InputArguments<Id>, CallOptions?]): ApiPromise<Reply<Id>> {
    const [input = {}, options] = given as unknown as [AnyInput?, CallOptions?];
    return new ApiPromise(this.#request(id, input, options) as Promise<ApiResponse<Reply<Id>>>);
  }

  /** A list: awaited, its first page; iterated, every item of all pages. */
  list<Id extends ListOperation>(
    id: Id,
    ...given: [...InputArguments<Id>, CallOptions?]
  ): PagePromise<Item<Id>, Reply<Id>> {
    const [{ path = {}, query, body } = {}, options] = given as unknown as [AnyInput?, CallOptions?];
    // A search has its cursor where its filters are.
    const isSearch = operationTable[id][0] !== 'GET';
    return new PagePromise((place) =>
      this.#request(
        id,
        isSearch ? { path, body: { ...(body as object), ...place } } : { path, query: { ...query, ...place } },
        options,
      ),
    );
  }

  /** Every item of a list, page by page. */
  all<Id extends ListOperation>(id: Id, ...given: [...InputArguments<Id>, CallOptions?]): AsyncIterable<Item<Id>> {
    return this.list(id, ...given);
  }

  async #request(id: OperationId, { path = {}, query, body }: AnyInput, options?: CallOptions) {
    const [method, template, once] = operationTable[id] as readonly [string, string, 'once'?];
    const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(id, name, path[name]));
    const call = { ...options, query, body: await withHtml(body, this.#options.render), takesKey: once !== undefined };
    const response = await this.#http.call(method, url, call);
    for (const field of response.ignoredFields) this.#warn(warningOf(id, field));
    if (sendsToNobody(id, body)) this.#warn(`${id} has no recipients: "to" is an empty list, and nothing was sent.`);
    return response;
  }

  #warn(warning: string): void {
    if (this.#warned.has(warning) || this.#warned.size >= mostWarnings) return;
    this.#warned.add(warning);
    const { onWarning = (text: string) => console.warn(`Fernpost: ${text}`) } = this.#options;
    onWarning(warning);
  }
}

const mostWarnings = 1_000;

// An empty value would call another operation: that of the list, or of the project.
function segmentOf(id: string, name: string, value: string | number | undefined): string {
  const text = String(value ?? '');
  if (text === '' || text === '.' || text === '..')
    throw new TypeError(`${id} needs ${name}: ${JSON.stringify(text)} is not an ID.`);
  return encodeURIComponent(text);
}

function sendsToNobody(id: OperationId, body: unknown): boolean {
  const isEmpty = (one: unknown) =>
    Array.isArray((one as { to?: unknown } | null)?.to) && (one as { to: [] }).to.length === 0;
  if (id === 'sendEmail') return isEmpty(body);
  const { emails } = (body ?? {}) as { emails?: unknown };
  return id === 'sendEmailBatch' && Array.isArray(emails) && emails.some(isEmpty);
}
