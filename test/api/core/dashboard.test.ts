import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboardPages } from '../../../src/http/dashboard.ts';

const page = '<!doctype html><title>Fernpost</title>';
let url = '';
let close = () => {};

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-dashboard-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), page);
  writeFileSync(join(folder, 'assets/index-a1B2.js'), 'started()');
  writeFileSync(join(folder, 'assets/index-a1B2.js.br'), brotliCompressSync('started()'));
  writeFileSync(join(folder, '.built-from'), 'secret');
  const koa = new Koa();
  koa.use(dashboardPages(folder));
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => server.close();
});
afterAll(() => close());

describe('the dashboard', () => {
  test.each([
    '/',
    '/app',
    '/app/0b6f2a54-2a0e-4d0c-9d5f-7b8f0f7b1c11/contacts?search=ada',
    '/auth/login?message=x',
    '/auth/reset-password?token=x',
    '/settings?tab=billing',
  ])('is the page at %s, with a policy that lets only its own scripts run', async (path) => {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(page);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  test('serves files by the hash in their names for ever, compressed where that is understood', async () => {
    const response = await fetch(`${url}/assets/index-a1B2.js`, { headers: { 'Accept-Encoding': 'br' } });
    expect(await response.text()).toBe('started()');
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test.each([
    '/campaigns',
    '/contacts',
    '/auth/oauth-config',
    '/assets/nothing.js',
    '/.built-from',
    '/assets/..%2f.built-from',
    '/assets/%2e%2e/.built-from',
  ])('leaves %s to the API', async (path) => {
    expect((await fetch(url + path)).status).toBe(404);
  });
});

test('a dashboard that was never built says how to build it, and one that is being built opens by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-dashboard-'));
  const koa = new Koa();
  koa.use(dashboardPages(join(folder, 'dist')));
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const open = () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/app`);
  try {
    const never = await open();
    expect(never.status).toBe(503);
    expect(await never.text()).toContain('npm run build');
    writeFileSync(join(folder, '.building'), '1');
    const meanwhile = await open();
    expect([meanwhile.status, meanwhile.headers.get('refresh')]).toEqual([503, '3']);
    expect(await meanwhile.text()).toContain('is being built');
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/index.html'), page);
    expect(await (await open()).text()).toBe(page);
  } finally {
    server.close();
  }
});
