import { fileURLToPath } from 'node:url';
import type { Docs, OpenApiDocument } from '@fernpost/docs';
import type { Middleware } from 'koa';
import { readsPage } from './unmatched.ts';

const guides = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** The guides at `/docs` and the API reference at `/docs/reference`, everything served from here. */
export function docsPages(document: () => unknown): Middleware {
  let docs: Docs | undefined;
  return async (ctx, next) => {
    if (!(ctx.path === '/docs' || ctx.path.startsWith('/docs/')) || !readsPage(ctx)) return next();
    // Most processes never show a page of it.
    const { Docs } = await import('@fernpost/docs');
    docs ??= new Docs({ guides, document: () => document() as OpenApiDocument });
    const file = docs.find(ctx.path === '/docs/' ? '/docs' : ctx.path);
    if (file === null) return next();
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = file.type;
    ctx.body = file.text;
    return undefined;
  };
}
