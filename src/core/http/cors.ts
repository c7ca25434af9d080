import type { Middleware } from 'koa';

const exposed =
  'X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotency-Replayed, X-Ignored-Fields';

/**
 * CORS (docs/contract/core.md#1-6): `/v1` answers any origin without credentials, everything else only the dashboard's
 * origins, with credentials. Other origins get no CORS headers; the request itself is served.
 */
export function cors(allowed: ReadonlySet<string>): Middleware {
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
