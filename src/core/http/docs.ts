import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Middleware } from 'koa';
import { readsPage } from './unmatched.ts';

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Posthorn API</title>
  <link rel="icon" href="/docs/favicon-32x32.png">
  <link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
  <div id="reference"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>`;

const start = `window.addEventListener('load', () => {
  SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, persistAuthorization: false, tryItOutEnabled: true });
});`;

// Swagger UI sets styles on elements and shows images from data URLs; scripts come from our own origin only.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/** The API reference at `/docs`: Swagger UI over `/openapi.json`, everything served from here. */
export function docsPages(): Middleware {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return async (ctx, next) => {
    if (!(ctx.path === '/docs' || ctx.path.startsWith('/docs/')) || !readsPage(ctx)) return next();
    const file = ctx.path.slice('/docs/'.length);
    ctx.set('Content-Security-Policy', policy);
    if (file === '') {
      ctx.type = 'html';
      ctx.body = page;
    } else if (file === 'start.js') {
      ctx.type = 'text/javascript; charset=utf-8';
      ctx.body = start;
    } else if (Object.hasOwn(assets, file)) {
      ctx.type = assets[file] ?? '';
      ctx.set('Cache-Control', 'public, max-age=3600');
      ctx.body = await readFile(join(folder, file));
    } else return next();
    return undefined;
  };
}
