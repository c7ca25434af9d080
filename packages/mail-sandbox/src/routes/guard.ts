import type { Context, Middleware } from 'koa';

/** Whether a listening address can only be reached from this machine. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Keeps other web sites out. While the sandbox listens on loopback only, a request must name this machine as its host,
 * so that a foreign name that resolves to 127.0.0.1 (DNS rebinding) reads nothing. A request that a browser sends from
 * another origin changes nothing.
 */
export function guard(listeningHost: string): Middleware {
  const local = isLoopback(listeningHost);
  return async (ctx, next) => {
    if (local && !isLocalName(ctx.get('Host'))) return refuse(ctx, 'This host name is not served here.');
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD' || ctx.method === 'OPTIONS';
    if (!reads && isForeign(ctx)) return refuse(ctx, 'Requests from other web sites are refused.');
    await next();
  };
}

/** The headers of every answer; a page or message may replace the policy with one of its own. */
export const securityHeaders: Middleware = async (ctx, next) => {
  ctx.set({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // Not "no-referrer": with it, browsers name no origin when they post our own forms.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  await next();
};

function refuse(ctx: Context, message: string): void {
  ctx.status = 403;
  ctx.body = { error: message };
}

function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return isLoopback(name.replace(/^\[(.*)\]$/, '$1')) || name.endsWith('.localhost');
}

function isForeign(ctx: Context): boolean {
  const origin = ctx.get('Origin');
  if (origin !== '') return !URL.canParse(origin) || new URL(origin).host !== ctx.get('Host').toLowerCase();
  const site = ctx.get('Sec-Fetch-Site');
  return site !== '' && site !== 'same-origin' && site !== 'none';
}
