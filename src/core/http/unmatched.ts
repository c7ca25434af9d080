import type { Context, Middleware } from 'koa';
import { AppError } from '../lib/errors.ts';

// Contract page 1, 1.10: another method of these paths is an unknown route.
const methodsHidden = /^\/(v1|contacts|segments|events|suppressions|unsubscribe)(\/|$)/;

/** What `@koa/router` leaves on the context: the routes whose path matched, whatever their method. */
type Matched = Context & { matched?: readonly { methods: readonly string[] }[] };

/**
 * Keeps the router from a method that a path without parameters does not have: `DELETE /templates/preview` names no template
 * (contract page 1, 1.2).
 */
export function literalPathsOnly(routes: readonly { method: string; path: string }[], router: Middleware): Middleware {
  const known = new Map<string, string[]>();
  for (const { method, path } of routes) {
    if (/[:*]/.test(path)) continue;
    const methods = known.get(path) ?? [];
    known.set(path, [...methods, method, ...(method === 'GET' ? ['HEAD'] : [])]);
  }
  return (ctx: Matched, next) => {
    // As the router reads paths: letter case and a slash at the end make no difference.
    const methods = known.get(ctx.path.toLowerCase().replace(/(?<=.)\/$/, ''));
    if (methods === undefined || methods.includes(ctx.method)) return router(ctx as Parameters<Middleware>[0], next);
    ctx.matched = [{ methods }];
    return next();
  };
}

/**
 * Answers what no route took: 405 METHOD_NOT_ALLOWED with `Allow` for a path that has other methods, 404 for everything
 * else. Paths of contract page 1 answer 404 for another method too, also with `Allow`.
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
