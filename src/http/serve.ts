import { createHmac, hash } from 'node:crypto';
import type { Context } from 'koa';
import { AppError } from '../lib/errors.ts';
import type { Author, Database } from '../store/sql.ts';
import { discard, type JsonBody } from './bodies/reader.ts';
import { type BodyOwner, RouteBody } from './body.ts';
import type { Admitted, App, Handled, RequestCredentials } from './context.ts';
import { runHandler } from './handler.ts';
import {
  checkIdempotencyKey,
  isReplayMode,
  type KeyedRequest,
  keepAnswer,
  RepeatedRequest,
  refusalOfKeyed,
  writeOnceWith,
} from './idempotency.ts';
import { ignoredFieldsHeader, ignoredFieldsOf, ignoredFieldsText, namesIgnoredFields } from './ignored-fields.ts';
import type { HttpMetrics } from './metrics.ts';
import { type RateLimiter, rateHeaders } from './rate-limit.ts';
import { Reply, type Route } from './route.ts';

/** The parts that the HTTP layer adds to those of the service. */
export interface HttpParts {
  routes: readonly Route[];
  /** Decides who a request comes from and what they may do; throws the refusal. */
  authenticate: (route: Route, credentials: RequestCredentials) => Promise<Admitted>;
  /** Origins whose pages may call the API with the cookie of a session. */
  origins: ReadonlySet<string>;
  limiter: RateLimiter;
  metrics: HttpMetrics;
}

/** The state of a request while it is served. */
export interface RequestState {
  requestId: string;
  startedAt: number;
  route: string;
  projectId: string | null;
}

/** Serves one request to a route. @throws what the request is refused with */
export async function serveRequest(ctx: Context, route: Route, app: App, parts: HttpParts): Promise<void> {
  const reader = new RouteBody();
  try {
    await new RoutedRequest(ctx, route, app, parts, reader).serve();
  } finally {
    reader.release();
  }
}

class RoutedRequest {
  readonly #ctx: Context;
  readonly #route: Route;
  readonly #app: App;
  readonly #parts: HttpParts;
  readonly #reader: RouteBody;
  readonly #state: RequestState;
  readonly #params: Record<string, string>;
  #body: Promise<JsonBody> | null = null;

  constructor(ctx: Context, route: Route, app: App, parts: HttpParts, reader: RouteBody) {
    this.#ctx = ctx;
    this.#route = route;
    this.#app = app;
    this.#parts = parts;
    this.#reader = reader;
    this.#state = ctx.state as RequestState;
    // The router sets them; a path without parameters does not go through it.
    this.#params = (ctx as Context & { params?: Record<string, string> }).params ?? {};
  }

  // The order is the contract's (docs/contract/core.md#1-4): authentication, project, rate, body, idempotency key, schema,
  // handler.
  async serve(): Promise<void> {
    this.#state.route = this.#route.path;
    // Answers hold keys, sessions and people's data: no cache keeps one unless its route says so.
    this.#ctx.set('Cache-Control', 'no-store');
    this.#route.guard?.(this.#app);
    const admitted = await this.#admit();
    const author = this.#authorOf(admitted);
    const db =
      this.#route.heavy && admitted.project !== null
        ? this.#app.heavyReads.of(admitted.project.id, author)
        : this.#app.db.session(author);
    const read = await this.#readOnce();
    // The request itself was counted before its body was read.
    await this.#count(admitted, (this.#route.rateCost?.(read.value) ?? 1) - 1);
    const keyed = this.#keyed(admitted, read);
    const result =
      keyed === null
        ? await this.#handle(admitted, read, db, { writeOnce: (work) => work(db), keepAnswer: async () => undefined })
        : await this.#handleKeyed(admitted, read, db, keyed);
    this.#answer(result);
    this.#nameIgnored(read);
  }

  async #handleKeyed(admitted: Admitted, read: JsonBody, db: Database, keyed: KeyedRequest): Promise<unknown> {
    const { method, path } = this.#route;
    const writeOnce = writeOnceWith(db, keyed);
    const done = { written: false, answered: keyed.requestHash === null };
    try {
      const result = await this.#handle(admitted, read, db, {
        writeOnce(work, keepsKey) {
          done.written = true;
          // Work that is repeated was undone together with its answer.
          const attempt: typeof work = (tx) => {
            done.answered = keyed.requestHash === null;
            return work(tx);
          };
          return writeOnce(attempt, keepsKey);
        },
        async keepAnswer(tx, body) {
          if (!done.answered) await keepAnswer(tx, keyed, body);
          done.answered = true;
        },
      });
      if (!done.written) throw new Error(`${method} ${path} wrote without its Idempotency-Key`);
      if (!done.answered) throw new Error(`${method} ${path} kept no answer for a repetition`);
      return result;
    } catch (error) {
      const isRefusal = error instanceof AppError && error.status < 500 && !done.written;
      const answer = isRefusal ? await refusalOfKeyed(db, keyed, error) : error;
      if (answer instanceof RepeatedRequest)
        return new Reply(answer.status, answer.body, { 'Idempotency-Replayed': 'true' });
      throw answer;
    }
  }

  // The hash of the address is stored with changes, so it is computed only when there is one.
  #authorOf({ actor }: Admitted): Author | null {
    if (actor === null) return null;
    const { requestId } = this.#state;
    const { ip } = this.#ctx;
    const ipHash = () => createHmac('sha256', this.#app.config.APP_ENCRYPTION_KEY).update(ip).digest();
    const id = actor.kind === 'user' ? actor.userId : (actor.scoped?.id ?? null);
    const key = actor.kind === 'key' ? actor.scoped : null;
    const isLimited = key !== null && key.recipients !== null;
    return { kind: actor.kind, id, requestId, ipHash, isLimited, senderDomains: key?.senderDomains ?? null };
  }

  async #admit(): Promise<Admitted> {
    const { method } = this.#ctx;
    const params = this.#params;
    const body = async () => (await this.#readOnce()).value;
    const admitted = await this.#parts.authenticate(this.#route, {
      // A HEAD reads, as its GET does.
      method: method === 'HEAD' ? 'GET' : method,
      params,
      header: (name) => this.#ctx.get(name),
      findProject: async (userId) =>
        (await this.#route.findProject?.({ app: this.#app, params, userId, body })) ?? null,
    });
    this.#state.projectId = admitted.project?.id ?? null;
    if (!this.#route.exemptFromRateLimit) await this.#count(admitted, 1);
    return admitted;
  }

  async #count({ project, apart }: Admitted, requests: number): Promise<void> {
    if (project === null || requests <= 0) return;
    const rate = await this.#parts.limiter.take(project.id, requests, apart);
    if (rate) this.#ctx.set(rateHeaders(rate));
  }

  #readOnce(): Promise<JsonBody> {
    this.#body ??= this.#read();
    return this.#body;
  }

  async #read(): Promise<JsonBody> {
    const { bodyKind, body, bodyLimit = 'form' } = this.#route;
    const { req } = this.#ctx;
    if (bodyKind === 'stream') return { value: req };
    if (bodyKind === 'raw') return { value: await this.#reader.bytes(req, bodyLimit, this.#bodyOwner()) };
    if (bodyKind === 'form') return { value: await this.#reader.form(this.#ctx, bodyLimit, this.#bodyOwner()) };
    if (body !== undefined) return this.#reader.json(this.#ctx, bodyLimit, this.#bodyOwner());
    // Unread bytes would stay in the connection and be taken for the next request.
    discard(req);
    return { value: {} };
  }

  #bodyOwner(): BodyOwner {
    if (this.#route.access === 'none') return { kind: 'open', id: this.#ctx.ip };
    // A session may be let in before it is known for which project.
    return { kind: 'keyed', id: this.#state.projectId ?? this.#ctx.ip };
  }

  #keyed({ project, apart }: Admitted, { value }: JsonBody): KeyedRequest | null {
    const given = this.#ctx.headers['idempotency-key'];
    const { idempotent, path, status: successStatus = 200 } = this.#route;
    if (!idempotent || project === null) return null;
    const isReplay = isReplayMode(this.#ctx.get('idempotency-mode'), given !== undefined);
    if (given === undefined) return null;
    const key = Array.isArray(given) ? given.join(', ') : given;
    checkIdempotencyKey(key);
    const { IDEMPOTENCY_KEY_TTL_HOURS: ttlHours } = this.#app.config;
    const { method, url } = this.#ctx;
    const requestHash = isReplay ? hash('sha256', `${method} ${url} ${JSON.stringify(value)}`) : null;
    return { projectId: project.id, key, isApart: apart !== null, method, path, successStatus, ttlHours, requestHash };
  }

  async #handle(
    admitted: Admitted,
    read: JsonBody,
    db: Database,
    writes: Pick<Handled<unknown, unknown, 'secret'>, 'writeOnce' | 'keepAnswer'>,
  ): Promise<unknown> {
    const ctx = this.#ctx;
    return runHandler(this.#route, read, {
      ...admitted,
      app: this.#app,
      db,
      ...writes,
      params: this.#params,
      ip: ctx.ip,
      query: { ...ctx.query },
      requestId: this.#state.requestId,
      log: this.#app.log,
      header: (name) => ctx.get(name),
    });
  }

  // A refusal names its fields itself.
  #nameIgnored({ value }: JsonBody): void {
    if (this.#ctx.status >= 400 || !namesIgnoredFields(this.#route)) return;
    const ignored = ignoredFieldsOf(this.#route, this.#ctx.query, value);
    if (ignored.length > 0) this.#ctx.set(ignoredFieldsHeader, ignoredFieldsText(ignored));
  }

  #answer(result: unknown): void {
    const ctx = this.#ctx;
    if (!(result instanceof Reply)) {
      ctx.status = this.#route.status ?? 200;
      ctx.body = result;
      return;
    }
    ctx.status = result.status;
    ctx.set(result.headers);
    // Koa would make a 204 of a null body, whatever status was set.
    ctx.body = result.body === undefined ? (result.status === 204 ? null : '') : result.body;
  }
}
