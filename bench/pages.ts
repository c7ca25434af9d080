import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/support/browser.ts';
import { builtDashboard } from '../test/support/dashboard-owner.ts';
import { placeOf, projectPlaces, type Seeded, seedDashboard } from '../test/support/dashboard-seed.ts';
import { installedRelease } from '../test/support/earlier-release.ts';
import { aPlace, type Place, startIn } from '../test/support/npm-start.ts';
import { cookieOf } from '../test/support/people.ts';
import { atPage, type Viewer } from './support/dashboard-pages.ts';

const slowdown = 4;
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** A part of an address, to measure the pages that have it. */
const part = process.env.BENCH_PART ?? '';
const manySteps = 60;

/** What a page costs: times in milliseconds, what it loads in bytes. */
interface Cost {
  firstPaint: number;
  largestPaint: number;
  /** What tasks took beyond 50 ms each, from the first paint until nothing was loading any more. */
  blocking: number;
  bytes: number;
}

/** A release that runs, with the same data as the other one. */
interface Side {
  viewer: Omit<Viewer, 'browser'>;
  pages: Map<string, string>;
}

/**
 * `npm run bench -- pages --beside <commit>`: every page of the dashboard in a browser whose processor is slowed down, of this checkout and of an
 * earlier commit, in turns. Both run as by `npm start` and get the same data by their API.
 */
export async function benchPages(commit: string): Promise<void> {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const earlier = git('rev-parse', '--short=8', `${commit}^{commit}`);
  const isChanged = git('status', '--porcelain') !== '';
  const own = `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? ' with changes' : ''}`;
  console.log(` ${earlier} and ${own}, processor ${slowdown} times slower, medians of ${rounds} rounds in turns`);
  const root = await installedRelease(earlier);
  execFileSync(process.execPath, [join(root, 'dashboard/build.ts')], { cwd: root, stdio: 'ignore' });
  await builtDashboard();

  using places = new DisposableStack();
  const settings = { RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'fatal' };
  const [before, after] = [places.use(await aPlace()), places.use(await aPlace())];
  await using earlierRun = startIn(before, settings, { root });
  await earlierRun.untilReady();
  await using ownRun = startIn(after, settings);
  await ownRun.untilReady();
  const sides = [await filled(before), await filled(after)] as const;

  const browser = await startBrowser();
  try {
    const costs = sides.map(() => new Map<string, Cost[]>());
    const names = [...sides[0].pages.keys()].filter((name) => name.includes(part));
    // The first window of a browser takes longer than any other. So does the first request for a file.
    for (let round = -1; round < rounds; round += 1)
      for (const name of names)
        for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const { viewer, pages } = sides[index] as Side;
          const cost = await costOf({ ...viewer, browser }, pages.get(name) ?? '');
          if (round >= 0) costs[index]?.set(name, [...(costs[index]?.get(name) ?? []), cost]);
        }
    report(names, costs[0] ?? new Map(), costs[1] ?? new Map());
  } finally {
    await browser.close();
  }
}

/** Fills the first project of a service by its API, and signs its owner in. */
async function filled({ dataDir, baseUrl: url }: Place): Promise<Side> {
  const first = JSON.parse(readFileSync(join(dataDir, 'first-project.json'), 'utf8'));
  const { projectId, secretKey, publicKey, sender, login } = first;
  const seeded = await seedDashboard({ url, project: { id: projectId, secretKey, publicKey }, sender });
  const call = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const made = await call('POST', '/workflows', { name: 'A year of counting', eventName: 'membership.renewed' });
  const { id: long } = await made.json();
  const { steps } = await (await call('GET', `/workflows/${long}`)).json();
  const trigger = steps[0].id;
  const names = Array.from({ length: manySteps - 1 }, (_, n) => `Day ${n + 1}`);
  await call('PUT', `/workflows/${long}/graph`, {
    steps: [
      {
        id: trigger,
        type: 'TRIGGER',
        name: 'Trigger',
        position: { x: 100, y: 0 },
        config: { eventName: 'membership.renewed' },
      },
      ...names.map((name, n) => ({
        ...{ id: name, type: 'DELAY', name, position: { x: 100, y: (n + 1) * 190 } },
        config: { amount: 1, unit: 'days' },
      })),
    ],
    transitions: names.map((name, n) => ({ fromStepId: names[n - 1] ?? trigger, toStepId: name })),
  });
  const session = cookieOf((await call('POST', '/auth/login', login)).headers);
  if (session === null) throw new Error('The owner of the first project could not sign in');
  return { viewer: { url, session }, pages: pagesOf(seeded, long) };
}

/** The addresses that are measured, by what the table calls them. */
function pagesOf(seeded: Seeded, long: string): Map<string, string> {
  const pages = projectPlaces.map((place) => {
    const name = place.path.replace('/app/$project', '').replaceAll('$', ':');
    return [name || '/', placeOf(place, seeded)] as const;
  });
  return new Map([...pages, [`/workflows/:workflow, ${manySteps} steps`, `/app/${seeded.project}/workflows/${long}`]]);
}

/** Opens a page in a new window without a cache until it shows all it has. */
function costOf(viewer: Viewer, path: string): Promise<Cost> {
  let bytes = 0;
  return atPage(
    viewer,
    path,
    watching,
    async (page) => ({ ...(await page.evaluate<Omit<Cost, 'bytes'>>(`(${counted})()`)), bytes }),
    async (page: Page) => {
      const protocol = await page.context().newCDPSession(page);
      await protocol.send('Network.enable');
      protocol.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await protocol.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    },
  );
}

const watching = `globalThis.entries = [];
  for (const type of ['longtask', 'paint', 'largest-contentful-paint'])
    new PerformanceObserver((list) => entries.push(...list.getEntries())).observe({ type, buffered: true });`;

const counted = `() => {
  const last = (of) => entries.findLast(of)?.startTime ?? NaN;
  const firstPaint = last(({ name }) => name === 'first-contentful-paint');
  const tasks = entries.filter(({ entryType, startTime }) => entryType === 'longtask' && startTime >= firstPaint);
  return {
    firstPaint,
    largestPaint: last(({ entryType }) => entryType === 'largest-contentful-paint'),
    blocking: tasks.reduce((sum, { duration }) => sum + Math.max(0, duration - 50), 0),
  };
}`;

function report(names: readonly string[], before: Map<string, Cost[]>, after: Map<string, Cost[]>): void {
  const median = (costs: readonly Cost[], of: keyof Cost) => {
    const sorted = costs.map((cost) => cost[of]).sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  const columns = [
    ['firstPaint', 'First paint, ms', 1],
    ['largestPaint', 'Largest paint, ms', 1],
    ['blocking', 'Blocking, ms', 1],
    ['bytes', 'Loaded, kB', 1_000],
  ] as const;
  console.log(`| Page | ${columns.map(([, title]) => `${title} | ratio`).join(' | ')} |`);
  console.log(`|---|${'---|'.repeat(2 * columns.length)}`);
  const worse: string[] = [];
  for (const name of names) {
    const cells = columns.flatMap(([of, title, unit]) => {
      const [was, is] = [median(before.get(name) ?? [], of) / unit, median(after.get(name) ?? [], of) / unit];
      if (of !== 'largestPaint' && is > was * 1.1 && is - was > (of === 'bytes' ? 5 : 20))
        worse.push(`${name}: ${title}`);
      return [`${was.toFixed(0)} → ${is.toFixed(0)}`, was === 0 ? '–' : (is / was).toFixed(2)];
    });
    console.log(`| \`${name}\` | ${cells.join(' | ')} |`);
  }
  console.log(worse.length === 0 ? ' no page is worse by a tenth' : ` worse by more than a tenth: ${worse.join('; ')}`);
}

if (import.meta.main) {
  const { beside } = parseArgs({ options: { beside: { type: 'string' } }, strict: false }).values;
  if (typeof beside === 'string') await benchPages(beside);
  else console.log(' measures nothing without an earlier commit: npm run bench -- pages --beside <commit>');
}
