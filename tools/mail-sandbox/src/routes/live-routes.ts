import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import { styleSheet } from '../pages/style.ts';
import type { Parts } from './requests.ts';

const scripts = new Set(['inbox', 'keys', 'list', 'live', 'load', 'reading', 'times']);
const folder = fileURLToPath(new URL('../../browser/', import.meta.url));

/**
 * Serves the assets of the inbox: their style sheet, icon, script, and `GET /inbox/changes`, a stream of server-sent events. Each
 * event is a version of the store that the page has not seen; `since` is the one that the page shows.
 */
export function liveRoutes({ store, closing }: Parts): Router {
  const router = new Router({ prefix: '/inbox' });
  router.get('/style.css', (ctx) => {
    ctx.type = 'text/css';
    ctx.set('Cache-Control', 'no-cache');
    ctx.body = styleSheet;
  });
  router.get('/icon.svg', (ctx) => {
    ctx.type = 'image/svg+xml';
    ctx.set('Cache-Control', 'no-cache');
    ctx.body = readFileSync(`${folder}icon.svg`);
  });
  router.get('/script/:name', (ctx) => {
    const name = /^(\w+)\.js$/.exec(ctx.params.name ?? '')?.[1] ?? '';
    if (!scripts.has(name)) return;
    ctx.type = 'text/javascript';
    ctx.set('Cache-Control', 'no-cache');
    ctx.body = readFileSync(`${folder}${name}.js`);
  });
  router.get('/changes', (ctx) => {
    const { since } = ctx.query;
    const known = ctx.get('Last-Event-ID') || (typeof since === 'string' ? since : '');
    const { res } = ctx;
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    if (ctx.method === 'HEAD') return;
    // Koa takes a reader that leaves before the end for an error; this stream has no other end.
    ctx.respond = false;
    res.write('retry: 2000\n\n');
    const stop = store.changes.follow(known, (version) => res.write(`id: ${version}\ndata: ${version}\n\n`));
    const end = () => res.end();
    closing.addEventListener('abort', end, { once: true });
    res.once('close', () => {
      stop();
      closing.removeEventListener('abort', end);
    });
  });
  return router;
}
