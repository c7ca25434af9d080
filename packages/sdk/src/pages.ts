import { type CallOptions, pause } from './http.ts';
import { ApiPromise, type ApiResponse } from './responses.ts';

/** How a method waits for work of the service. */
export interface WaitOptions extends Pick<CallOptions, 'headers' | 'signal' | 'timeoutMs'> {
  /** Milliseconds between two checks; 1,000 when absent. */
  everyMs?: number;
}

/** Checks again until it is done. @throws the reason of the signal, as soon as it aborts */
export async function poll<Value>(
  check: () => PromiseLike<Value>,
  isDone: (value: Value) => boolean,
  { everyMs = 1_000, signal }: WaitOptions,
): Promise<Value> {
  for (;;) {
    const value = await check();
    if (isDone(value)) return value;
    await pause(everyMs, signal);
  }
}

/** A response of a list: its items, and the cursor of the next page. */
type AnyReply = Readonly<Record<string, unknown>> | readonly unknown[];

/** The page of a list that begins somewhere; the first one when absent. */
type ReadPage = (place: object) => Promise<ApiResponse<unknown>>;

/** A page of a list. Iterating it goes through the items of this page. */
export class Page<Item, Reply = unknown> implements Iterable<Item> {
  readonly data: readonly Item[];
  /** Where the next page begins; null after the last one, and for lists whose pages have numbers. */
  readonly cursor: string | null;
  /** Whether there is another page. */
  readonly hasMore: boolean;
  /** Items of all pages; null for lists that are not counted. */
  readonly total: number | null;
  /** The whole response, for lists that say more. */
  readonly reply: Reply;
  readonly #next: object | null;
  readonly #read: ReadPage;

  constructor(reply: Reply, read: ReadPage) {
    const fields = (Array.isArray(reply) ? {} : reply) as Fields;
    this.reply = reply;
    this.data = itemsOf(reply as AnyReply) as readonly Item[];
    this.#next = nextPlace(fields);
    this.#read = read;
    this.cursor = this.#next !== null && 'cursor' in this.#next ? String(this.#next.cursor) : null;
    this.hasMore = this.#next !== null;
    this.total = fields.total ?? (Array.isArray(reply) ? this.data.length : null);
  }

  /** The page after this one; null after the last one. */
  async nextPage(): Promise<Page<Item, Reply> | null> {
    if (this.#next === null) return null;
    const { data } = await this.#read(this.#next);
    return new Page(data as Reply, this.#read);
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.data[Symbol.iterator]();
  }
}

/** A promise of the first page of a list. Iterating it goes through every item, page by page. */
export class PagePromise<Item, Reply = unknown> extends ApiPromise<Page<Item, Reply>> implements AsyncIterable<Item> {
  constructor(read: ReadPage) {
    super(read({}).then((response) => ({ ...response, data: new Page<Item, Reply>(response.data as Reply, read) })));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for (let page: Page<Item, Reply> | null = await this; page !== null; page = await page.nextPage()) yield* page;
  }

  /** Every item of all pages, in an array. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

interface Fields {
  cursor?: string | null;
  nextCursor?: string | null;
  hasMore?: boolean;
  page?: number;
  totalPages?: number;
  total?: number;
}

/** Names under which lists have their items; `data` where there are two. */
const itemNames = ['data', 'events', 'eventNames', 'emails', 'images', 'activities', 'types', 'invoices'] as const;
export type ItemName = (typeof itemNames)[number];

function itemsOf(reply: AnyReply): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  const fields = reply as Readonly<Record<string, unknown>>;
  const items = itemNames.map((name) => fields[name]).find(Array.isArray);
  if (items === undefined) throw new TypeError('The response is no list.');
  return items;
}

function nextPlace({
  cursor,
  nextCursor,
  hasMore,
  page,
  totalPages,
}: Fields): { cursor: string } | { page: number } | null {
  const next = cursor ?? nextCursor;
  if (typeof next === 'string' && hasMore !== false) return { cursor: next };
  return page !== undefined && totalPages !== undefined && page < totalPages ? { page: page + 1 } : null;
}
