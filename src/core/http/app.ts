import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import helmet from 'koa-helmet';
import * as v from 'valibot';
import type { WriteOnce } from '../database/sql.ts';
import { AppError, invalid, invalidField, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { fieldProblems } from '../lib/validation.ts';
import { type BodyOwner, BodyReader, discard, type ReadBody } from './body.ts';
import type { Admitted, App, Handled, RequestCredentials } from './context.ts';
import { cors } from './cors.ts';
import { dashboardPages } from './dashboard.ts';
import { docsPages } from './docs.ts';
import { writeError } from './errors.ts';
import { checkIdempotencyKey, type KeyedRequest, refusalOfKeyed, writeOnceWith } from './idempotency.ts';
import type { HttpMetrics } from './metrics.ts';
import { type RateLimiter, rateHeaders } from './rate-limit.ts';
import { Reply, type Route } from './route.ts';
import { systemRoutes } from './system.ts';
import { literalPathsOnly, unmatched } from './unmatched.ts';

/** What the HTTP layer adds to the parts of the service. */
export interface HttpParts {
  routes: readonly Route[];
  /** Decides who a request comes from and what they may do; throws the refusal. */
  authenticate: (route: Route, credentials: RequestCredentials) => Promise<Admitted>;
  /** Origins whose pages may call the API with the cookie of a session. */
  origins: ReadonlySet<string>;
  limiter: RateLimiter;
  metrics: HttpMetrics;
}

interface RequestState {
  requestId: string;
  startedAt: number;
  route: string;
  projectId: string | null;
}

/** Builds the Koa application. It listens to nothing; `main` does that. */
export function createHttpApp(app: App, parts: HttpParts): Koa {
  const koa = new Koa();
  koa.proxy = app.config.TRUST_PROXY > 0;
  koa.maxIpsCount = app.config.TRUST_PROXY;
  // Whatever a request does wrong is answered and logged below; what is left are connections that broke.
  koa.on('error', (error: Error) => app.log.debug({ err: error.message }, 'a connection broke'));
  koa.use(answerAndLog(app, parts.metrics));
  koa.use(cors(parts.origins));
  koa.use(
    helmet({ contentSecurityPolicy: false, strictTransportSecurity: app.config.PUBLIC_URL.startsWith('https:') }),
  );
  const router = new Router();
  const routes = [...systemRoutes(parts.metrics, parts.routes), ...parts.routes];
  for (const each of literalPathsFirst(routes))
    router.register(each.path, [each.method], (ctx: Context) => serve(ctx, each, app, parts));
  koa.use(literalPathsOnly(routes, router.routes() as Koa.Middleware));
  koa.use(docsPages());
  koa.use(dashboardPages());
  koa.use(unmatched());
  return koa;
}

function answerAndLog(app: App, metrics: HttpMetrics): Koa.Middleware {
  return async (ctx, next) => {
    const sent = ctx.get('x-request-id');
    const state: RequestState = {
      requestId: isUuid(sent) ? sent : randomUUID(),
      startedAt: performance.now(),
      route: 'none',
      projectId: null,
    };
    ctx.state = state;
    ctx.set('X-Request-ID', state.requestId);
    try {
      await next();
    } catch (error) {
      writeError(ctx, error, state.requestId, app.log);
    }
    const milliseconds = performance.now() - state.startedAt;
    metrics.observe(ctx.method, state.route, ctx.status, milliseconds / 1000);
    app.log.info(
      {
        requestId: state.requestId,
        method: ctx.method,
        route: state.route,
        status: ctx.status,
        ms: Math.round(milliseconds * 10) / 10,
        ...(state.projectId ? { projectId: state.projectId } : {}),
      },
      'request',
    );
  };
}

async function serve(ctx: Context, route: Route, app: App, parts: HttpParts): Promise<void> {
  const reader = new BodyReader();
  try {
    await serveWith(reader, ctx, route, app, parts);
  } finally {
    reader.release();
  }
}

// The order is the contract's (page 1, 1.4): authentication, project, rate, body, idempotency key, schema, handler.
async function serveWith(reader: BodyReader, ctx: Context, route: Route, app: App, parts: HttpParts): Promise<void> {
  const state = ctx.state as RequestState;
  state.route = route.path;
  const body = once(() => readBody(reader, ctx, route));
  // Answers hold keys, sessions and people's data: no cache keeps one unless its route says so.
  ctx.set('Cache-Control', 'no-store');
  route.guard?.(app);
  const admitted = await admit(ctx, route, app, parts, body);
  const read = await body();
  await countBody(ctx, route, admitted, parts.limiter, read);
  const keyed = keyedRequest(ctx, route, app, admitted);
  if (keyed === null) {
    answer(ctx, route, await handle(ctx, route, app, admitted, read, (work) => work(app.db)));
    return;
  }
  const writeOnce = writeOnceWith(app.db, keyed);
  let written = false;
  try {
    const result = await handle(ctx, route, app, admitted, read, (work, keepsKey) => {
      written = true;
      return writeOnce(work, keepsKey);
    });
    answer(ctx, route, result);
  } catch (error) {
    const isRefusal = error instanceof AppError && error.status < 500 && !written;
    throw isRefusal ? await refusalOfKeyed(app.db, keyed, error) : error;
  }
  if (!written) throw new Error(`${route.method} ${route.path} wrote without its Idempotency-Key`);
}

function keyedRequest(ctx: Context, route: Route, app: App, { project }: Admitted): KeyedRequest | null {
  const given = ctx.headers['idempotency-key'];
  if (!route.idempotent || project === null || given === undefined) return null;
  const key = Array.isArray(given) ? given.join(', ') : given;
  checkIdempotencyKey(key);
  const { IDEMPOTENCY_KEY_TTL_HOURS: ttlHours } = app.config;
  return {
    projectId: project.id,
    key,
    method: ctx.method,
    path: route.path,
    successStatus: route.status ?? 200,
    ttlHours,
  };
}

async function admit(
  ctx: Context,
  route: Route,
  app: App,
  { authenticate, limiter }: HttpParts,
  body: () => Promise<ReadBody>,
): Promise<Admitted> {
  const params = paramsOf(ctx);
  const admitted = await authenticate(route, {
    // A HEAD reads, as its GET does.
    method: ctx.method === 'HEAD' ? 'GET' : ctx.method,
    params,
    header: (name) => ctx.get(name),
    findProject: async (userId) =>
      (await route.findProject?.({ app, params, userId, body: async () => (await body()).value })) ?? null,
  });
  const { project } = admitted;
  if (project === null) return admitted;
  (ctx.state as RequestState).projectId = project.id;
  if (!route.exemptFromRateLimit) {
    const rate = await limiter.take(project.id);
    if (rate) ctx.set(rateHeaders(rate));
  }
  return admitted;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}

function paramsOf(ctx: Context): Record<string, string> {
  return (ctx as Context & { params: Record<string, string> }).params;
}

async function countBody(
  ctx: Context,
  route: Route,
  { project }: Admitted,
  limiter: RateLimiter,
  read: ReadBody,
): Promise<void> {
  // The request itself was counted before its body was read.
  const more = (route.rateCost?.(read.value) ?? 1) - 1;
  if (project === null || more <= 0) return;
  const rate = await limiter.take(project.id, more);
  if (rate) ctx.set(rateHeaders(rate));
}

async function readBody(reader: BodyReader, ctx: Context, route: Route): Promise<ReadBody> {
  if (route.bodyKind === 'stream') return { value: ctx.req };
  const limit = route.bodyLimit ?? 'form';
  if (route.bodyKind === 'raw') return { value: await reader.bytes(ctx.req, limit, bodyOwner(ctx, route)) };
  if (route.body === undefined) {
    // Unread bytes would stay in the connection and be taken for the next request.
    discard(ctx.req);
    return { value: {} };
  }
  return reader.json(ctx, limit, bodyOwner(ctx, route));
}

function bodyOwner(ctx: Context, route: Route): BodyOwner {
  if (route.access === 'none') return { kind: 'open', id: ctx.ip };
  // A session may be let in before it is known for which project.
  return { kind: 'keyed', id: (ctx.state as RequestState).projectId ?? ctx.ip };
}

async function handle(
  ctx: Context,
  route: Route,
  app: App,
  { project, actor }: Admitted,
  read: ReadBody,
  writeOnce: WriteOnce,
): Promise<unknown> {
  const params = paramsOf(ctx);
  for (const [name, resource] of Object.entries(route.ids ?? {})) {
    const id = params[name] ?? '';
    if (resource === undefined || isUuid(id)) continue;
    throw resource === '422' ? invalidField(name, 'must be a UUID', 'invalid_string') : notFound(resource, id);
  }
  const { requestId } = ctx.state as RequestState;
  const db = app.db.session();
  const input: Omit<Handled<unknown, unknown, 'secret'>, 'project' | 'actor'> & Admitted = {
    app,
    db,
    writeOnce,
    project,
    actor,
    params,
    ip: ctx.ip,
    query: route.query ? parseQuery(route.query, { ...ctx.query }) : {},
    body: route.body && route.bodyKind === undefined ? parseBody(route, read) : read.value,
    requestId,
    log: app.log,
    header: (name) => ctx.get(name),
  };
  return route.handle(input as Parameters<Route['handle']>[0]);
}

function parseQuery(schema: v.GenericSchema, query: unknown): unknown {
  const parsed = v.safeParse(schema, query);
  if (parsed.success) return parsed.output;
  throw invalid(fieldProblems(parsed.issues), 'Compare the query string with the API reference.');
}

function parseBody(route: Route, read: ReadBody): unknown {
  const schema = route.body as v.GenericSchema;
  if (Array.isArray(read.value))
    throw invalid([{ field: '', code: 'invalid_type', message: 'must be an object, not an array', received: 'array' }]);
  const parsed = v.safeParse(schema, read.value);
  if (parsed.success) return parsed.output;
  const problems = fieldProblems(parsed.issues);
  const own = route.bodyError?.(problems, read.value, read.suggestion);
  if (own === null || own === undefined) throw invalid(problems, read.suggestion);
  // A bare error has no place for a suggestion, and without it a form that was sent by mistake looks like a missing field.
  throw own.bare && read.suggestion
    ? new AppError(own.status, own.code, `${own.message}. ${read.suggestion}`, own.extra, true)
    : own;
}

function answer(ctx: Context, route: Route, result: unknown): void {
  if (result instanceof Reply) {
    ctx.status = result.status;
    ctx.set(result.headers);
    // Koa would make a 204 of a null body, whatever status was set.
    ctx.body = result.body === undefined ? (result.status === 204 ? null : '') : result.body;
    return;
  }
  ctx.status = route.status ?? 200;
  ctx.body = result;
}

// `/contacts/fields` is never an id of `/contacts/:id`.
function literalPathsFirst(routes: readonly Route[]): Route[] {
  const rank = (path: string) =>
    path
      .split('/')
      .map((segment) => (segment.startsWith(':') || segment.includes('*') ? '1' : '0'))
      .join('');
  return [...routes].sort((one, other) =>
    rank(one.path) < rank(other.path) ? -1 : rank(one.path) > rank(other.path) ? 1 : 0,
  );
}
