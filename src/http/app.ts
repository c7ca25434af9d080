import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import helmet from 'koa-helmet';
import type { Config } from '../lib/config/config.ts';
import { isUuid } from '../lib/ids.ts';
import { type SpanFacts, traced } from '../lib/telemetry.ts';
import type { App } from './context.ts';
import { dashboardPages } from './dashboard.ts';
import { isLiteral, literalPaths, unmatched, writeError } from './errors.ts';
import { docsPages, documentation, downloads } from './files.ts';
import type { HttpMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { type HttpParts, type RequestState, serveRequest } from './serve.ts';
import { systemRoutes } from './system.ts';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Origins of the deployment's own pages and of those that `CORS_EXTRA_ORIGINS` adds: they may call the API with a session. A service on
 * this machine has all its names for it, since people type either.
 */
export function trustedOrigins(config: Config): ReadonlySet<string> {
  const { API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI, CORS_EXTRA_ORIGINS } = config;
  const own = [API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI].filter((url) => url !== null);
  return new Set([...own, ...CORS_EXTRA_ORIGINS].flatMap(originsOf));
}

function originsOf(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [url];
  if (!loopbackHosts.includes(parsed.hostname)) return [parsed.origin];
  return loopbackHosts.map((host) => `${parsed.protocol}//${host}${parsed.port === '' ? '' : `:${parsed.port}`}`);
}

const exposed =
  'X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotency-Replayed, X-Ignored-Fields';

/**
 * CORS (docs/contract/core.md#1-6): `/v1` answers any origin without credentials, everything else only the dashboard's
 * origins, with credentials. Other origins get no CORS headers; the request itself is served.
 */
function cors(allowed: ReadonlySet<string>): Middleware {
  return (ctx, next) => {
    const open = ctx.path === '/v1' || ctx.path.startsWith('/v1/');
    const origin = ctx.get('origin');
    const known = !open && origin !== '' && allowed.has(origin);
    if (!open) ctx.vary('Origin');
    if (open || known) {
      ctx.set('Access-Control-Allow-Origin', open ? '*' : origin);
      ctx.set('Access-Control-Expose-Headers', open ? exposed : `${exposed}, ETag`);
      if (known) ctx.set('Access-Control-Allow-Credentials', 'true');
    }
    if (ctx.method !== 'OPTIONS' || !(open || (known && ctx.get('access-control-request-method') !== '')))
      return next();
    ctx.set(
      'Access-Control-Allow-Methods',
      open ? 'GET, POST, PUT, DELETE, OPTIONS' : 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
    );
    ctx.set(
      'Access-Control-Allow-Headers',
      `Content-Type, Authorization, Idempotency-Key, Idempotency-Mode${open ? '' : ', If-Match, X-Project-Id'}`,
    );
    ctx.set('Access-Control-Max-Age', '600');
    ctx.status = 204;
    return undefined;
  };
}

/** Builds the Koa application. It listens to nothing; `main` does that. */
export function createHttpApp(app: App, parts: HttpParts): Koa {
  const koa = new Koa();
  koa.proxy = app.config.TRUST_PROXY > 0;
  koa.maxIpsCount = app.config.TRUST_PROXY;
  // Whatever a request does wrong is answered and logged below; what is left are connections that broke.
  koa.on('error', (error: Error) => app.log.debug({ err: error.message }, 'a connection broke'));
  koa.use(answerAndLog(app, parts.metrics));
  koa.use(aliases);
  koa.use(cors(parts.origins));
  koa.use(
    helmet({ contentSecurityPolicy: false, strictTransportSecurity: app.config.PUBLIC_URL.startsWith('https:') }),
  );
  const router = new Router();
  let document: unknown;
  const description = () => {
    document ??= openApiDocument(routes, app.config.API_URI);
    return document;
  };
  const routes = [...systemRoutes(parts.metrics, description), ...parts.routes];
  const serve = (ctx: Context, route: Route) => serveRequest(ctx, route, app, parts);
  for (const each of literalPartsFirst(routes.filter(({ path }) => !isLiteral(path))))
    router.register(each.path, [each.method], (ctx: Context) => serve(ctx, each));
  koa.use(literalPaths(routes, serve, router.routes() as Koa.Middleware));
  const docs = documentation(description, app.config.PUBLIC_URL);
  koa.use(docsPages(docs));
  koa.use(downloads(docs));
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
    await traced(ctx.method, { kind: 'server', isRoot: true, parent: ctx.get('traceparent') || null }, async (span) => {
      try {
        await next();
      } catch (error) {
        writeError(ctx, error, state.requestId, app.log);
      }
      span.rename(`${ctx.method} ${state.route}`);
      span.add(spanFacts(ctx, state));
      if (ctx.status >= 500) span.fail();
    });
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

function spanFacts(ctx: Context, { route, requestId, projectId }: RequestState): SpanFacts {
  return {
    'http.request.method': ctx.method,
    'http.route': route,
    'http.response.status_code': ctx.status,
    'fernpost.request.id': requestId,
    ...(projectId === null ? {} : { 'fernpost.project.id': projectId }),
  };
}

// Clients of the interface that this one replaces may have its older base path; `/api/v1/send` is `/v1/send` in every respect.
const aliases: Koa.Middleware = (ctx, next) => {
  if (/^\/api\/v1(?:\/|$)/i.test(ctx.path)) ctx.path = ctx.path.slice('/api'.length);
  return next();
};

// A literal part is never taken for a parameter of another route.
function literalPartsFirst(routes: readonly Route[]): Route[] {
  const rank = (path: string) =>
    path
      .split('/')
      .map((segment) => (segment.startsWith(':') || segment.includes('*') ? '1' : '0'))
      .join('');
  return [...routes].sort((one, other) =>
    rank(one.path) < rank(other.path) ? -1 : rank(one.path) > rank(other.path) ? 1 : 0,
  );
}
