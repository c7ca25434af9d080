import type { Context, Middleware } from 'koa';
import { AppError } from '../lib/errors.ts';

// docs/contract/core.md#1-10: another method of these paths is an unknown route.
const methodsHidden = /^\/(v1|contacts|segments|events|suppressions|unsubscribe)(\/|$)/;

/** What `@koa/router` leaves on the context: the routes whose path matched, whatever their method. */
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
