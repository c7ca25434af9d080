import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Docs, DocsFile, OpenApiDocument } from '@fernpost/docs';
import type { Context, Middleware } from 'koa';
import { version } from '../lib/version.ts';
import { readsPage } from './unmatched.ts';

const guides = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** The documentation, made when a page of it is shown for the first time: most processes never show one. */
export function documentation(document: () => unknown, baseUrl: string): () => Promise<Docs> {
  let docs: Docs | undefined;
  return async () => {
    const { Docs } = await import('@fernpost/docs');
    docs ??= new Docs({ guides, document: () => document() as OpenApiDocument, served: { baseUrl, version } });
    return docs;
  };
}

/** The guides at `/docs` and the API reference at `/docs/reference`, everything served from here. */
export function docsPages(docs: () => Promise<Docs>): Middleware {
  return async (ctx, next) => {
    if (!(ctx.path === '/docs' || ctx.path.startsWith('/docs/')) || !readsPage(ctx)) return next();
    const site = await docs();
    const file =
      ctx.path === '/docs/search.json' ? await site.search() : site.find(ctx.path === '/docs/' ? '/docs' : ctx.path);
    if (file === null) return next();
    await sendDocsFile(ctx, file);
    // The next search finds the index built; if that fails, its request says so.
    if (file.type === 'html') ctx.res.once('finish', () => site.search().catch(() => undefined));
    return undefined;
  };
}

/** Sends a file of the documentation, compressed where the client takes that, or 304 to a client that has it. */
export async function sendDocsFile(ctx: Context, file: DocsFile): Promise<void> {
  ctx.set('Content-Security-Policy', policy);
  ctx.set('Cache-Control', 'no-cache');
  ctx.set('ETag', `W/"${file.hash}"`);
  ctx.vary('Accept-Encoding');
  // `ctx.fresh` would send it whole to clients that ask with "no-cache", as `fetch` does.
  if (ctx.get('if-none-match').includes(`"${file.hash}"`)) {
    ctx.status = 304;
    return;
  }
  ctx.type = file.type;
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    ctx.body = file.text;
    return;
  }
  ctx.set('Content-Encoding', 'gzip');
  ctx.body = await compressed(file);
}

const compress = promisify(gzip);
const kept = new WeakMap<DocsFile, Promise<Buffer>>();

function compressed(file: DocsFile): Promise<Buffer> {
  const bytes = kept.get(file) ?? compress(file.text);
  kept.set(file, bytes);
  return bytes;
}
