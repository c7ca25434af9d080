import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { send } from '@koa/send';
import type { Context, Middleware } from 'koa';
import { AppError } from '../lib/errors.ts';
import { version } from '../lib/text.ts';
import type { Docs, DocsFile, Download, OpenApiDocument } from './docs/docs.ts';
import { readsPage } from './errors.ts';

const guides = fileURLToPath(new URL('../../docs/guides/', import.meta.url));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** The documentation, made when a page of it is shown for the first time: most processes never show one. */
export function documentation(document: () => unknown, baseUrl: string): () => Promise<Docs> {
  let docs: Docs | undefined;
  return async () => {
    const { Docs } = await import('./docs/docs.ts');
    docs ??= new Docs({ guides, document: () => document() as OpenApiDocument, served: { baseUrl, version } });
    return docs;
  };
}

const picture = /^\/docs\/pictures\/([\w-]+\.webp)$/;

/** The guides at `/docs` and the API reference at `/docs/reference`, everything served from here. */
export function docsPages(docs: () => Promise<Docs>): Middleware {
  return async (ctx, next) => {
    if (!(ctx.path === '/docs' || ctx.path.startsWith('/docs/')) || !readsPage(ctx)) return next();
    const [, name] = picture.exec(ctx.path) ?? [];
    if (name !== undefined) return sendPicture(ctx, name, next);
    const site = await docs();
    const file =
      ctx.path === '/docs/search.json' ? site.search() : site.find(ctx.path === '/docs/' ? '/docs' : ctx.path);
    if (file === null) return next();
    await sendDocsFile(ctx, file);
    return undefined;
  };
}

/** Sends a file of the documentation, compressed where the client takes that, or 304 to a client that has it. */
async function sendDocsFile(ctx: Context, file: DocsFile): Promise<void> {
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

/** Sends a picture of a guide, which an upgrade may replace. */
async function sendPicture(ctx: Context, name: string, next: () => Promise<unknown>): Promise<unknown> {
  const folder = join(guides, 'pictures');
  if (!existsSync(join(folder, name))) return next();
  ctx.set('Cache-Control', 'public, max-age=3600');
  return send(ctx, name, { root: folder });
}

const compress = promisify(gzip);
const kept = new WeakMap<DocsFile, Promise<Buffer>>();

function compressed(file: DocsFile): Promise<Buffer> {
  const bytes = kept.get(file) ?? compress(file.text);
  kept.set(file, bytes);
  return bytes;
}

// Where `npm run build` and `npm start` leave them.
const built = fileURLToPath(new URL('../../dist/downloads/', import.meta.url));
const wheel = `fernpost-${version}-py3-none-any.whl`;
const types: Readonly<Record<string, string>> = {
  'sdk.tgz': 'application/gzip',
  'cli.tgz': 'application/gzip',
  [wheel]: 'application/zip',
};
/** Seconds after which a client may ask again for what is being built. */
const pause = '5';

/** The clients of this version of the service below `/downloads/`, with a page about them; 503 while they are not built. */
export function downloads(docs: () => Promise<Docs>, folder = built): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/downloads' && !ctx.path.startsWith('/downloads/')) return next();
    const name = ctx.path.slice('/downloads/'.length);
    if ((name !== '' && types[name] === undefined) || !readsPage(ctx)) return next();
    const files = await filesIn(folder);
    if (name !== '')
      return sendFile(
        ctx,
        folder,
        files?.find((file) => file.name === name),
      );
    await sendDocsFile(ctx, (await docs()).downloads(files));
    if (files !== null) return undefined;
    ctx.status = 503;
    ctx.set('Retry-After', pause);
    return undefined;
  };
}

/** Returns the files that were built for this version, or null. */
async function filesIn(folder: string): Promise<Download[] | null> {
  try {
    const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as {
      version: string;
      files: Download[];
    };
    return index.version === version ? index.files : null;
  } catch {
    return null;
  }
}

async function sendFile(ctx: Context, folder: string, file: Download | undefined): Promise<void> {
  if (file === undefined)
    throw new AppError(503, 'SERVICE_UNAVAILABLE', 'The downloads of this version are not built yet', {
      headers: { 'Retry-After': pause },
      suggestion:
        'Repeat the request in a few seconds. If this goes on, run "npm run build" where Fernpost is installed.',
    });
  // An upgrade of the service replaces what an address serves, so a cache has to ask each time.
  ctx.set('Cache-Control', 'public, no-cache');
  ctx.set('ETag', `"${file.sha256}"`);
  // `ctx.fresh` would send it whole to clients that ask with "no-cache", as `fetch` does.
  if (ctx.get('if-none-match').includes(`"${file.sha256}"`)) {
    ctx.status = 304;
    return;
  }
  ctx.type = types[file.name] ?? '';
  await send(ctx, file.name, { root: folder });
}
