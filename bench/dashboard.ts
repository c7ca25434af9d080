import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { readConfig } from '../src/lib/config/config.ts';
import { pause } from '../src/lib/time.ts';
import { startBrowser } from '../test/support/browser.ts';
import { builtDashboard, ownAddress } from '../test/support/dashboard-owner.ts';
import { placeOf, projectPlaces } from '../test/support/dashboard-seed.ts';
import { sessionOf } from '../test/support/people.ts';
import { type DashboardData, fillDashboard, knownDashboard } from './support/dashboard-data.ts';
import { interact } from './support/dashboard-interactions.ts';
import { type Opened, openPage, scrollList, type Viewer } from './support/dashboard-pages.ts';
import { benchServices, benchStore } from './support/services.ts';

const goalMs = 1_000;
/** How often a page may call the same path: more would be a call for each row. */
const callsOfOnePath = 5;
const repeats = Number(process.env.BENCH_REPEATS ?? 3);
const scrollSeconds = 5;
/** `pages`, `lists`, `presses` or nothing for all of them; or part of an address, to measure the pages that have it. */
const part = process.env.BENCH_PART ?? '';

/**
 * Every page of the dashboard in a real browser, opened by its address with an empty cache, its long lists scrolled, and how soon presses are
 * answered. With
 * BENCH_KEEP set to the name of a database, that one is filled once and used again.
 */
export async function benchDashboard(): Promise<void> {
  await builtDashboard();
  await using services = await benchServices({ temporal: false, keep: process.env.BENCH_KEEP });
  const { url, settings } = await ownAddress();
  const env = {
    ...process.env,
    ...settings,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  };
  await using store = await benchStore(services.databaseUrl, 3);
  const db = store.db;
  let data = await knownDashboard(db);
  if (data === null) {
    console.log('\nDashboard: filling a project');
    data = await fillDashboard(db, env, stopwatch());
  }
  const api = await startService(env, url);
  const browser = await startBrowser();
  try {
    const viewer = { browser, url, session: await sessionOf(readConfig(env), data.owner) };
    if (part !== 'lists' && part !== 'presses') await pages(viewer, data);
    if (part === 'lists' || part === '') await lists(viewer, data);
    if (part === 'presses' || part === '') await presses(viewer, data);
  } finally {
    await browser.close();
    api.kill('SIGKILL');
  }
}

/** The addresses of the router, and some that lie deep in a list or search through all of it. */
function addresses({ seeded, chosen }: DashboardData): string[] {
  const project = `/app/${seeded.project}`;
  return [
    ...projectPlaces.map((place) => placeOf(place, seeded)),
    `${project}/contacts?search=on.4242`,
    `${project}/contacts?search=kunde.example`,
    `${project}/contacts?subscribed=false`,
    `${project}/events?name=purchase`,
    `${project}/activity?types=email.bounced,email.complaint`,
    `${project}/segments/${seeded.segment}?page=2000`,
    `${project}/segments/${chosen}`,
    `${project}/suppressions?tab=mail`,
    `${project}/workflows/${seeded.workflow}/executions?status=WAITING`,
    `${project}/workflows/${seeded.workflow}/executions?page=500`,
  ];
}

async function pages(viewer: Viewer, data: DashboardData): Promise<void> {
  const missed: string[] = [];
  console.log(` pages by their address, empty cache, median and slowest of ${repeats} (goal ${goalMs} ms)`);
  console.log(
    `  ${'page'.padEnd(54)}${'shown'.padStart(9)}${'slowest'.padStart(9)}${'calls'.padStart(7)}   slowest call`,
  );
  // The first window of a browser takes longer than any other.
  await openPage(viewer, addresses(data)[0] ?? '');
  for (const path of addresses(data)) {
    if (part !== '' && part !== 'pages' && !path.includes(part)) continue;
    const opened: Opened[] = [];
    for (let round = 0; round < repeats; round++) opened.push(await openPage(viewer, path));
    const times = opened.map(({ shown }) => shown).sort((one, other) => one - other);
    const shown = times[Math.floor(times.length / 2)] ?? Number.NaN;
    const slowest = opened.map((each) => each.slowest).reduce((one, other) => (other[1] > one[1] ? other : one));
    const { calls, mostCalled } = opened.at(-1) as Opened;
    const name = path.replace(`/app/${data.seeded.project}`, '').replaceAll(/[0-9a-f-]{36}/g, ':id') || '/';
    console.log(
      `  ${name.padEnd(54)}${ms(shown)}${ms(times.at(-1) ?? 0)}${String(calls).padStart(7)}   ${slowest[0]} ${slowest[1].toFixed(0)} ms`,
    );
    if (shown > goalMs) missed.push(`${name} takes ${shown.toFixed(0)} ms`);
    if (mostCalled[1] > callsOfOnePath) missed.push(`${name} calls ${mostCalled[0]} ${mostCalled[1]} times`);
  }
  console.log(
    missed.length === 0 ? '  every page within the goal, none calls for each row' : `  missed: ${missed.join('; ')}`,
  );
}

async function lists(viewer: Viewer, { seeded }: DashboardData): Promise<void> {
  const project = `/app/${seeded.project}`;
  const recipients = (page: Page) => page.locator('[data-slot=rows]').last().scrollIntoViewIfNeeded();
  console.log(` long lists, scrolled a sixth of their height with each frame for ${scrollSeconds} s`);
  const wanted: [string, string, ((page: Page) => Promise<void>)?][] = [
    ['contacts', '/contacts'],
    ['activity', '/activity'],
    ['activity of one contact', `/contacts/${seeded.contact}`],
    ['recipients of a campaign', `/campaigns/${seeded.campaign}`, recipients],
    ['caught mail', '/suppressions?tab=mail'],
  ];
  for (const [name, path, prepare] of wanted) {
    const { frames, slow, longest, mostRows, reached, calls } = await scrollList(
      viewer,
      project + path,
      scrollSeconds,
      prepare,
    );
    console.log(
      `  ${name.padEnd(30)} ${frames} frames, ${slow} over 100 ms, the longest ${longest.toFixed(0)} ms; row ${reached} reached, at most ${mostRows} rows exist; ${calls} calls`,
    );
  }
}

async function presses(viewer: Viewer, data: DashboardData): Promise<void> {
  console.log(' presses and keys, until the next frame is painted, middle of three (goal 100 ms)');
  for (const { name, ms: took } of await interact(viewer, data))
    console.log(`  ${name.padEnd(44)}${took === 0 ? '< 16 ms'.padStart(9) : ms(took)}`);
}

/** The API as it runs in production, which serves the dashboard. */
async function startService(env: NodeJS.ProcessEnv, url: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('../src/main/api.ts', import.meta.url));
  // The parent watchdog ends it when this process is gone, however that came about.
  const parentWatchdog = import.meta.resolve('@fernpost/local-stack/parent-watchdog');
  const child = spawn(process.execPath, ['--import', parentWatchdog, file], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return child;
    if (tries > 600 || child.exitCode !== null) throw new Error('The API did not start');
    await pause(100);
  }
}

function stopwatch(): (name: string) => void {
  let began = performance.now();
  return (name) => {
    console.log(`  ${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    began = performance.now();
  };
}

function ms(time: number): string {
  return `${time.toFixed(0)} ms`.padStart(9);
}

if (import.meta.main) await benchDashboard();
