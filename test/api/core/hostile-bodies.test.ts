import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { routes } from '../../../src/main/api/routes.ts';
import { aProject } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type ApiProcess, apiProcess, attack, healthOf, largestKeyedBody, send } from '../../support/hostile-bodies.ts';
import { inFull, isFull } from '../../support/long.ts';

const megabyte = 1024 * 1024;
// With FULL_TESTS=1 each route gets 200 MB, and the time of `/health` is judged as well. Otherwise: what one of these parsed without a limit would be well above the growth that is allowed.
const parsing = new Set(['/auth/login', '/webhooks/sns']);
const bytesFor = (path: string) => inFull(200, parsing.has(path) ? 64 : 4) * megabyte;
const mostGrowth = 150 * megabyte;

let database: TestDatabase;
let api: ApiProcess;
let normal = 0;

const id = '5b1c0a3e-8f8e-4a4e-9b0e-2f9f9d0c7a11';
const filled = (path: string) => path.replaceAll(/:(?:id|token|projectId)\b/g, id).replaceAll(/:\w+/g, 'x');
/** Every route that asks for no key, and some that do but are called without. */
const open = [
  ...routes.filter(({ access }) => access === 'none').map(({ method, path }) => ({ method, path: filled(path) })),
  { method: 'GET', path: '/health' },
  { method: 'POST', path: '/nowhere' },
  { method: 'POST', path: '/v1/send' },
  { method: 'POST', path: '/v1/track' },
  { method: 'POST', path: '/templates' },
  { method: 'POST', path: '/contacts/import' },
];

const settings = () => ({
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  TEMPORAL_TASK_QUEUE: 'hostile-bodies',
});

beforeAll(async () => {
  database = await testDatabase();
  api = await apiProcess(settings());
  // Normal is what the process has once it has served every kind of request.
  for (const route of open) await attack(api, route, megabyte / 2, 4, 0);
  normal = api.memory();
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database.close();
});

test.each(open)('hostile bodies at $method $path cost no memory, and others are served', async (route) => {
  const report = await attack(api, route, bytesFor(route.path), inFull(16, 8), normal);
  const statuses = Object.keys(report.statuses);
  expect(statuses.filter((status) => status.startsWith('5') && status !== '503')).toEqual([]);
  expect(api.lives()).toBe(true);
  expect(report.slowestHealth).not.toBeNull();
  if (isFull) expect(report.slowestHealth).toBeLessThan(1_000);
  expect(report.growth).toBeLessThan(mostGrowth);
  expect(await healthOf(api.url)).toBe(200);
  if (isFull)
    console.log(
      `${route.method} ${route.path}: +${Math.round(report.growth / megabyte)} MB, /health at most ${Math.round(report.slowestHealth ?? 0)} ms, ${JSON.stringify(report.statuses)}`,
    );
});

test('the largest bodies of one tenant, many at a time, wait for one another within a small heap', async () => {
  await using small = await apiProcess({ ...settings(), NODE_OPTIONS: '--max-old-space-size=512' });
  const { secretKey, sender } = await aProject(database);
  const headers = { authorization: `Bearer ${secretKey}` };
  const statuses = await Promise.all(
    Array.from({ length: inFull(8, 4) }, () => send(`${small.url}/v1/send`, 'POST', largestKeyedBody(sender), headers)),
  );
  expect(small.lives()).toBe(true);
  // What is parsed is refused for the size of its data; what has waited for too long is told to come back.
  expect(statuses.filter((status) => status !== 422 && status !== 503)).toEqual([]);
  expect(statuses).toContain(422);
  expect(await healthOf(small.url)).toBe(200);
});
