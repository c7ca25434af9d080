import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeError } from '../../../src/http/errors.ts';
import { documentation, downloads } from '../../../src/http/files.ts';
import { openApiDocument } from '../../../src/http/openapi.ts';
import { version } from '../../../src/lib/text.ts';

const wheel = `fernpost-${version}-py3-none-any.whl`;
const baseUrl = 'https://mail.acme.test';
let folder: string;
let url: string;
let close = () => {};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-downloads-'));
  const koa = new Koa();
  koa.use((ctx, next) =>
    next().catch((error: unknown) => writeError(ctx, error, 'request', pino({ level: 'silent' }))),
  );
  koa.use(
    downloads(
      documentation(() => openApiDocument([], baseUrl), baseUrl),
      folder,
    ),
  );
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => server.close();
});
afterEach(() => {
  close();
  rmSync(folder, { recursive: true });
});

/** What the build leaves behind, with these bytes. */
function build(content: string, of = version): void {
  const digest = (name: string, as: 'hex' | 'base64') => createHash(name).update(content).digest(as);
  const files = ['sdk.tgz', 'cli.tgz', wheel].map((name) => {
    writeFileSync(join(folder, name), content);
    return {
      name,
      bytes: content.length,
      integrity: `sha512-${digest('sha512', 'base64')}`,
      sha256: digest('sha256', 'hex'),
    };
  });
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ version: of, files }));
}

describe('before they are built', () => {
  test.each(['sdk.tgz', 'cli.tgz', wheel])('%s is 503 with the usual envelope', async (name) => {
    const response = await fetch(`${url}/downloads/${name}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({
      success: false,
      error: { code: 'SERVICE_UNAVAILABLE', statusCode: 503, suggestion: expect.stringContaining('npm run build') },
    });
  });

  test('the page says so', async () => {
    const response = await fetch(`${url}/downloads/`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).toContain('They are being built.');
  });

  test('what was built for another version is not handed out', async () => {
    build('old', '0.0.9');
    expect((await fetch(`${url}/downloads/sdk.tgz`)).status).toBe(503);
  });
});

test.each([
  ['sdk.tgz', 'application/gzip'],
  ['cli.tgz', 'application/gzip'],
  [wheel, 'application/zip'],
])('%s is served to anybody, and again only when it has changed', async (name, type) => {
  build('first');
  const response = await fetch(`${url}/downloads/${name}`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
  expect(response.headers.get('cache-control')).toBe('public, no-cache');
  expect(await response.text()).toBe('first');
  const head = await fetch(`${url}/downloads/${name}`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
  const known = { 'If-None-Match': response.headers.get('etag') ?? '' };
  expect((await fetch(`${url}/downloads/${name}`, { headers: known })).status).toBe(304);
  build('second');
  expect(await (await fetch(`${url}/downloads/${name}`, { headers: known })).text()).toBe('second');
});

test('the page has each file with version, size and integrity, and the commands of this service', async () => {
  build('content');
  const response = await fetch(`${url}/downloads/`);
  const page = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const integrity = `sha512-${createHash('sha512').update('content').digest('base64')}`;
  const sha256 = createHash('sha256').update('content').digest('hex');
  expect(page.split(integrity)).toHaveLength(4);
  expect(page).toContain(`<a href="/downloads/${wheel}#sha256=${sha256}">`);
  expect(page).toContain(`<td>${version}</td><td>1\u00a0kB</td>`);
  for (const command of [`npm install ${baseUrl}/downloads/sdk.tgz`, `npx ${baseUrl}/downloads/cli.tgz --help`])
    expect(page.replaceAll(/<[^>]+>/g, '')).toContain(command);
  expect(page.replaceAll(/<[^>]+>/g, '')).toContain(`${baseUrl}/downloads/${wheel}#sha256=${sha256}`);
  expect((await fetch(`${url}/downloads`)).status).toBe(200);
});

test.each([
  '/downloads/index.json',
  '/downloads/..%2fpackage.json',
  '/downloads/fernpost-0.0.9-py3-none-any.whl',
  '/downloadsx',
])('%s is nothing that is handed out', async (path) => {
  build('content');
  expect((await fetch(url + path)).status).toBe(404);
});
