import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { send } from '@koa/send';
import type { Context, Middleware } from 'koa';
import { readsPage } from './errors.ts';

// Where `npm run build` leaves it.
const built = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url));

// Addresses that people see in their browser; all of them are one page that finds out itself what to show. Those outside /app
// are led to by mails and by Stripe (docs/contract/platform.md#1-5 and docs/contract/platform.md#6).
const shown =
  /^\/($|app(\/|$)|new-project$|settings$|auth\/(login|signup|forgot-password|reset-password|verify-email|invitation)$)/;
const files = /^\/(assets\/[\w.-]+|icon\.svg)$/;

// Editors and menus set styles on elements. Pictures may come from anywhere, for previews of mail show what recipients see;
// the frames of those previews inherit this policy, so nothing in them runs.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src * data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const missing = `The dashboard has not been built: run "npm run build" where Fernpost is installed. The API works without it; its reference is at /docs.\n`;
const building = 'The dashboard is being built. This page opens it when that is done.\n';
const checkAgainSeconds = 3;

/** The dashboard, served from its build: the page for every address of its own, and the files that it loads. */
export function dashboardPages(folder = built): Middleware {
  return async (ctx, next) => {
    const isFile = files.test(ctx.path);
    if (!(isFile || shown.test(ctx.path)) || !readsPage(ctx)) return next();
    if (isFile) return sendFile(ctx, folder, ctx.path, next);
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Cache-Control', 'no-cache');
    if (!existsSync(`${folder}/index.html`)) {
      ctx.status = 503;
      ctx.type = 'text';
      // Also without the mark of a build, which may begin a moment later.
      ctx.set('Refresh', String(checkAgainSeconds));
      ctx.set('Retry-After', String(checkAgainSeconds));
      ctx.body = existsSync(join(folder, '..', '.building')) ? building : missing;
      return undefined;
    }
    await send(ctx, 'index.html', { root: folder });
    return undefined;
  };
}

async function sendFile(ctx: Context, folder: string, path: string, next: () => Promise<unknown>): Promise<unknown> {
  if (!existsSync(folder + path)) return next();
  // Names of assets contain a hash of what is in them.
  const isHashed = path.startsWith('/assets/');
  ctx.set('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600');
  return send(ctx, path, { root: folder });
}
