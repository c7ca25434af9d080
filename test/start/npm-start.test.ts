import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aPlace, leftOf, type Place, startIn } from '../support/npm-start.ts';

// With the data of earlier runs, so that a database is made and migrated once.
let kept: Place;
beforeAll(async () => {
  kept = await aPlace();
});
afterAll(() => kept[Symbol.dispose]());

const firstProject = (place: Place) => JSON.parse(readFileSync(join(place.dataDir, 'first-project.json'), 'utf8'));

async function send(place: Place, to: string): Promise<void> {
  const { secretKey, sender } = firstProject(place);
  const answer = await fetch(`${place.baseUrl}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, from: sender, subject: `For ${to}`, body: '<p>Hello</p>' }),
  });
  expect(await answer.json()).toMatchObject({ success: true });
}

async function inbox(place: Place, to: string): Promise<unknown> {
  const url = `${place.sandboxUrl}/messages/outbound?count=10&offset=0&recipient=${encodeURIComponent(to)}`;
  const answer = await fetch(url, { headers: { 'X-Postmark-Server-Token': 'sandbox', Accept: 'application/json' } });
  const { TotalCount } = (await answer.json()) as { TotalCount: number };
  return TotalCount;
}

test('one command starts everything, Ctrl-C stops everything, and the next start goes on with the data', async () => {
  const place = kept;
  await using first = startIn(place);
  await first.untilReady();
  const file = firstProject(place);
  expect(Object.keys(file).sort()).toEqual([
    'baseUrl',
    'login',
    'projectId',
    'publicKey',
    'sandboxUrl',
    'secretKey',
    'sender',
    'temporalAddress',
    'temporalUiUrl',
  ]);
  expect(statSync(join(place.dataDir, 'first-project.json')).mode & 0o777).toBe(0o600);
  for (const said of [
    'Node  ',
    'Postgres  18',
    'DATABASE_URL',
    'Temporal  CLI',
    'TEMPORAL_ADDRESS',
    'POSTMARK_SERVER_TOKEN',
    file.secretKey,
  ])
    await eventually(() => first.text().includes(said));
  await send(place, 'avery.kim@example.com');
  await eventually(async () => (await inbox(place, 'avery.kim@example.com')) === 1);

  const processes = first.processes();
  expect(processes).toHaveLength(3);
  expect(await leftOf(place, processes)).toHaveLength(9);
  // npm hands the signal on that the terminal has sent to all already.
  first.signalGroup('SIGINT');
  process.kill(first.pid, 'SIGINT');
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expect(await leftOf(place, processes)).toEqual([]);
  expect(existsSync(join(place.dataDir, 'run.json'))).toBe(false);

  await using second = startIn(place);
  await second.untilReady();
  expect(firstProject(place)).toEqual(file);
  expect(await inbox(place, 'avery.kim@example.com')).toBe(1);
  await send(place, 'noor.haddad@example.com');
  // One process runs the whole service. What it has accepted outlives it.
  const service = second.processes().find(({ name }) => name === 'service');
  process.kill(service?.pid ?? 0, 'SIGKILL');
  await eventually(() => second.text().includes('The service was started again'));
  await eventually(async () => (await inbox(place, 'noor.haddad@example.com').catch(() => 0)) === 1);
});

test('a supervisor that is killed takes its processes along, and a start right after it cleans up and goes on', async () => {
  const place = kept;
  await using killed = startIn(place);
  await killed.untilReady();
  const processes = killed.processes();
  killed.signalGroup('SIGKILL');
  await killed.ended;

  await using second = startIn(place, { START_SEPARATE_PROCESSES: 'true' });
  await second.untilReady();
  const named = second.processes().map(({ name }) => name);
  expect(named.sort()).toEqual(['api', 'postgres', 'sandbox', 'smtp', 'temporal', 'worker']);
  expect(second.text()).toContain('Stopping what an earlier run left behind');
  await send(place, 'robin.vale@example.com');
  await eventually(async () => (await inbox(place, 'robin.vale@example.com')) === 1);
  const later = second.processes();
  second.signalGroup('SIGKILL');
  await second.ended;
  await eventually(async () => (await leftOf(place, [...processes, ...later])).length === 0);
});

test('a signal in the middle of the start stops what has been started', async () => {
  using place = await aPlace();
  await using run = startIn(place);
  await eventually(() => run.processes().length > 0);
  const processes = run.processes();
  run.signalGroup('SIGTERM');
  expect(await run.ended).toEqual({ code: 0, signal: null });
  expect(run.text()).not.toContain('Fernpost is ready');
  await eventually(async () => (await leftOf(place, processes)).length === 0);
});

test('the end of npm stops what has been started, because npm keeps a SIGTERM to itself', async () => {
  using place = await aPlace();
  await using run = startIn(place, { npm_lifecycle_event: 'start' }, { shell: true });
  await eventually(() => run.processes().length > 0);
  const processes = run.processes();
  process.kill(run.pid, 'SIGTERM');
  await eventually(async () => (await leftOf(place, processes)).length === 0);
  await run.ended;
  expect(run.text()).toContain('Stopped.');
});

test('ports in use stop the start before anything is made, one line each', async () => {
  using place = await aPlace();
  const [port, , temporalPort] = place.ports;
  const occupants = [port, temporalPort].map((taken) => createServer().listen(taken, '127.0.0.1'));
  try {
    await using run = startIn(place);
    expect((await run.ended).code).toBe(1);
    const owner = String.raw`is in use by \S+ \(process ${process.pid}\)`;
    expect(run.text()).toMatch(new RegExp(`Port ${port} ${owner}; the API wants it. Set PORT to another.`));
    expect(run.text()).toMatch(
      new RegExp(`Port ${temporalPort} ${owner}; Temporal wants it. Set TEMPORAL_PORT to another.`),
    );
    expect(existsSync(join(place.dataDir, 'postgres'))).toBe(false);
  } finally {
    for (const occupant of occupants) occupant.close();
  }
});

test('a port of SMTP submission that is in use is a warning, and Fernpost starts without it', async () => {
  const place = kept;
  const smtpPort = Number(place.env.SMTP_IN_PORT);
  const occupant = createServer().listen(smtpPort, '127.0.0.1');
  try {
    await using run = startIn(place);
    await run.untilReady();
    expect(run.text()).toMatch(
      new RegExp(
        String.raw`Warning +Port ${smtpPort} is in use by \S+ \(process ${process.pid}\); SMTP submission wants it. Set SMTP_IN_PORT to another. Fernpost starts without it.`,
      ),
    );
    expect(run.text()).not.toMatch(/^ +SMTP /m);
    await send(place, 'sam.river@example.com');
  } finally {
    occupant.close();
  }
});

test.each([
  ['a port that is no number', { PORT: 'many' }, /^fernpost: PORT /m],
  [
    'a Postgres that does not answer, without showing its password',
    { DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/none' },
    /^fernpost: DATABASE_URL does not work: 127\.0\.0\.1:1\/none: /m,
  ],
  [
    'a Temporal that does not answer',
    { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    /^fernpost: TEMPORAL_ADDRESS does not work: nothing answers at 127\.0\.0\.1:1/m,
  ],
  [
    'a program that is not there',
    { TEMPORAL_CLI: '/nowhere/temporal' },
    /^fernpost: TEMPORAL_CLI \/nowhere\/temporal: there is no such program/m,
  ],
])('%s stops the start with a line that names the setting', async (_what, settings, line) => {
  using place = await aPlace();
  await using run = startIn(place, settings);
  expect((await run.ended).code).toBe(1);
  expect(run.text()).toMatch(line);
  expect(run.text()).not.toContain('secret-word');
  expect(run.text()).not.toMatch(/^\s+at /m);
});
