import type { ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Scope } from '../lib/enums.ts';
import { AppError } from '../lib/errors.ts';
import { isDatabaseError, type PassingFailure, passingFailure } from '../store/postgres/connection.ts';
import type { Admitted } from './context.ts';

/** Writes an error as the contract's envelope, or bare where the error says so (docs/contract/core.md#1-3). */
export function writeError(ctx: Context, error: unknown, requestId: string, log: Logger): void {
  const known = error instanceof AppError ? error : unexpected(error, requestId, log);
  ctx.status = known.status;
  for (const [name, value] of Object.entries(known.extra.headers ?? {})) ctx.set(name, value);
  if (known.bare) {
    ctx.body = { error: known.message };
    return;
  }
  ctx.body = envelope(known, requestId);
}

/** The answer to a request whose body came too slowly; it is given outside of Koa, which still waits for the body. */
export function tooSlowAnswer(response: ServerResponse): string {
  const error = new AppError(408, 'REQUEST_TIMEOUT', 'The body arrived too slowly: the connection was closed', {
    suggestion: 'Send the request again, with a smaller body if the connection is slow.',
  });
  return JSON.stringify(envelope(error, String(response.getHeader('x-request-id') ?? '')));
}

function envelope({ code, message, status, extra: { details, errors, suggestion } }: AppError, requestId: string) {
  return {
    success: false,
    error: {
      code,
      message,
      statusCode: status,
      requestId,
      ...(details ? { details } : {}),
      ...(errors ? { errors } : {}),
      ...(suggestion ? { suggestion } : {}),
    },
    timestamp: new Date().toISOString(),
  };
}

function unexpected(error: unknown, requestId: string, log: Logger): AppError {
  const passing = passingFailure(error);
  if (passing !== null) {
    log.warn({ err: error, requestId }, 'Postgres could not serve a request');
    return databaseUnavailable(passing);
  }
  log.error({ err: error, requestId }, 'a request failed unexpectedly');
  const suggestion = `Try again; if it happens again, look for request ${requestId} in the log of the API.`;
  if (isDatabaseError(error))
    return new AppError(500, 'DATABASE_ERROR', 'The database could not serve this request', { suggestion });
  return new AppError(500, 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred', { suggestion });
}

function databaseUnavailable({ reason, retryAfterSeconds }: PassingFailure): AppError {
  return new AppError(503, 'DATABASE_ERROR', reason, {
    details: { retryAfter: retryAfterSeconds },
    suggestion: `Try again in ${retryAfterSeconds} seconds.`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

/** 401 for an endpoint of `/v1` without an Authorization header, or for a header of another form than `Bearer <key>`. */
export function missingAuth(message: string): AppError {
  return new AppError(401, 'MISSING_AUTH', message, {
    suggestion: 'Send the header "Authorization: Bearer <key>" with a key of your project.',
  });
}

/** 401 for a key that is unknown, rotated away, or of the wrong kind for the endpoint. */
export function invalidKey(message: string): AppError {
  return new AppError(401, 'INVALID_API_KEY', message, {
    suggestion:
      'Public keys (pk_…) are for POST /v1/track, secret keys (sk_…) for everything else; keys with scopes (rk_…) for what they name.',
  });
}

/** 401 for a dashboard endpoint with neither key nor session. */
export function unauthorized(message = 'Sign in, or send a secret key as "Authorization: Bearer sk_…"'): AppError {
  return new AppError(401, 'UNAUTHORIZED', message);
}

/** 404 for a project that does not exist or that the user is no member of. */
export function noSuchProject(id: string): AppError {
  return new AppError(404, 'RESOURCE_NOT_FOUND', `You have no project with id ${id}`, {
    details: { resource: 'project', id },
  });
}

/** 403 for writes to a disabled project. */
export function projectDisabled(): AppError {
  return new AppError(403, 'PROJECT_DISABLED', 'This project is disabled: it can be read but not changed', {
    suggestion: 'Ask the operator of this service why the project is disabled.',
  });
}

/** 403 for a key with scopes that lacks the one that a route, or an option of it, needs. */
export function scopeMissing(needed: Scope, has: readonly Scope[]): AppError {
  return new AppError(403, 'SCOPE_MISSING', `This key lacks the scope ${needed}`, {
    details: { needed, has },
    suggestion: 'Add the scope to the key in the settings of the project, or use another key.',
  });
}

/** Whether a caller may do what needs this scope; everybody but keys with scopes may. */
export function hasScope(actor: Admitted['actor'], scope: Scope): boolean {
  return actor?.kind !== 'key' || actor.scoped === null || actor.scoped.scopes.includes(scope);
}

/** Checks a scope that an option of a route needs. @throws 403 SCOPE_MISSING */
export function needScope(actor: Admitted['actor'], scope: Scope): void {
  if (actor?.kind === 'key' && actor.scoped !== null && !hasScope(actor, scope))
    throw scopeMissing(scope, actor.scoped.scopes);
}

// docs/contract/core.md#1-10: another method of these paths is an unknown route.
const methodsHidden = /^\/(v1|contacts|segments|events|suppressions|unsubscribe)(\/|$)/;

/** The part of a context that `@koa/router` sets: the routes whose path matched, whatever their method. */
type Matched = Context & { matched?: readonly { methods: readonly string[] }[] };

/** A route as it is looked for. */
interface Addressed {
  method: string;
  path: string;
}

/** Whether a path names no parameter, so that a request is for it or not without any pattern. */
export function isLiteral(path: string): boolean {
  return !/[:*]/.test(path);
}

/**
 * Serves the paths without parameters by one look into a map, where the router would try the pattern of every route, and leaves all
 * others to the router. A method that such a path does not have never gets to the router: `DELETE /templates/preview` names no template
 * (docs/contract/core.md#1-2).
 */
export function literalPaths<Each extends Addressed>(
  routes: readonly Each[],
  serve: (ctx: Context, route: Each) => Promise<void>,
  router: Middleware,
): Middleware {
  const known = new Map<string, Map<string, Each>>();
  for (const route of routes.filter(({ path }) => isLiteral(path))) {
    const byMethod = known.get(asRead(route.path)) ?? new Map<string, Each>();
    known.set(asRead(route.path), byMethod.set(route.method, route));
    if (route.method === 'GET') byMethod.set('HEAD', route);
  }
  return (ctx: Matched, next) => {
    const byMethod = known.get(asRead(ctx.path));
    if (byMethod === undefined) return router(ctx as Parameters<Middleware>[0], next);
    const route = byMethod.get(ctx.method);
    if (route !== undefined) return serve(ctx, route);
    ctx.matched = [{ methods: [...byMethod.keys()] }];
    return next();
  };
}

// As the router reads paths: letter case and a slash at the end make no difference.
function asRead(path: string): string {
  return path.toLowerCase().replace(/(?<=.)\/$/, '');
}

/**
 * Answers what no route took: 405 METHOD_NOT_ALLOWED with `Allow` for a path that has other methods, 404 for everything
 * else. Paths of docs/contract/core.md#1-10 answer 404 for another method too, also with `Allow`.
 */
export function unmatched(): Middleware {
  return (ctx) => {
    const allowed = [...methodsOf(ctx)].sort().join(', ');
    if (allowed === '')
      throw new AppError(404, 'RESOURCE_NOT_FOUND', 'No such route: see GET /docs for the API reference');
    const message = `This path does not support ${ctx.method}: it supports ${allowed}`;
    const headers = { Allow: allowed };
    throw methodsHidden.test(ctx.path)
      ? new AppError(404, 'RESOURCE_NOT_FOUND', message, { headers })
      : new AppError(405, 'METHOD_NOT_ALLOWED', message, { headers });
  };
}

/** Whether the request reads a page. Otherwise the page is noted for `Allow`, beside the routes of its path. */
export function readsPage(ctx: Matched): boolean {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return true;
  ctx.matched = [...(ctx.matched ?? []), { methods: ['GET', 'HEAD'] }];
  return false;
}

function methodsOf(ctx: Matched): Set<string> {
  return new Set(ctx.matched?.flatMap((layer) => layer.methods));
}
