import { freePorts } from '@fernpost/local-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { createHttpMetrics } from '../../../src/http/metrics.ts';
import { newId } from '../../../src/lib/ids.ts';
import { version } from '../../../src/lib/text.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aSentMail } from '../../support/sent-mail.ts';
import { tcpProxy } from '../../support/tcp-proxy.ts';

const token = 'a-token-for-the-metrics-of-this-test';
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const at = async (url: string) => {
  const answer = await fetch(url);
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
};

test('the public port serves no metrics unless a token is set, and then only to whoever sends it', async () => {
  await using closed = await testApi(database);
  const hidden = await closed.call(token, 'GET', '/metrics');
  expect([hidden.status, hidden.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
  expect(JSON.stringify(hidden.body)).not.toContain('fernpost_');

  await using open = await testApi(database, { METRICS_TOKEN: token });
  const codeFor = async (authorization?: string) => {
    const { status, body } = await open.call(
      null,
      'GET',
      '/metrics',
      undefined,
      authorization ? { authorization } : {},
    );
    return [status, body.error?.code];
  };
  expect(await codeFor()).toEqual([401, 'MISSING_AUTH']);
  expect(await codeFor(`Basic ${token}`)).toEqual([401, 'MISSING_AUTH']);
  expect(await codeFor(`Bearer ${token.slice(1)}`)).toEqual([401, 'INVALID_API_KEY']);
  expect(await codeFor(`bearer ${token}`)).toEqual([200, undefined]);
  const figures = await open.call(token, 'GET', '/metrics');
  expect(figures.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(figures.body).toContain('fernpost_http_requests_total{method="GET",path="/metrics",status="401"} 3');
});

test('a port of its own serves metrics and liveness, nothing else, until the API stops', async () => {
  const [port] = await freePorts(1);
  const base = `http://127.0.0.1:${port}`;
  await using api = await testApi(database, { API_METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  await api.call(null, 'GET', '/health');
  const { status, type, body } = await at(`${base}/metrics`);
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(body).toContain('fernpost_http_requests_total{method="GET",path="/health",status="200"} 1');
  // Each figure of the first scrape is of now.
  for (const queue of [
    'email_queue',
    'outbox',
    'campaign_claims',
    'automation_arrivals',
    'system_mails',
    'webhook_deliveries',
  ]) {
    expect(body).toContain(`fernpost_queue_depth{queue="${queue}"} 0`);
    expect(body).toContain(`fernpost_queue_age_seconds{queue="${queue}"} 0`);
  }
  expect(body).toContain('fernpost_database_up 1');
  expect(body).toMatch(/^fernpost_pool_connections\{state="idle"\} \d/m);
  expect(body).toContain(`fernpost_build_info{version="${version}",node="${process.versions.node}"} 1`);
  expect(body).toMatch(/^fernpost_database_statement_seconds_count\{outcome="ok"\} [1-9]/m);
  expect(body).toMatch(/^fernpost_database_size_bytes [1-9]\d{6,}/m);
  expect((await at(`${base}/health`)).body).toBe('{"status":"ok"}');
  expect((await at(`${base}/contacts`)).status).toBe(404);
  expect((await api.call(null, 'GET', '/metrics')).status).toBe(404);
  await api.close();
  await expect(fetch(`${base}/health`)).rejects.toThrow();
});

test('a port that is in use stops the start, and leaves nothing open behind it', async () => {
  const [port] = await freePorts(1);
  const settings = { API_METRICS_PORT: String(port) };
  await using first: TestApi = await testApi(database, settings);
  expect(first.port).not.toBe(port);
  await expect(testApi(database, settings)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});

test('metrics are whole while every connection of the pool is taken, and answer while Postgres is away', async () => {
  const [port] = await freePorts(1);
  await using wire = await tcpProxy(new URL(database.url).host);
  await using api = await testApi(database, {
    API_METRICS_PORT: String(port),
    DATABASE_POOL_SIZE: '2',
    DATABASE_URL: Object.assign(new URL(database.url), { host: wire.address }).href,
  });
  const taken = await Promise.all([api.app.db.pool.connect(), api.app.db.pool.connect()]);
  try {
    const { status, body } = await at(`http://127.0.0.1:${port}/metrics`);
    expect(status).toBe(200);
    expect(body).toContain('fernpost_pool_connections{state="busy"} 2');
    expect(body).toContain('fernpost_database_up 1');
    expect(body).toContain('fernpost_queue_depth{queue="outbox"} 0');
  } finally {
    for (const client of taken) client.release();
  }
  await wire.cut();
  const { status, body } = await at(`http://127.0.0.1:${port}/metrics`);
  expect(status).toBe(200);
  expect(body).toContain('fernpost_database_up 0');
  expect(body).not.toMatch(/^fernpost_queue_depth\{/m);
});

test('reports count mail by status and source, once for each status, with domains and endpoints by their state', async () => {
  const metrics = createHttpMetrics(database.db);
  const figure = async (line: string) => {
    const found = (await metrics.text()).split('\n').find((each) => each.startsWith(`${line} `));
    return Number(found?.slice(line.length + 1) ?? 0);
  };
  const opened = 'fernpost_emails_total{status="OPENED",source="CAMPAIGN"}';
  const [before, lost] = [await figure(opened), await figure('fernpost_domains{state="lost"}')];
  const mail = await aSentMail(database.db, { campaign: true });
  const at = new Date().toISOString();
  const open = { emailId: mail.id, projectId: mail.project.id, messageId: mail.messageId, recipient: mail.email, at };
  for (const key of [newId(), newId()]) {
    const report = { ...open, key, effect: { kind: 'open' } as const };
    const named = { emailId: mail.id, projectId: mail.project.id };
    expect(await applyNotification(database.db, 'postmark', named, report, false)).toBe('done');
  }
  expect(await figure(opened)).toBe(before + 1);

  await database.db.count('update domains set verified = false, verified_at = now() where project_id = $1', [
    mail.project.id,
  ]);
  await database.db.count(
    `insert into webhook_endpoints (id, project_id, url, events, status, secret_sealed, cursor_at, cursor_id, counted_from)
     values ($1, $2, 'https://example.com', '{}', 'DISABLED', '', now(), $1, now())`,
    [newId(), mail.project.id],
  );
  expect(await figure('fernpost_domains{state="lost"}')).toBe(lost + 1);
  expect(await figure('fernpost_webhook_endpoints{status="DISABLED"}')).toBe(1);
});
